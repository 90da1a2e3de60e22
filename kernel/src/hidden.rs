//! Numbers of 31 bits hidden by a permutation with a key: two secrets around a fixed permutation,
//! after Even and Mansour.

use abi::futex::WAITERS;

/// The bits of a number.
pub const MASK: u32 = !WAITERS;
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
/// More than half of a number's bits, so that shifting by them and adding is its own inverse.
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

/// The secrets of one scope of numbers.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Key {
    before: u32,
    behind: u32,
}

impl Key {
    /// The key of no scope.
    pub const NONE: Key = Key { before: u32::MAX, behind: u32::MAX };

    /// That of a scope, by a number of its own: mixed from a secret by splitmix64.
    pub fn new(secret: u64, scope: u64) -> Key {
        let word = secret ^ scope.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let word = word ^ word >> 31;
        Key { before: word as u32 & MASK, behind: (word >> 32) as u32 & MASK }
    }

    /// What a number of 31 bits is outside.
    pub fn hide(self, number: u32) -> u32 {
        permuted(number ^ self.before) ^ self.behind
    }

    /// The number that is this outside.
    pub fn show(self, id: u32) -> u32 {
        restored(id ^ self.behind) ^ self.before
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, MASK, permuted, restored};

    #[test]
    fn permutation_has_an_inverse() {
        for number in (0..=MASK).step_by(9973).chain([0, 1, MASK - 1, MASK]) {
            assert_eq!(restored(permuted(number)), number);
            assert!(permuted(number) <= MASK);
        }
    }

    #[test]
    fn no_scope_has_the_key_of_none() {
        for scope in 0..1000 {
            assert!(Key::new(u64::MAX, scope) != Key::NONE);
        }
    }

    #[test]
    fn keys_tell_scopes_apart() {
        let keys = [Key { before: 5, behind: 9 }, Key { before: 0x1234_5678, behind: 77 }];
        for number in [0, 1, 2, 0x7fff, MASK] {
            let ids = keys.map(|key| key.hide(number));
            assert_eq!(keys[0].show(ids[0]), number);
            assert_eq!(keys[1].show(ids[1]), number);
            assert_ne!(ids[0], ids[1]);
        }
    }
}
