//! What code that all kernels in an image share needs to know of the running one.

use crate::port::Port;
use crate::sched::Events;
use crate::send_queue::Senders;

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
}
