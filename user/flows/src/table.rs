//! The reservations of a link, and how many of their units are taken.

use crate::interface::Refusal;
use crate::key::Key;
use crate::{Flow, UNLIMITED};
use service::Wire;

/// The most reservations, [`Flow::ALL`] among them.
pub(crate) const MOST: usize = 33;
/// Places of the hash table: about half of them are free.
const PLACES: usize = 64;

/// A reservation, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id(u8);

impl Id {
    /// The number, less than 33.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// What is known of a reservation.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Its flow.
    pub flow: Flow,
    /// How many units it has.
    pub limit: u32,
    /// Units of packets that were not read yet: these refer to the reservation.
    pub unread: u32,
    /// Units of packets that had no receiver.
    pub strays: u32,
    /// How many packets were dropped since no unit was left.
    pub dropped: u64,
}

impl Reservation {
    /// How many units are taken.
    #[inline]
    pub fn current(&self) -> u32 {
        self.unread + self.strays
    }
}

/// All reservations of a link. That of [`Flow::ALL`] is always there, at first without limit.
pub struct Reservations {
    all: [Option<Reservation>; MOST],
    /// Numbers of reservations by the hash of their flow, and one more than that; 0 where there is
    /// none. The next free place takes what collides.
    places: [u8; PLACES],
    /// What was looked up last, and what was found.
    last: Option<(Key, Option<Id>)>,
}

impl Default for Reservations {
    fn default() -> Reservations {
        Reservations::new()
    }
}

impl Reservations {
    /// That of all packets alone, without limit.
    pub fn new() -> Reservations {
        let mut new = Reservations { all: [None; MOST], places: [0; PLACES], last: None };
        // There is room for one.
        let _ = new.set(Flow::ALL, UNLIMITED);
        new
    }

    /// All reservations.
    pub fn iter(&self) -> impl Iterator<Item = &Reservation> {
        self.all.iter().flatten()
    }

    /// The reservation of a flow.
    pub fn of(&self, flow: Flow) -> Option<Id> {
        self.place(flow).ok()
    }

    /// The reservation with a number, if there is one.
    #[inline]
    pub fn get_mut(&mut self, id: Id) -> Option<&mut Reservation> {
        self.all[id.index()].as_mut()
    }

    /// Gives a flow a number of units; makes its reservation if it has none. Taken units stay
    /// taken.
    pub fn set(&mut self, flow: Flow, limit: u32) -> Result<(), Refusal> {
        let id = match self.place(flow) {
            Ok(id) => id,
            Err(place) => {
                let free = self.all.iter().position(Option::is_none).ok_or(Refusal::TooMany)?;
                let none = Reservation { flow, limit, unread: 0, strays: 0, dropped: 0 };
                self.all[free] = Some(none);
                self.places[place] = free as u8 + 1;
                // It may be more specific than what was found.
                self.last = None;
                Id(free as u8)
            }
        };
        if let Some(one) = self.get_mut(id) {
            one.limit = limit;
        }
        Ok(())
    }

    /// Removes the reservation of a flow: its later packets belong to a less specific one. One that
    /// packets refer to stays, and so does that of all packets.
    pub fn remove(&mut self, flow: Flow) -> Result<(), Refusal> {
        let id = self.of(flow).filter(|_| flow != Flow::ALL).ok_or(Refusal::Unknown)?;
        if self.get_mut(id).is_some_and(|one| one.unread > 0) {
            return Err(Refusal::InUse);
        }
        self.all[id.index()] = None;
        self.last = None;
        // What had collided with it moves, so all are placed again.
        self.places = [0; PLACES];
        for (number, one) in (1..).zip(&self.all) {
            if let Some(one) = one
                && let Err(place) = self.place(one.flow)
            {
                self.places[place] = number;
            }
        }
        Ok(())
    }

    /// Gives the reservation of a flow back the units of packets without a receiver.
    pub fn reset(&mut self, flow: Flow) -> Result<(), Refusal> {
        let id = self.of(flow).ok_or(Refusal::Unknown)?;
        if let Some(one) = self.get_mut(id) {
            one.strays = 0;
        }
        Ok(())
    }

    /// The most specific reservation of a packet; none if nothing is reserved for it, so that it
    /// needs no unit.
    #[inline]
    pub fn find(&mut self, key: Key) -> Option<Id> {
        match self.last {
            Some((last, found)) if last == key => found,
            _ => self.look(key),
        }
    }

    #[inline(never)]
    fn look(&mut self, key: Key) -> Option<Id> {
        let found = key.flows().iter().find_map(|level| self.of(level(key.flow())));
        self.last = Some((key, found));
        found
    }

    /// Takes a unit for a packet; false if none is left, and the packet has to be dropped.
    #[inline]
    pub fn take(&mut self, id: Id) -> bool {
        let Some(one) = self.get_mut(id) else { return false };
        let is_left = one.current() < one.limit;
        if is_left {
            one.unread += 1;
        } else {
            one.dropped += 1;
        }
        is_left
    }

    /// Packets have ended: read ones, which give their units back, and strays, which do not. No
    /// more than were unread can have ended.
    #[inline]
    pub fn end(&mut self, id: Id, read: u32, strays: u32) {
        let Some(one) = self.get_mut(id) else { return };
        let read = read.min(one.unread);
        one.unread -= read;
        let strays = strays.min(one.unread);
        one.unread -= strays;
        one.strays += strays;
    }

    /// All unread packets are gone with the server that had them, and give their units back.
    pub fn forget(&mut self) {
        self.all.iter_mut().flatten().for_each(|one| one.unread = 0);
    }

    /// The reservation of a flow, or the free place where it would be found.
    fn place(&self, flow: Flow) -> Result<Id, usize> {
        let word = u32::from(flow.port) << 8 | u32::from(flow.protocol);
        let mut place = (word.wrapping_mul(0x9e37_79b1) >> 26) as usize;
        // Not all places are taken.
        loop {
            let Some(number) = self.places[place].checked_sub(1) else { return Err(place) };
            if self.all[usize::from(number)].is_some_and(|one| one.flow == flow) {
                return Ok(Id(number));
            }
            place = (place + 1) % PLACES;
        }
    }

    /// All numbers that a reservation may have.
    pub(crate) fn ids() -> impl Iterator<Item = Id> {
        (0..MOST as u8).map(Id)
    }
}
