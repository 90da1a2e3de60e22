//! What the kernel costs, added to what is analysed.
//!
//! | cost | added to |
//! |---|---|
//! | release, two context switches | each job's execution time, and each activation of a server |
//! | timer interrupt | each release, and twice each activation of a server: before all else |
//! | context switch, timer interrupt | cut from the beginning of each window |
//!
//! Two switches a job: to it, when it preempts, and back, when it is complete. A task's own
//! servers do not pay for its interrupts twice: these are taken from whatever runs, so every class
//! of the CPU is charged with all of them, which is safe and above what occurs.

use crate::task::{Stream, Task};
use crate::{Time, Window};

/// Costs of the kernel's operations, the longest, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overheads {
    /// To make a job ready.
    pub release: Time,
    /// To switch from one thread to another, with what caches lose.
    pub context_switch: Time,
    /// A timer interrupt, from entry to exit.
    pub timer_interrupt: Time,
}

impl Overheads {
    /// What each job costs beside its execution time.
    pub fn per_job(&self) -> Time {
        self.release.saturating_add(self.context_switch.saturating_mul(2))
    }

    /// What a timer's interrupt takes at most from what it interrupts, with the switch back.
    pub fn per_interrupt(&self) -> Time {
        self.timer_interrupt.max(self.release.saturating_add(self.context_switch))
    }

    pub(crate) fn inflate(&self, task: &Task) -> Task {
        let execution = match task.execution {
            0 => 0,
            execution => execution.saturating_add(self.per_job()),
        };
        let limit = task.limit.saturating_add(self.per_job());
        Task { execution, limit, ..task.clone() }
    }

    /// The rest of a window behind the switch to its partition, if there is one.
    pub(crate) fn shorten(&self, window: &Window) -> Option<Window> {
        let lost = self.context_switch.saturating_add(self.timer_interrupt);
        let duration = window.duration.checked_sub(lost).filter(|duration| *duration > 0)?;
        Some(Window { offset: window.offset.checked_add(lost)?, duration })
    }

    /// The timer interrupts that come with a period.
    pub(crate) fn interrupts(&self, number: Time, period: Time, jitter: Time) -> Option<Stream> {
        let cost = self.timer_interrupt.saturating_mul(number);
        (cost > 0).then_some(Stream { cost, period, jitter })
    }
}
