//! Rights of a capability.

/// A set of rights. Passing a capability on can only remove rights. Bits 0 to 2 mean
/// different things for different kinds of object; the others are common to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rights(pub u8);

impl Rights {
    /// No right at all.
    pub const NONE: Rights = Rights(0);
    /// Endpoint: send and call. Notification: signal.
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
    /// Domain, thread, interrupt, timer, mapping, console, system: use and change it.
    pub const CONTROL: Rights = Rights(1);
    /// Copy the capability to another slot or into a message.
    pub const COPY: Rights = Rights(8);
    /// Make every other capability to the object stale.
    pub const REVOKE: Rights = Rights(16);
    /// Destroy the object.
    pub const DESTROY: Rights = Rights(32);
    /// Every right.
    pub const ALL: Rights = Rights(63);

    /// Whether every right of `other` is in this set.
    pub const fn contains(self, other: Rights) -> bool {
        self.0 & other.0 == other.0
    }

    /// The rights in both sets.
    pub const fn and(self, other: Rights) -> Rights {
        Rights(self.0 & other.0)
    }

    /// The rights in either set.
    pub const fn or(self, other: Rights) -> Rights {
        Rights(self.0 | other.0)
    }
}
