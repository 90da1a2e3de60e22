//! Scheduling: one interface of events, through which the core tells a kernel's scheduler what has
//! happened (S0-18), and what all schedulers build on.
//!
//! | file | what |
//! |---|---|
//! | `scheduler.rs` | the interface |
//! | `switched.rs` | schedulers made of a rule of switching and a way to keep the ready queue |
//! | `slow_path.rs` | the scheduler of the thesis's slow path |
//! | `reserved.rs` | the scheduler of the scheduling tree |
//! | `decision.rs` | the full decision: the highest ready thread |
//! | `tick.rs` | the tick, which charges time |
//! | `ready.rs` | changes of ready queues, of this CPU and of others |
//!
//! While the kernel runs, `cpu.current` is the thread that entered and `cpu.next` the *candidate*:
//! the thread that runs next unless an event changes that. The switch happens on the way out. What
//! decides is pure code in the crate `policies`.

mod decision;
mod ready;
mod reserved;
mod scheduler;
mod slow_path;
mod switched;
mod tick;

pub use policies::switching::{Direct, Strict};
pub use reserved::Reserved;
pub use scheduler::{Events, Scheduler};
pub use slow_path::SlowPath;
pub use switched::{Eager, Keeping, Lazy, Switched};
