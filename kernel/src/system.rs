//! The compile-time choices of a kernel, collected in one trait, and the named kernels.

use crate::port::Port;
use crate::sched::{Direct, Lazy, Queueing, Switching};
use core::marker::PhantomData;
use locks::{Locking, Unlocked};

/// A kernel: one choice on every axis (S0-15).
pub trait System: Sized + 'static {
    /// Name on the boot command line and in every result.
    const NAME: &'static str;
    /// Whether a fast path stands in front of the general IPC path (S0-16).
    const FAST_PATH: bool;
    /// The machine.
    type Port: Port;
    /// What guards the kernel on several CPUs.
    type Locking: Locking;
    /// Who runs after a message.
    type Switching: Switching;
    /// How the ready queue is kept.
    type Queueing: Queueing;
}

/// Direct switching, lazy queueing, with a fast path in front.
pub struct Fastpath<P>(PhantomData<P>);

impl<P: Port> System for Fastpath<P> {
    const NAME: &'static str = "fastpath";
    const FAST_PATH: bool = true;
    type Port = P;
    type Locking = Unlocked;
    type Switching = Direct;
    type Queueing = Lazy;
}

/// Direct switching, lazy queueing.
pub struct DirectLazy<P>(PhantomData<P>);

impl<P: Port> System for DirectLazy<P> {
    const NAME: &'static str = "direct-lazy";
    const FAST_PATH: bool = false;
    type Port = P;
    type Locking = Unlocked;
    type Switching = Direct;
    type Queueing = Lazy;
}
