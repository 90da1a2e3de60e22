//! The compile-time choices of a kernel, collected in one trait, and the named kernels.

use crate::cpu::notes::{Notes, Quiet, Recorded};
use crate::port::Port;
use crate::sched::{Direct, Eager, Events, Lazy, Reserved, Scheduler, SlowPath, Strict, Switched};
use crate::send_queue::{Fifo, Heap, Ordered, Scan, SendQueue, Senders};
use crate::tree::Trees;
use crate::variant::Variant;
use core::marker::PhantomData;

/// A kernel: one choice on every axis (S0-15).
pub trait System: Sized + 'static {
    /// Name on the boot command line and in every result.
    const NAME: &'static str;
    /// Whether a fast path stands in front of the general IPC path (S0-16).
    const FAST_PATH: bool;
    /// The machine.
    type Port: Port;
    /// Whether its paths have trace points.
    type Notes: Notes;
    /// Who runs.
    type Scheduler: Scheduler;
    /// In which order blocked senders are served.
    type SendQueue: SendQueue;
    /// The same kernel with trace points.
    type Observed: System<Port = Self::Port>;
}

macro_rules! kernels {
    ($(
        $(#[$doc:meta])*
        $kernel:ident = $name:literal: $fast:literal, $scheduler:ty, $send_queue:ident;
    )*) => {
        $(
            $(#[$doc])*
            pub struct $kernel<P>(PhantomData<P>);

            impl<P: Port> System for $kernel<P> {
                const NAME: &'static str = $name;
                const FAST_PATH: bool = $fast;
                type Port = P;
                type Notes = Quiet;
                type Scheduler = $scheduler;
                type SendQueue = $send_queue;
                type Observed = Traced<Self>;
            }
        )*
    };
}

kernels! {
    /// The slow path with a fast path in front.
    Fastpath = "fastpath": true, SlowPath, Fifo;
    /// The slow path of the thesis: direct switching and lazy queueing, written by hand.
    Slowpath = "slowpath": false, SlowPath, Fifo;
    /// Direct switching, lazy queueing.
    DirectLazy = "direct-lazy": false, Switched<Direct, Lazy>, Fifo;
    /// Direct switching, eager queueing.
    DirectEager = "direct-eager": false, Switched<Direct, Eager>, Fifo;
    /// Strict priorities, lazy queueing.
    StrictLazy = "strict-lazy": false, Switched<Strict, Lazy>, Fifo;
    /// Strict priorities, eager queueing.
    StrictEager = "strict-eager": false, Switched<Strict, Eager>, Fifo;
    /// As direct-lazy; a receiver looks through all senders for the highest.
    IpcScan = "ipc-scan": false, Switched<Direct, Lazy>, Scan;
    /// As direct-lazy; senders queue by priority.
    IpcOrdered = "ipc-ordered": false, Switched<Direct, Lazy>, Ordered;
    /// As direct-lazy; senders form a heap by priority.
    IpcHeap = "ipc-heap": false, Switched<Direct, Lazy>, Heap;
    /// Reservations in a scheduling tree; a call lends the caller's.
    Tree = "tree": false, Reserved, Fifo;
}

/// The kernel `S` with its trace points.
pub struct Traced<S>(PhantomData<S>);

impl<S: System> System for Traced<S> {
    const NAME: &'static str = S::NAME;
    const FAST_PATH: bool = S::FAST_PATH;
    type Port = S::Port;
    type Notes = Recorded;
    type Scheduler = S::Scheduler;
    type SendQueue = S::SendQueue;
    type Observed = Traced<S>;
}

impl<P: Port> Variant<P> {
    /// The kernel `S`.
    pub fn of<S: System<Port = P>>() -> Variant<P> {
        Variant {
            name: abi::boot::name_words(S::NAME),
            senders: Senders::of::<S::SendQueue>(),
            events: Events::of::<S::Scheduler>(),
            eager: S::Scheduler::EAGER,
            tree: S::Scheduler::TREE,
            carve: if S::Scheduler::TREE { Trees::carve } else { Trees::none },
        }
    }
}
