//! Ids of threads in futex words: 31 bits, never 0.
//!
//! An id is the thread's place in its pool and the low bits of its incarnation, put through a
//! permutation with the key of a scope (two secrets around a fixed permutation, after Even and
//! Mansour). Each domain has a key, and shared memory has one: what a domain sees of its own ids
//! says neither how many threads others have made nor when. This hides, it does not protect: an id
//! is believed only after what it names was checked.

use crate::access::{Life, Ref};
use crate::hidden::{Key, MASK};
use crate::kernel::Kernel;
use crate::object::thread::flag;
use crate::object::{Domain, Thread};
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

/// Bits of the index in a pool of so many threads, none of whose indices has them all set.
pub const fn index_bits(size: u32) -> u32 {
    let bits = u32::BITS - size.leading_zeros();
    if bits < WAITERS.trailing_zeros() { bits } else { WAITERS.trailing_zeros() }
}

/// A thread's number before it is hidden.
fn number<P: Port>(kernel: &Kernel<P>, thread: Ref<Thread<P>>) -> u32 {
    number_in_life(kernel, thread, thread.incarnation())
}

/// That in one of its slot's lives.
fn number_in_life<P: Port>(kernel: &Kernel<P>, thread: Ref<Thread<P>>, life: u64) -> u32 {
    let lives = (life as u32).wrapping_shl(kernel.index_bits);
    (lives | thread.index()) & MASK
}

/// The id of a thread in a scope of `domain`.
pub fn id<P: Port>(
    kernel: &'static Kernel<P>,
    scope: Scope,
    domain: Ref<Domain<P>>,
    thread: Ref<Thread<P>>,
) -> u32 {
    id_by(kernel, key_of(kernel, scope, domain), thread)
}

/// The id of a thread, made with a key.
#[inline(always)]
pub(super) fn id_by<P: Port>(kernel: &Kernel<P>, key: Key, thread: Ref<Thread<P>>) -> u32 {
    match key.hide(number(kernel, thread)) {
        // 0 is no id: it changes places with that of no thread.
        0 => key.hide(NONE),
        id => id,
    }
}

/// The thread that has this id in a scope of `domain`, if there is one and it is in that.
pub(in crate::manage) fn thread<P: Port>(
    kernel: &'static Kernel<P>,
    scope: Scope,
    domain: Ref<Domain<P>>,
    id: u32,
) -> Option<Ref<Thread<P>>> {
    let thread = named(kernel, scope, domain, id)?;
    let inside = scope == Scope::Shared || thread.domain.get() == domain;
    inside.then_some(thread)
}

/// The slot that an id, made with a key, names, and the number in the id.
#[inline(always)]
pub(super) fn shown<P: Port>(
    kernel: &'static Kernel<P>,
    key: Key,
    id: u32,
) -> Option<(Ref<Thread<P>>, u32)> {
    let shown = match key.show(id & MASK) {
        NONE => key.show(0),
        number => number,
    };
    let index = shown & ((1 << kernel.index_bits) - 1);
    Some((kernel.threads.get(index)?, shown))
}

/// The thread that has this id, wherever it is, unless it has ended.
#[inline(never)]
pub(in crate::manage) fn named<P: Port>(
    kernel: &'static Kernel<P>,
    scope: Scope,
    domain: Ref<Domain<P>>,
    id: u32,
) -> Option<Ref<Thread<P>>> {
    let (thread, shown) = shown(kernel, key_of(kernel, scope, domain), id)?;
    let lives = thread.life() == Life::Live && !thread.has(flag::ENDED);
    let same = lives && number(kernel, thread) == shown;
    (same && id & WAITERS == 0).then_some(thread)
}

/// The thread that had this id in the scope of `domain` until its end began, which is not over.
#[cold]
#[inline(never)]
pub(in crate::manage) fn ending<P: Port>(
    kernel: &'static Kernel<P>,
    domain: Ref<Domain<P>>,
    id: u32,
) -> Option<Ref<Thread<P>>> {
    let (thread, shown) = shown(kernel, key_of(kernel, Scope::Domain, domain), id)?;
    // The incarnation is the next one since then.
    let before = thread.incarnation().wrapping_sub(1);
    let same = thread.life() == Life::Dying && number_in_life(kernel, thread, before) == shown;
    same.then_some(thread)
}
