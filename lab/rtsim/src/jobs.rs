//! What tasks have recorded of their jobs.

use crate::set::{Activation, Task, TaskSet};
use crate::system::begin;
use abi::rtsim::JOB_WORDS;

/// A job that was complete before the end of the run. Instants are in nanoseconds since the tasks'
/// beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// When it was released.
    pub release: u64,
    /// When the task began it.
    pub began: u64,
    /// When it was complete.
    pub complete: u64,
}

impl Done {
    /// From its release to its end.
    pub fn response(self) -> u64 {
        self.complete - self.release
    }
}

/// The jobs of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jobs {
    /// Those that there was room for.
    pub done: Vec<Done>,
    /// How many were complete.
    pub count: u64,
    /// Whether they were released by the task set, so that they have response times; those of a
    /// task that runs again and again are not.
    pub released: bool,
}

impl Jobs {
    /// What a task has left in its memory.
    pub fn read(set: &TaskSet, task: &Task, bytes: &[u8]) -> Jobs {
        let (words, _) = bytes.as_chunks::<8>();
        let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
        let count = words.next().unwrap_or(0);
        let all: Vec<u64> = words.collect();
        let (records, _) = all.as_chunks::<JOB_WORDS>();
        let since = |instant: u64| instant.saturating_sub(begin(set));
        let job = |[release, began, complete]: &[u64; JOB_WORDS]| Done {
            release: since(*release),
            began: since(*began),
            complete: since(*complete),
        };
        let kept = usize::try_from(count).unwrap_or(usize::MAX);
        let done = records.iter().take(kept).map(job).collect();
        Jobs { done, count, released: task.activation != Activation::Forever }
    }

    /// The response times, in the order of the jobs.
    pub fn responses(&self) -> Vec<u64> {
        let jobs = self.done.iter().filter(|_| self.released);
        jobs.map(|job| job.response()).collect()
    }
}
