//! The datagrams of a socket that were not read yet.

use crate::stack::DATAGRAMS;
use flows::Unit;
use sockets::Datagram;

/// A queue of datagrams with their units.
pub(crate) struct Waiting {
    all: [Option<(Datagram, Option<Unit>)>; DATAGRAMS],
    /// Where the oldest one is.
    first: usize,
}

impl Waiting {
    /// An empty queue.
    pub const EMPTY: Waiting = Waiting { all: [const { None }; DATAGRAMS], first: 0 };

    pub fn is_empty(&self) -> bool {
        self.all[self.first].is_none()
    }

    /// Adds a datagram; its unit, if there is no room.
    pub fn push(&mut self, datagram: Datagram, unit: Option<Unit>) -> Result<(), Option<Unit>> {
        let places = (0..DATAGRAMS).map(|after| (self.first + after) % DATAGRAMS);
        match places.into_iter().find(|place| self.all[*place].is_none()) {
            Some(place) => {
                self.all[place] = Some((datagram, unit));
                Ok(())
            }
            None => Err(unit),
        }
    }

    /// The oldest one.
    pub fn pop(&mut self) -> Option<(Datagram, Option<Unit>)> {
        let oldest = self.all[self.first].take()?;
        self.first = (self.first + 1) % DATAGRAMS;
        Some(oldest)
    }
}
