//! Ids in futex words: 31 bits, never 0. An id names a thread at home, or one of its visits to
//! domains that it enters by trains: what a thread locks on a visit belongs
//! to that visit, and to none when that is over.
//!
//! An id is a place and the low bits of an incarnation. Threads have their places in the pool, and
//! behind all of them visits have those of their [`Activation`]s, the incarnation of which each
//! visit changes. Place and incarnation are put through a permutation with the key of a scope (two
//! secrets around a fixed permutation, after Even and Mansour). Each domain has a key, and shared
//! memory has one: what a domain sees of its own ids says neither how many threads others have made
//! nor when. This hides, it does not protect: an id is believed only after what it names was
//! checked.

use super::Caller;
use crate::access::{Exclusive, Life, Ref};
use crate::hidden::{Key, MASK};
use crate::kernel::Kernel;
use crate::manage::Manager;
use crate::object::inherit::Named;
use crate::object::thread::flag;
use crate::object::{Activation, Domain, Pooled, Thread};
use crate::port::Port;
use abi::futex::{Scope, WAITERS};

/// The key of shared memory.
pub fn shared_key(secret: u64) -> Key {
    Key::new(secret, 0)
}

/// That of a domain, in this life of its slot.
pub fn key_of_domain<P: Port>(secret: u64, domain: Ref<Domain<P>>) -> Key {
    Key::new(secret, domain.incarnation() << 32 | (u64::from(domain.index()) + 1))
}

/// That of a scope in which a domain is. Each domain keeps its own: every call needs it.
#[inline(always)]
pub(super) fn key_of<P: Port>(kernel: &Kernel<P>, scope: Scope, domain: Ref<Domain<P>>) -> Key {
    match scope {
        Scope::Shared => kernel.shared_key,
        Scope::Domain => domain.key.get(),
    }
}

/// The number that stands for no thread: all bits are set, and no pool has so many.
const NONE: u32 = MASK;

/// Bits of a place, of so many threads and stacks; none of these places has them all set.
pub const fn place_bits(size: u32) -> u32 {
    let bits = u32::BITS - size.leading_zeros();
    if bits < WAITERS.trailing_zeros() { bits } else { WAITERS.trailing_zeros() }
}

/// The number of a place in this incarnation, which comes again after 2^(31 - place bits) others.
fn number<P: Port>(kernel: &Kernel<P>, place: u32, incarnation: u64) -> u32 {
    ((incarnation as u32).wrapping_shl(kernel.place_bits) | place) & MASK
}

/// The number of a thread at home, before it is hidden.
pub fn at_home<P: Port>(kernel: &Kernel<P>, thread: Ref<Thread<P>>) -> u32 {
    number(kernel, thread.index(), thread.incarnation())
}

/// That of a thread where it is now.
#[inline(never)]
pub fn where_it_is<P: Port>(
    kernel: &Kernel<P>,
    all: &Exclusive<'_>,
    thread: Ref<Thread<P>>,
) -> u32 {
    match all.open(thread).inside.get() {
        Some(visit) if P::TRAINS => {
            number(kernel, kernel.threads.size() + visit.index(), visit.incarnation())
        }
        _ => at_home(kernel, thread),
    }
}

/// [`id`] for calls that are seldom made: all of them share its code.
#[inline(never)]
pub fn id_told<P: Port>(
    kernel: &Kernel<P>,
    scope: Scope,
    domain: Ref<Domain<P>>,
    number: u32,
) -> u32 {
    id(kernel, scope, domain, number)
}

/// The id with this number in a scope of `domain`.
pub fn id<P: Port>(kernel: &Kernel<P>, scope: Scope, domain: Ref<Domain<P>>, number: u32) -> u32 {
    hidden(key_of(kernel, scope, domain), number)
}

/// The id with this number, made with a key.
#[inline(always)]
pub(super) fn hidden(key: Key, number: u32) -> u32 {
    match key.hide(number) {
        // 0 is no id: it changes places with that of no thread.
        0 => key.hide(NONE),
        id => id,
    }
}

impl<P: Port> Manager<'_, P> {
    /// The place in an id, made with a key, and the number in the id.
    #[inline(always)]
    fn shown(&self, key: Key, id: u32) -> (u32, u32) {
        let shown = match key.show(id & MASK) {
            NONE => key.show(0),
            number => number,
        };
        (shown & ((1 << self.kernel.place_bits) - 1), shown)
    }

    /// The visit with this place, that of an activation.
    fn visit_at(&self, place: u32) -> Option<Ref<Activation<P>>> {
        self.kernel.activations.get(place.wrapping_sub(self.kernel.threads.size()))
    }

    /// The thread on the visit with this place now.
    #[cold]
    #[inline(never)]
    fn visitor(&self, place: u32) -> Option<Ref<Thread<P>>> {
        self.all.open(self.visit_at(place)?).thread.get()
    }

    #[inline(always)]
    fn thread_at(&self, place: u32) -> Option<Ref<Thread<P>>> {
        self.kernel.threads.get(place).or_else(|| self.visitor(place))
    }

    /// The thread that has this id, made with a key, if it waits.
    #[inline(always)]
    pub(in crate::manage) fn waiter(&self, key: Key, id: u32) -> Option<Ref<Thread<P>>> {
        let at = self.thread_at(self.shown(key, id).0)?;
        // Who waits has had its id since it began.
        (self.all.open(at).futex.id.get() == id && at.life() == Life::Live).then_some(at)
    }

    /// What has this id in the caller's scope: a thread there, wherever it is meanwhile, unless it
    /// has ended; or a visit there, unless the thread is taken out of it.
    #[inline(never)]
    pub(in crate::manage) fn named(&self, caller: Caller<P>, id: u32) -> Option<Named<P>> {
        let (place, shown) = self.shown(caller.key, id);
        let (thread, visit) = (self.thread_at(place)?, self.visit_at(place));
        let incarnation = visit.map_or(thread.incarnation(), |visit| visit.incarnation());
        let same = number(self.kernel, place, incarnation) == shown && id != 0 && id & WAITERS == 0;
        // What is made up is refused before it is looked where the thread is.
        if !same || thread.life() != Life::Live || thread.has(flag::ENDED) {
            return None;
        }
        let domain = match visit {
            None => Some(self.home_of(thread)),
            Some(visit) if self.stays_on(thread, visit) => self.all.open(visit).owner().get(),
            Some(_) => None,
        };
        let there = caller.scope == Scope::Shared || domain == Some(caller.domain);
        (there && domain.is_some()).then_some((thread, visit))
    }

    /// A thread where it is now.
    #[inline(always)]
    pub(in crate::manage) fn here(&self, thread: Ref<Thread<P>>) -> Named<P> {
        (thread, self.all.open(thread).inside.get())
    }

    /// Whether what had this id in the caller's domain is a thread that is ending and still runs
    /// there on another CPU. Of other domains the caller learns nothing, and waits for none.
    #[cold]
    #[inline(never)]
    pub(in crate::manage) fn runs_on_still(&self, caller: Caller<P>, id: u32) -> bool {
        let (place, shown) = self.shown(caller.key, id);
        let Some(thread) = self.thread_at(place) else { return false };
        let had = match self.visit_at(place) {
            // It is the next one since the end began.
            None => thread.incarnation().wrapping_sub(1),
            Some(visit) => visit.incarnation(),
        };
        let same = id != 0 && number(self.kernel, place, had) == shown;
        let ending = same && thread.life() == Life::Dying;
        ending && self.domain_of(thread) == caller.domain && !self.is_off_cpu(thread)
    }
}
