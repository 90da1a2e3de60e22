//! When jobs arrive, and how long they take.

use crate::Time;
use analysis::{Random, Task};
use std::fmt;

/// How a set is played.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// All jobs take all their time and come at the least distance, those of the set from `own`
    /// on, those of a rival from `rival` on.
    Critical {
        /// The first release of the set's tasks.
        own: Time,
        /// The first release of a rival's.
        rival: Time,
    },
    /// First releases anywhere in a period, one job in four later than it might be, and one in
    /// four shorter.
    Sporadic(Random),
}

/// The name of a task that is not of the set.
pub const RIVAL: &str = "rival";

/// The jobs of a task, one after the other.
#[derive(Clone, Debug)]
pub struct Jobs {
    /// C, T, D.
    pub task: Task,
    /// When the next job arrives.
    pub next: Time,
    /// What is left of the one that is open; 0 if none is.
    pub left: Time,
    /// When that is due.
    pub due: Time,
}

/// A job that was late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The task's name.
    pub task: String,
    /// When the job was due.
    pub due: Time,
    /// When it was complete; none: not when the next one arrived, or not at the end.
    pub complete: Option<Time>,
}

impl Jobs {
    /// Those of a task.
    pub fn new(task: &Task, arrivals: &mut Arrivals) -> Jobs {
        let next = match arrivals {
            Arrivals::Critical { rival, .. } if task.name == RIVAL => *rival,
            Arrivals::Critical { own, .. } => *own,
            Arrivals::Sporadic(random) => random.below(task.period),
        };
        Jobs { task: task.clone(), next, left: 0, due: 0 }
    }

    /// The next job arrives. It is a miss if the one before is open: its deadline was no later.
    pub fn arrive(&mut self, arrivals: &mut Arrivals) -> Option<Miss> {
        let Task { execution, period, deadline, .. } = self.task;
        let late = (self.left > 0).then(|| self.miss(None));
        let now = self.next;
        let (length, later) = match arrivals {
            Arrivals::Critical { .. } => (execution, 0),
            Arrivals::Sporadic(random) => {
                let short = random.below(4) == 0;
                let length = if short { 1 + random.below(execution) } else { execution };
                let later = if random.below(4) == 0 { random.below(period) } else { 0 };
                (length, later)
            }
        };
        (self.left, self.due, self.next) = (length, now + deadline, now + period + later);
        late
    }

    /// The open job is complete now: a miss if it was due before.
    pub fn complete(&self, now: Time) -> Option<Miss> {
        (now > self.due).then(|| self.miss(Some(now)))
    }

    /// After all that happens until now: a miss if the open job was due.
    pub fn end(&self, now: Time) -> Option<Miss> {
        (self.left > 0 && self.due <= now).then(|| self.miss(None))
    }

    fn miss(&self, complete: Option<Time>) -> Miss {
        Miss { task: self.task.name.clone(), due: self.due, complete }
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Miss { task, due, complete } = self;
        match complete {
            Some(complete) => write!(f, "`{task}` is due at {due} ns and complete at {complete}"),
            None => write!(f, "`{task}` is due at {due} ns and not complete when the next comes"),
        }
    }
}
