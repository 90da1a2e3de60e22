//! Heartbeats. A beat sets the child's bit of a notification and wakes no thread; the supervisor
//! looks at the bits when a child's time is up.

use abi::supervision::MOST_CHILDREN;
use rt::{Env, Slot, Wait, ipc, system};

use crate::policy::{Set, each};

/// The supervisor's end of the notification.
const BEATS: &str = "supervisor-beats";
/// No look is due.
const NEVER: u64 = u64::MAX;

/// When children have to have signalled.
pub struct Beats {
    notification: Slot,
    /// Nanoseconds within which a child has to signal; 0: it need not.
    lengths: [u64; MOST_CHILDREN],
    /// The instant of the next look at a child.
    due: [u64; MOST_CHILDREN],
    /// Those that have signalled since the last look at them.
    beaten: Set,
}

impl Beats {
    /// No child is there yet.
    pub fn new(env: &Env, children: impl Iterator<Item = Option<u64>>) -> Beats {
        let mut lengths = [0; MOST_CHILDREN];
        for (place, length) in lengths.iter_mut().zip(children) {
            *place = length.unwrap_or(0);
        }
        Beats { notification: env.cap(BEATS), lengths, due: [NEVER; MOST_CHILDREN], beaten: 0 }
    }

    /// A child begins: it has its whole time.
    pub fn begin(&mut self, child: usize) {
        if self.lengths[child] > 0 {
            self.gather();
            self.beaten &= !(1 << child);
            self.due[child] = system::clock().saturating_add(self.lengths[child]);
        }
    }

    /// A child is gone, or need not signal any more.
    pub fn stop(&mut self, child: usize) {
        self.due[child] = NEVER;
    }

    /// The supervisor has worked since an instant, and kept the children from running: they have so
    /// much longer.
    pub fn prolong(&mut self, since: u64) {
        let worked = system::clock().saturating_sub(since);
        for due in self.due.iter_mut().filter(|due| **due != NEVER) {
            *due = due.saturating_add(worked);
        }
    }

    /// The instant of the next look, if there is one.
    pub fn next(&self) -> Option<u64> {
        self.due.iter().copied().min().filter(|due| *due != NEVER)
    }

    /// A child whose time is up and that has not signalled, if there is one: the first of them,
    /// until it is gone or begins anew. Those that have signalled have their time again.
    pub fn silent(&mut self) -> Option<usize> {
        let next = self.next()?;
        let now = system::clock();
        if now < next {
            return None;
        }
        self.gather();
        let due = (0..MOST_CHILDREN).filter(|child| self.due[*child] <= now);
        let due: Set = due.fold(0, |set, child| set | 1 << child);
        for child in each(due & self.beaten) {
            self.due[child] = now.saturating_add(self.lengths[child]);
        }
        let silent = due & !self.beaten;
        self.beaten &= !due;
        each(silent).next()
    }

    /// Takes the bits that were signalled.
    fn gather(&mut self) {
        // With no time to wait it fails if there are none.
        if let Ok(bits) = ipc::receive(self.notification, Wait::ZERO) {
            self.beaten |= bits.badge as Set;
        }
    }
}
