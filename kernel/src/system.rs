//! The compile-time choices of a kernel, collected in one trait, and the named kernels.

use crate::port::Port;
use crate::sched::{Direct, Eager, Interface, Lazy, Queueing, Scheduling, Strict, Switching};
use crate::send_queue::{Fifo, Heap, Ordered, Scan, SendQueue};
use crate::slowpath::ByHand;
use crate::trace::Traced;
use core::marker::PhantomData;

/// A kernel: one choice on every axis (S0-15).
pub trait System: Sized + 'static {
    /// Name on the boot command line and in every result.
    const NAME: &'static str;
    /// Whether a fast path stands in front of the general IPC path (S0-16).
    const FAST_PATH: bool;
    /// Whether its paths have trace points.
    const TRACED: bool = false;
    /// The machine.
    type Port: Port;
    /// How the message path makes its decisions.
    type Scheduling: Scheduling;
    /// Who runs after a message.
    type Switching: Switching;
    /// How the ready queue is kept.
    type Queueing: Queueing;
    /// In which order blocked senders are served.
    type SendQueue: SendQueue;
    /// The same kernel with trace points.
    type Observed: System<Port = Self::Port>;
}

macro_rules! kernels {
    ($(
        $(#[$doc:meta])*
        $kernel:ident = $name:literal: $fast:literal $scheduling:ident $switching:ident
            $queueing:ident $send_queue:ident;
    )*) => {
        $(
            $(#[$doc])*
            pub struct $kernel<P>(PhantomData<P>);

            impl<P: Port> System for $kernel<P> {
                const NAME: &'static str = $name;
                const FAST_PATH: bool = $fast;
                type Port = P;
                type Scheduling = $scheduling;
                type Switching = $switching;
                type Queueing = $queueing;
                type SendQueue = $send_queue;
                type Observed = Traced<Self>;
            }
        )*
    };
}

kernels! {
    /// The slow path with a fast path in front.
    Fastpath = "fastpath": true ByHand Direct Lazy Fifo;
    /// Direct switching and lazy queueing without the scheduling interface.
    Slowpath = "slowpath": false ByHand Direct Lazy Fifo;
    /// Direct switching, lazy queueing.
    DirectLazy = "direct-lazy": false Interface Direct Lazy Fifo;
    /// Direct switching, eager queueing.
    DirectEager = "direct-eager": false Interface Direct Eager Fifo;
    /// Strict priorities, lazy queueing.
    StrictLazy = "strict-lazy": false Interface Strict Lazy Fifo;
    /// Strict priorities, eager queueing.
    StrictEager = "strict-eager": false Interface Strict Eager Fifo;
    /// As direct-lazy; a receiver looks through all senders for the highest.
    IpcScan = "ipc-scan": false Interface Direct Lazy Scan;
    /// As direct-lazy; senders queue by priority.
    IpcOrdered = "ipc-ordered": false Interface Direct Lazy Ordered;
    /// As direct-lazy; senders form a heap by priority.
    IpcHeap = "ipc-heap": false Interface Direct Lazy Heap;
}
