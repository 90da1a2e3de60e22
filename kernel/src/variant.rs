//! What code that all kernels in an image share needs to know of the running one.

use crate::arena::Arena;
use crate::port::Port;
use crate::sched::Events;
use crate::send_queue::Senders;
use crate::tree::{Sizes, Trees};

/// The running kernel, as values.
pub struct Variant<P: Port> {
    /// Its name, as [`name_words`](abi::boot::name_words) packs it.
    pub name: [u64; 2],
    /// Its send queues.
    pub senders: Senders<P>,
    /// Its scheduler's events.
    pub events: Events<P>,
    /// Whether the ready queue holds exactly the runnable threads.
    pub eager: bool,
    /// Whether a scheduling tree orders threads.
    pub tree: bool,
    /// Carves that tree, if there is one, with this time slice in nanoseconds. An image without
    /// such a kernel has no code for it.
    pub carve: fn(&mut Arena, Sizes, u64) -> Option<Trees<P>>,
}

impl<P: Port> Variant<P> {
    /// The priority by which queues other than the scheduler's go, of a thread that was given this
    /// one. Where the tree orders threads, they are equals elsewhere.
    pub fn effective(&self, priority: i16) -> i16 {
        if self.tree { 0 } else { priority }
    }
}
