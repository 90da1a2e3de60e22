//! The calling thread, as mutexes know it.

use core::marker::PhantomData;
use rt::futex::{self, Identity, Scope};

/// The ids of the calling thread. Asking the kernel for them is a system call; a thread does so
/// once, and passes them to what it locks.
#[derive(Clone, Copy, Debug)]
pub struct ThreadId {
    ids: Identity,
    /// It is the calling thread's alone.
    local: PhantomData<*const ()>,
}

impl ThreadId {
    /// That of the calling thread.
    pub fn current() -> ThreadId {
        ThreadId { ids: futex::identity(), local: PhantomData }
    }

    /// The id in a scope.
    #[inline(always)]
    pub fn of(self, scope: Scope) -> u32 {
        match scope {
            Scope::Domain => self.ids.own,
            Scope::Shared => self.ids.shared,
        }
    }

    /// The number of its domain, in the high half of a word, never 0.
    #[inline(always)]
    pub(crate) fn domain(self) -> u64 {
        u64::from(self.ids.domain | 1) << 32
    }
}
