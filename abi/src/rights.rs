//! Rights of a capability.

use core::ops::{BitAnd, BitOr, BitOrAssign};

/// A set of rights. Passing a capability on can only remove rights. Bits 0 to 2 mean
/// different things for different kinds of object; the others are common to all.
///
/// ```
/// use abi::Rights;
///
/// let rights = Rights::READ | Rights::WRITE;
/// assert!(rights.contains(Rights::READ));
/// assert_eq!(rights & Rights::WRITE, Rights::WRITE);
/// const SAME: Rights = Rights::READ.or(Rights::WRITE);
/// assert_eq!(SAME, rights);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rights(pub u8);

impl Rights {
    /// No right at all.
    pub const NONE: Rights = Rights(0);
    /// Endpoint: send and call. Notification: signal. Train: enter.
    pub const SEND: Rights = Rights(1);
    /// Endpoint, notification: receive.
    pub const RECEIVE: Rights = Rights(2);
    /// Endpoint: send capabilities along with a message.
    pub const GRANT: Rights = Rights(4);
    /// Memory: map readable.
    pub const READ: Rights = Rights(1);
    /// Memory: map writable.
    pub const WRITE: Rights = Rights(2);
    /// Memory: map executable.
    pub const EXECUTE: Rights = Rights(4);
    /// Domain, thread, interrupt, timer, mapping, console, system: use and change it. Reservation:
    /// change and move it.
    pub const CONTROL: Rights = Rights(1);
    /// Reservation: let threads run on it.
    pub const RESERVE: Rights = Rights(2);
    /// Reservation that is a class: make reservations in it, and move some into it.
    pub const DIVIDE: Rights = Rights(4);
    /// Memory: learn where it lies in physical memory.
    pub const PHYSICAL: Rights = Rights(64);
    /// Copy the capability to another slot or into a message.
    pub const COPY: Rights = Rights(8);
    /// Make every other capability to the object stale.
    pub const REVOKE: Rights = Rights(16);
    /// Destroy the object.
    pub const DESTROY: Rights = Rights(32);
    /// Those that capabilities to all kinds of objects can have, with their names.
    pub const COMMON: [(&'static str, Rights); 3] =
        [("copy", Rights::COPY), ("revoke", Rights::REVOKE), ("destroy", Rights::DESTROY)];
    /// Every right that comes with an object: all but [`Rights::PHYSICAL`], which only the manifest
    /// gives.
    pub const ALL: Rights = Rights(63);

    /// Whether every right of `other` is in this set.
    pub const fn contains(self, other: Rights) -> bool {
        self.0 & other.0 == other.0
    }

    /// The rights in both sets; `&` in a constant.
    pub const fn and(self, other: Rights) -> Rights {
        Rights(self.0 & other.0)
    }

    /// The rights in either set; `|` in a constant.
    pub const fn or(self, other: Rights) -> Rights {
        Rights(self.0 | other.0)
    }
}

impl BitOr for Rights {
    type Output = Rights;

    #[inline]
    fn bitor(self, other: Rights) -> Rights {
        self.or(other)
    }
}

impl BitOrAssign for Rights {
    #[inline]
    fn bitor_assign(&mut self, other: Rights) {
        *self = self.or(other);
    }
}

impl BitAnd for Rights {
    type Output = Rights;

    #[inline]
    fn bitand(self, other: Rights) -> Rights {
        self.and(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_the_functions() {
        for (a, b) in (0..64).flat_map(|a| (0..64).map(move |b| (Rights(a), Rights(b)))) {
            let mut sum = a;
            sum |= b;
            assert_eq!((a | b, sum, a & b), (a.or(b), a.or(b), a.and(b)));
            assert!((a | b).contains(a) && a.contains(a & b));
        }
    }
}
