//! Why a change of the tree is refused. Nothing has changed then.

/// An error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeError {
    /// All nodes, frames, or places for partitions of the class are in use.
    Full,
    /// The node does not exist, or is not what it is used as.
    NoSuchNode,
    /// The tree would be deeper than [`DEPTH`](super::DEPTH).
    TooDeep,
    /// The node would be below itself.
    Cycle,
    /// The nodes belong to different CPUs.
    OtherCpu,
    /// The class has children.
    HasChildren,
    /// The class is being used; it can be moved while nothing in it is ready.
    Busy,
    /// Another child of the class is this partition.
    PartitionTaken,
    /// The share is not of the kind that the class goes by.
    WrongShare,
    /// A priority, curve, budget, deadline or window is out of bounds.
    InvalidParameter,
    /// The children would be promised more than their class has.
    Overcommitted,
    /// The curves of the class's children bend at too many different instants.
    TooManyBends,
}
