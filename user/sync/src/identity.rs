//! The calling thread, as mutexes know it.

use core::marker::PhantomData;
use rt::futex::{self, Scope};

/// The ids of the calling thread. Asking the kernel for them is a system call; a thread does so
/// once, and passes them to what it locks.
#[derive(Clone, Copy, Debug)]
pub struct ThreadId {
    domain: u32,
    shared: u32,
    /// It is the calling thread's alone.
    local: PhantomData<*const ()>,
}

impl ThreadId {
    /// That of the calling thread.
    pub fn current() -> ThreadId {
        let (domain, shared) = futex::identity();
        ThreadId { domain, shared, local: PhantomData }
    }

    /// The id in a scope.
    #[inline(always)]
    pub fn of(self, scope: Scope) -> u32 {
        match scope {
            Scope::Domain => self.domain,
            Scope::Shared => self.shared,
        }
    }
}
