//! Causes of latency.

use crate::Entry;
use std::fmt;

/// A thread and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The thread's index.
    pub thread: u16,
    /// Its name, `client/1`.
    pub name: String,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// What the CPU did instead of running the thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The kernel had interrupts off for something else.
    InterruptsOff {
        /// What the kernel had been entered for.
        entry: Entry,
        /// The thread that ran before.
        thread: Named,
    },
    /// A look-up dropped blocked threads from the ready queue (S0-10).
    LazyDequeue {
        /// How many.
        threads: u32,
        /// What the kernel had been entered for.
        entry: Entry,
        /// The thread that ran before.
        thread: Named,
    },
    /// Receive halves ran one after another (S0-41).
    Chain {
        /// How many.
        transfers: u32,
        /// What the kernel had been entered for.
        entry: Entry,
        /// The thread that ran before.
        thread: Named,
    },
    /// A system call did long work between its preemption points.
    LongWork {
        /// The system call.
        entry: Entry,
        /// The thread that issued it.
        thread: Named,
    },
    /// A higher thread had the CPU, or the kernel worked for it.
    HigherThread {
        /// The thread.
        thread: Named,
        /// Its priority.
        priority: u16,
    },
    /// The thread itself waited for what others own or have to do.
    Waits {
        /// What, and the chain behind it: `mutex 0x80 held by robot/logger`.
        what: String,
    },
    /// A thread ran with the priority of a higher one that waits for it.
    Inherits {
        /// The thread.
        thread: Named,
        /// The one that waits.
        from: Named,
        /// Its priority.
        priority: u16,
        /// What that one waits for.
        what: String,
    },
    /// A thread that is not higher, or not known to be, had the CPU although this one was ready.
    OtherThread {
        /// The thread.
        thread: Named,
        /// Its priority, if known.
        priority: Option<u16>,
    },
    /// A thread had the CPU on a reservation, or the tree chose it before one.
    Reserved {
        /// The thread.
        thread: Named,
        /// Where it runs: `critical/flight (EDF)`.
        on: String,
        /// What decided: `due before vision`.
        because: String,
        /// Whether it is always above the thread that was late.
        higher: bool,
    },
    /// The CPU had nothing that it could run, although the thread was ready.
    Idle {
        /// Why, if that is known: `since flight is out of budget`.
        because: Option<String>,
    },
    /// The thread itself had not yet begun to wait for its timer.
    Itself,
    /// The interrupt had not arrived yet; a thread ran, and interrupts were on.
    Arrival {
        /// The thread.
        thread: Named,
    },
    /// The kernel served the timer and went over to the thread.
    Path,
    /// The trace does not say.
    Unseen,
}

impl Cause {
    /// Whether another kernel, or other programs, could do without it.
    pub fn is_avoidable(&self) -> bool {
        !matches!(self, Cause::Arrival { .. } | Cause::Path | Cause::Unseen)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::InterruptsOff { entry, thread } => {
                write!(f, "interrupts off in {entry} of {thread}")
            }
            Cause::LazyDequeue { threads, entry, thread } => {
                let plural = if *threads == 1 { "" } else { "s" };
                write!(f, "lazy dequeue of {threads} thread{plural} in {entry} of {thread}")
            }
            Cause::Chain { transfers, entry, thread } => {
                let plural = if *transfers == 1 { "" } else { "s" };
                write!(f, "chain of {transfers} transfer{plural} in {entry} of {thread}")
            }
            Cause::LongWork { entry, thread } => write!(f, "long work of {entry} of {thread}"),
            Cause::HigherThread { thread, priority } => {
                write!(f, "higher thread {thread} ran, of priority {priority}")
            }
            Cause::Waits { what } => write!(f, "waited for {what}"),
            Cause::Inherits { thread, from, priority, what } => write!(
                f,
                "{thread} ran with the priority of {from}, {priority}, which waits for its {what}"
            ),
            Cause::OtherThread { thread, priority: Some(priority) } => {
                write!(f, "{thread} ran, of priority {priority}, which is not known to be higher")
            }
            Cause::OtherThread { thread, priority: None } => {
                write!(f, "{thread} ran, of unknown priority")
            }
            Cause::Reserved { thread, on, because, .. } => {
                write!(f, "{thread} ran on {on}, {because}")
            }
            Cause::Idle { because: Some(because) } => write!(f, "the CPU was idle, {because}"),
            Cause::Idle { because: None } => {
                f.write_str("the CPU was idle, which the trace does not explain")
            }
            Cause::Itself => f.write_str("the thread itself was not waiting yet"),
            Cause::Arrival { thread } => {
                write!(f, "{thread} ran until the timer interrupt arrived")
            }
            Cause::Path => f.write_str("kernel: timer interrupt and switch"),
            Cause::Unseen => f.write_str("not in the trace"),
        }
    }
}
