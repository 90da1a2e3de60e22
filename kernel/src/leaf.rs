//! Names of leaves of the scheduling tree.

/// Names a leaf as it is now: a leaf that is made in its place has another stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafRef {
    /// Its place among the nodes.
    pub node: u32,
    /// Which of the leaves that were in this place it is.
    pub stamp: u64,
}

impl LeafRef {
    /// No leaf.
    pub const NONE: LeafRef = LeafRef { node: u32::MAX, stamp: 0 };

    /// Whether it names none. There is no node with that place.
    #[inline(always)]
    pub fn is_none(self) -> bool {
        self.node == LeafRef::NONE.node
    }
}
