//! Activations: a stack of a train, and what is kept of the thread that runs on it until it goes
//! back. Those of one thread lead from the domain that it is in to its own.

use super::inherit::ByVisit;
use super::{Domain, Pooled, Thread, Train};
use crate::access::Ref;
use crate::list::{Linked, Links, List};
use crate::port::Port;
use abi::object::Resource;
use cells::Cell;

/// Selects an activation's links in the list of its train.
pub struct OfTrain;

/// What can be reached by an activation's name.
pub struct Header<P: Port> {
    of_train: Links<Activation<P>>,
}

/// An activation.
pub struct Activation<P: Port> {
    pub(super) header: Header<P>,
    /// Where the stack begins, from which it grows down.
    pub stack: Cell<u64>,
    /// The train that it belongs to; `None` while it is vacant.
    pub train: Cell<Option<Ref<Train<P>>>>,
    /// The thread on it; `None`: it is free, or that thread was taken out.
    pub thread: Cell<Option<Ref<Thread<P>>>>,
    /// While it is free: the next free one of its train.
    pub next: Cell<Option<Ref<Activation<P>>>>,
    /// The activation in whose domain the thread was before.
    pub outer: Cell<Option<Ref<Activation<P>>>>,
    /// The activation that was entered from this one's domain.
    pub inner: Cell<Option<Ref<Activation<P>>>>,
    /// The thread is taken out of the domain entered: it runs nothing there any more, and owns
    /// nothing there that others could wait for.
    pub over: Cell<bool>,
    /// How many domains the thread has entered, this one included.
    pub depth: Cell<u32>,
    /// The domain that the thread has come from.
    pub from: Cell<Option<Ref<Domain<P>>>>,
    /// Turnstiles of the mutexes that it owns in the domain entered, and others wait for.
    pub owned: List<Thread<P>, ByVisit>,
    /// The address of its message buffer there.
    pub buffer_at: Cell<u64>,
    /// Its registers there.
    pub kept: P::Kept,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Activation<P> {
    /// An activation for a vacant pool slot.
    pub fn new() -> Activation<P> {
        Activation {
            header: Header { of_train: Links::new() },
            stack: Cell::new(0),
            train: Cell::new(None),
            thread: Cell::new(None),
            next: Cell::new(None),
            outer: Cell::new(None),
            inner: Cell::new(None),
            over: Cell::new(false),
            depth: Cell::new(0),
            from: Cell::new(None),
            owned: List::new(),
            buffer_at: Cell::new(0),
            kept: P::Kept::default(),
            owner: Cell::new(None),
        }
    }
}

impl<P: Port> Default for Activation<P> {
    fn default() -> Self {
        Activation::new()
    }
}

impl<P: Port> Linked<OfTrain> for Activation<P> {
    fn links(header: &Header<P>) -> &Links<Self> {
        &header.of_train
    }
}

impl<P: Port> Pooled<P> for Activation<P> {
    const EXISTS: bool = P::TRAINS;
    const RESOURCE: Resource = Resource::Stacks;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}
