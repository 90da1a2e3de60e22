//! Ids of threads in futex words: 31 bits, never 0.
//!
//! An id is the thread's place in its pool and the low bits of its incarnation, put through a
//! permutation with the key of a scope (two secrets around a fixed permutation, after Even and
//! Mansour). Each domain has a key, and shared memory has one: what a domain sees of its own ids
//! says neither how many threads others have made nor when. This hides, it does not protect: an id
//! is believed only after what it names was checked.

use crate::access::{Life, Ref};
use crate::kernel::Kernel;
use crate::object::{Domain, Thread};
use crate::port::Port;
use abi::futex::{Scope, WAITERS};

/// The bits of an id.
const MASK: u32 = !WAITERS;
/// Odd, with bits all over.
const FACTOR: u32 = 0x2c1b_3c6d;
/// [`FACTOR`]'s inverse modulo 2^32: each step of Newton's doubles the bits that are right.
const INVERSE: u32 = {
    let mut inverse = FACTOR;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub(FACTOR.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
};
const _: () = assert!(FACTOR.wrapping_mul(INVERSE) == 1);
/// More than half of an id's bits, so that shifting by them and adding is its own inverse.
const SHIFT: u32 = 16;

/// A permutation of the numbers of 31 bits.
fn permuted(number: u32) -> u32 {
    let number = number.wrapping_mul(FACTOR) & MASK;
    (number ^ number >> SHIFT).wrapping_mul(FACTOR) & MASK
}

/// Its inverse.
fn restored(number: u32) -> u32 {
    let number = number.wrapping_mul(INVERSE) & MASK;
    (number ^ number >> SHIFT).wrapping_mul(INVERSE) & MASK
}

/// The secrets of a scope. Each domain keeps its own, and the kernel those of shared memory: every
/// call needs them.
#[derive(Clone, Copy, Default)]
pub struct Key {
    before: u32,
    behind: u32,
}

impl Key {
    /// That of a scope, by a number of its own: mixed from the kernel's secret by splitmix64.
    fn new(secret: u64, scope: u64) -> Key {
        let word = secret ^ scope.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let word = word ^ word >> 31;
        Key { before: word as u32 & MASK, behind: (word >> 32) as u32 & MASK }
    }

    /// That of shared memory.
    pub fn of_shared(secret: u64) -> Key {
        Key::new(secret, 0)
    }

    /// That of a domain, in this life of its slot.
    pub fn of_domain<P: Port>(secret: u64, domain: Ref<Domain<P>>) -> Key {
        Key::new(secret, domain.incarnation() << 32 | (u64::from(domain.index()) + 1))
    }

    /// That of a scope in which a domain is.
    #[inline(always)]
    fn of<P: Port>(kernel: &Kernel<P>, scope: Scope, domain: Ref<Domain<P>>) -> Key {
        match scope {
            Scope::Shared => kernel.shared_key,
            Scope::Domain => domain.key.get(),
        }
    }

    fn hide(self, number: u32) -> u32 {
        permuted(number ^ self.before) ^ self.behind
    }

    fn show(self, id: u32) -> u32 {
        restored(id ^ self.behind) ^ self.before
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
    let lives = (thread.incarnation() as u32).wrapping_shl(kernel.index_bits);
    (lives | thread.index()) & MASK
}

/// The id of a thread in a scope of `domain`.
pub fn id<P: Port>(
    kernel: &'static Kernel<P>,
    scope: Scope,
    domain: Ref<Domain<P>>,
    thread: Ref<Thread<P>>,
) -> u32 {
    let key = Key::of(kernel, scope, domain);
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

/// The same, wherever it is.
#[inline(never)]
pub(in crate::manage) fn named<P: Port>(
    kernel: &'static Kernel<P>,
    scope: Scope,
    domain: Ref<Domain<P>>,
    id: u32,
) -> Option<Ref<Thread<P>>> {
    let key = Key::of(kernel, scope, domain);
    let shown = match key.show(id & MASK) {
        NONE => key.show(0),
        number => number,
    };
    let index = shown & ((1 << kernel.index_bits) - 1);
    let thread = kernel.threads.get(index).filter(|at| at.life() == Life::Live)?;
    let same = id & WAITERS == 0 && number(kernel, thread) == shown;
    same.then_some(thread)
}

#[cfg(test)]
mod tests {
    use super::{Key, MASK, NONE, permuted, restored};

    #[test]
    fn permutation_has_an_inverse() {
        for number in (0..=MASK).step_by(9973).chain([0, 1, MASK - 1, MASK]) {
            assert_eq!(restored(permuted(number)), number);
            assert!(permuted(number) <= MASK);
        }
    }

    #[test]
    fn keys_tell_scopes_apart() {
        let keys = [Key { before: 5, behind: 9 }, Key { before: 0x1234_5678, behind: 77 }];
        for number in [0, 1, 2, 0x7fff, NONE] {
            let ids = keys.map(|key| key.hide(number));
            assert_eq!(keys[0].show(ids[0]), number);
            assert_eq!(keys[1].show(ids[1]), number);
            assert_ne!(ids[0], ids[1]);
        }
    }
}
