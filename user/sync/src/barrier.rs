//! Barriers.

use crate::{Condvar, Mutex, Scope, ThreadId};
use rt::{Error, Wait, Words};

/// A point that a number of threads passes together, as often as they like.
#[derive(Clone, Copy)]
pub struct Barrier {
    mutex: Mutex,
    passed: Condvar,
    threads: u64,
}

impl Barrier {
    /// Words that it takes.
    pub const WORDS: usize = 5;
    /// How many threads have come, and how often all have passed, behind the mutex.
    const CAME: usize = 2;
    const ROUND: usize = 3;

    /// The barrier for so many threads in the first of these words, which are 0 at first.
    ///
    /// # Panics
    ///
    /// If there are not [`Barrier::WORDS`], or no threads.
    pub fn new(words: Words, threads: u64, scope: Scope) -> Barrier {
        assert!(threads > 0, "a barrier for no threads");
        let words = words.part(0, Barrier::WORDS);
        let (mutex, passed) = (Mutex::new(words, scope), Condvar::new(words, 1, scope));
        Barrier { mutex, passed, threads }
    }

    /// Waits until all threads have come. True: this one was the last.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] (the thread has not come then) and those of [`Mutex::lock`].
    pub fn wait(&self, me: ThreadId, wait: Wait) -> Result<bool, Error> {
        let mut guard = self.mutex.lock(me)?;
        let (came, round) = (guard.get(Barrier::CAME) + 1, guard.get(Barrier::ROUND));
        if came == self.threads {
            guard.set(Barrier::CAME, 0);
            guard.set(Barrier::ROUND, round.wrapping_add(1));
            self.passed.notify_all(&guard)?;
            return guard.unlock().map(|()| true);
        }
        guard.set(Barrier::CAME, came);
        let here = |words: &Words| words.get(Barrier::ROUND) == round;
        let ended = self.passed.wait_while(&mut guard, wait, here);
        if ended.is_err() && here(&guard) {
            guard.set(Barrier::CAME, guard.get(Barrier::CAME) - 1);
            return ended.map(|()| false);
        }
        guard.unlock().map(|()| false)
    }
}
