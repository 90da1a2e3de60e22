//! Which kernels behave alike, and where exactly they differ: random programs run on several
//! kernels in lockstep, and what can be observed of them is compared after every action.
//!
//! What can be observed is everything in [`facts`](crate::support::state::facts); between kernels
//! whose ready queues differ, what [`outcome`](crate::support::state::outcome) leaves of it.
//!
//! | kernels | priorities are unique | some are equal |
//! |---|---|---|
//! | `fastpath`, `slowpath`, `direct-lazy`, `direct-eager` | alike | other equals may run |
//! | `strict-lazy`, `strict-eager` | alike | other equals may run |
//! | a direct one, a strict one | differ at inversions | - |
//! | `ipc-ordered`, `ipc-heap` | alike in everything | alike in everything |
//! | `ipc-scan`, one of these two | alike in everything | the same, but see below |
//! | `direct-lazy`, one of these three | differ at senders out of order | - |
//!
//! An inversion: a direct switch keeps a higher thread waiting that can run. Senders out of order:
//! a receive finds two or more in its queue, and the first is not the highest.
//!
//! Why:
//!
//! - Lazy and eager queueing, and the peculiarities of the slow path (S0-17, S0-C10), change what
//!   lies in the ready queue, never which threads can run. Direct switching does not look there,
//!   and a look-up finds the highest thread that can run. Among equals it finds the one that was
//!   queued first, and when a thread was queued depends on the kernel.
//! - Every thread that can run and does not is queued, and whoever queues a thread sees to it that
//!   the timer asks for the next tick. Kernels may ask at different times, but a tick that only one
//!   of them gets finds no higher thread: with unique priorities it changes nothing.
//! - `cpu.highest` is never below a thread that is queued, in either strict kernel. How far above
//!   it is decides only whether a look-up is saved.
//! - A strict kernel runs the highest thread that can run, except after a `Yield` to a named
//!   thread, up to the next decision (S0-29). A direct one may run a lower thread after a message,
//!   up to the next full decision: a tick, a `Yield`, a change outside the message path (S0-09).
//!   Nothing else depends on who runs, so that it then agrees with the strict one again; but one
//!   thing: a deadline below the running thread is deferred. While a direct kernel runs a lower
//!   thread it serves what the strict one defers; and behind a direct switch past a deferred
//!   deadline that one waits for the tick, where the strict kernel serves it at once. The two go
//!   different ways then.
//! - A deadline that was deferred is served on the way out of the call that makes room for it,
//!   behind what the call does. A queued sender may leave so behind the receive of a message.
//! - Senders of equal priority are served in the order of arrival by all send queues. A queued
//!   sender whose priority changes joins a sorted queue anew, behind its equals; in a queue that
//!   is scanned it keeps its place.
//! - By a server (`Serve`) messages change priorities, of queued senders too: but for kernels that
//!   differ in the queueing of ready threads alone, no thread becomes one.
//! - How long a look-up or a chain of messages is depends on the queues, and an interrupt at a
//!   preemption point with it. Kernels whose queues differ are compared without such interrupts.

mod alike;
pub mod queued;
pub mod runner;
mod senders;
mod switching;
