//! The two words of a mutex or condition, in user memory: found through the page tables of the
//! domain that names them, and touched by plain loads and stores of 32 bits.

use crate::access::Ref;
use crate::manage::Manager;
use crate::object::Domain;
use crate::object::waiter::Place;
use crate::port::{Port, Space};
use abi::Error;
use abi::futex::Scope;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Relaxed, Release};

/// Bytes of a pair of words, and what its address is a multiple of: no pair straddles a page.
const PAIR: u64 = 8;

/// A pair of words that is mapped and that its user may write.
#[derive(Clone, Copy)]
pub(in crate::manage) struct Words {
    first: &'static AtomicU32,
    second: &'static AtomicU32,
}

impl Words {
    /// `S` of a mutex, `C` of a condition.
    pub fn first(self) -> u32 {
        self.first.load(Relaxed)
    }

    /// `Q`: the id of the first waiter, or 0.
    pub fn queue(self) -> u32 {
        self.second.load(Relaxed)
    }

    /// Sets `S`, whose owner stays.
    pub fn set_first(self, value: u32) {
        self.first.store(value, Relaxed);
    }

    /// Sets `S` to another owner or to none. A program that sees this sees all that the last owner
    /// has done, and the queue as it is.
    pub fn release(self, value: u32) {
        self.first.store(value, Release);
    }

    /// Sets `Q`.
    pub fn set_queue(self, id: u32) {
        self.second.store(id, Relaxed);
    }
}

impl<P: Port> Manager<'_, P> {
    /// Finds the pair at an address of a domain.
    ///
    /// # Errors
    ///
    /// [`Error::BadAddress`]: it is not aligned, not in user space, or the domain may not write it.
    #[inline(always)]
    pub(in crate::manage) fn find(
        &self,
        domain: Ref<Domain<P>>,
        scope: Scope,
        at: u64,
    ) -> Result<(Place, Words), Error> {
        let physical = self.physical(domain, at).ok_or(Error::BadAddress)?;
        Ok(self.pair(scope, at, physical))
    }

    /// The pair at an address, which is at this physical one.
    #[inline(always)]
    pub(super) fn pair(&self, scope: Scope, at: u64, physical: u64) -> (Place, Words) {
        let key = if scope == Scope::Shared { physical } else { at };
        let port = self.kernel.port;
        let words = Words { first: port.word(physical), second: port.word(physical + PAIR / 2) };
        (Place { at, key }, words)
    }

    /// Finds the pair at a place where a thread of this domain has found it before. `None`: it is
    /// not there any more.
    pub(super) fn find_again(
        &self,
        domain: Ref<Domain<P>>,
        scope: Scope,
        place: Place,
    ) -> Option<Words> {
        let (now, words) = self.find(domain, scope, place.at).ok()?;
        (now == place).then_some(words)
    }

    /// The physical address of a pair, where that of another one of the same domain is known: one
    /// page is looked up once.
    #[inline(always)]
    pub(super) fn physical_beside(
        &self,
        domain: Ref<Domain<P>>,
        at: u64,
        (other, physical): (u64, u64),
    ) -> Option<u64> {
        let apart = at ^ other;
        if apart < P::PAGE && apart.is_multiple_of(PAIR) {
            return Some(physical ^ apart);
        }
        self.physical(domain, at)
    }

    /// The physical address of a pair. Out of line, and in registers.
    #[inline(never)]
    pub(super) fn physical(&self, domain: Ref<Domain<P>>, at: u64) -> Option<u64> {
        if !at.is_multiple_of(PAIR) || at >= P::USER_TOP {
            return None;
        }
        let within = at % P::PAGE;
        match self.all.open(domain).space.writable_again(at - within) {
            Some(frame) => Some(frame + within),
            None => self.physical_anew(domain, at),
        }
    }

    #[cold]
    #[inline(never)]
    fn physical_anew(&self, domain: Ref<Domain<P>>, at: u64) -> Option<u64> {
        let within = at % P::PAGE;
        let frame = self.all.open(domain).space.writable(self.kernel.port, at - within)?;
        Some(frame + within)
    }
}
