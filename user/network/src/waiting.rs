//! The datagrams of a socket that were not read yet.

use crate::stack::DATAGRAMS;
use flows::Unit;
use sockets::{Address, Datagram};

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

    /// Adds a datagram of these bytes, which is made where it waits; its unit, if there is no room.
    #[inline]
    pub fn push(
        &mut self,
        from: Address,
        bytes: &[u8],
        unit: Option<Unit>,
    ) -> Result<(), Option<Unit>> {
        let places = (0..DATAGRAMS).map(|after| (self.first + after) % DATAGRAMS);
        match places.into_iter().find(|place| self.all[*place].is_none()) {
            Some(place) => {
                self.all[place] = Some((Datagram::new(from, bytes), unit));
                Ok(())
            }
            None => Err(unit),
        }
    }

    /// The oldest one.
    #[inline]
    pub fn oldest(&self) -> Option<&Datagram> {
        self.all[self.first].as_ref().map(|(datagram, _)| datagram)
    }

    /// Removes the oldest one: its unit.
    #[inline]
    pub fn remove(&mut self) -> Option<Unit> {
        let (_, unit) = self.all[self.first].as_mut()?;
        let unit = unit.take();
        self.all[self.first] = None;
        self.first = (self.first + 1) % DATAGRAMS;
        unit
    }
}
