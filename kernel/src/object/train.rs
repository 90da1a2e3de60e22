//! Trains: entries that a domain exports, with stacks for the threads that enter.

use super::{Activation, Domain, Endpoint, Pooled};
use crate::access::Ref;
use crate::list::List;
use crate::object::activation::OfTrain;
use crate::port::Port;
use abi::object::Resource;
use cells::Cell;

/// A train. It is entered where its owner's program says and nowhere else.
pub struct Train<P: Port> {
    /// The first instruction of what is entered.
    pub entry: Cell<u64>,
    /// What the code there is given.
    pub word: Cell<u64>,
    /// All of its stacks.
    pub stacks: List<Activation<P>, OfTrain>,
    /// The free ones, of which the one that was used last comes first.
    pub free: Cell<Option<Ref<Activation<P>>>>,
    /// Threads that wait for a stack: senders of an endpoint that has no name.
    pub queue: Endpoint<P>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Train<P> {
    /// A train for a vacant pool slot.
    pub fn new() -> Train<P> {
        Train {
            entry: Cell::new(0),
            word: Cell::new(0),
            stacks: List::new(),
            free: Cell::new(None),
            queue: Endpoint::new(),
            owner: Cell::new(None),
        }
    }
}

impl<P: Port> Default for Train<P> {
    fn default() -> Self {
        Train::new()
    }
}

impl<P: Port> Pooled<P> for Train<P> {
    const EXISTS: bool = P::TRAINS;
    const RESOURCE: Resource = Resource::Trains;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}
