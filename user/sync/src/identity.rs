//! The calling thread, as mutexes know it.

use core::marker::PhantomData;
use rt::futex::{self, Identity, Scope};

/// The ids of the calling thread. Asking the kernel for them is a system call; a thread does so
/// once at home, and once on each visit to another domain, and passes them to what it locks there.
#[derive(Clone, Copy, Debug)]
pub struct ThreadId {
    /// That in its domain, and in the high half the number of the domain: two values in all, which
    /// travel in registers.
    own: u64,
    shared: u32,
    /// It is the calling thread's alone.
    local: PhantomData<*const ()>,
}

impl ThreadId {
    /// That of the calling thread.
    pub fn current() -> ThreadId {
        let Identity { own, shared, domain } = futex::identity();
        // A domain's number is never 0.
        let own = u64::from(domain | 1) << 32 | u64::from(own);
        ThreadId { own, shared, local: PhantomData }
    }

    /// The id in a scope.
    #[inline(always)]
    pub fn of(self, scope: Scope) -> u32 {
        match scope {
            Scope::Domain => self.own as u32,
            Scope::Shared => self.shared,
        }
    }

    /// The number of its domain, in the high half of a word, never 0.
    #[inline(always)]
    pub(crate) fn domain(self) -> u64 {
        self.own & !0 << 32
    }
}
