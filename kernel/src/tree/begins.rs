//! What a job begins with, told to the tree.

use crate::access::Owner;
use crate::object::thread::{Begins, Header};
use crate::port::Port;
use policies::tree::{NodeId, Tree};

impl Begins {
    /// The first thread of a leaf is ready since an instant, and now that is told.
    #[inline(always)]
    pub fn tell(self, tree: &mut Tree<'_>, leaf: NodeId, (since, now): (u64, u64)) {
        match self {
            Begins::Started => tree.start(leaf, now),
            Begins::Again => tree.start_again(leaf, since, now),
            Begins::Awake => tree.wake_late(leaf, since, now),
        };
    }
}

impl<P: Port> Header<P> {
    /// What a job begins with that this thread brings to a leaf.
    #[inline(always)]
    pub fn begins_in(&self, owner: &impl Owner, leaf: u32) -> Begins {
        match self.reservation.get(owner).node == leaf {
            true => self.begins.get(owner),
            false => Begins::Awake,
        }
    }
}
