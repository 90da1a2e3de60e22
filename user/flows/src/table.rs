//! The reservations, and the packets that have units of them.

use crate::key::{Flow, Key};

/// The most reservations, beside the null reservation.
const MOST: usize = 32;
/// Places of the hash table: at least half of them are free.
const PLACES: usize = 64;
/// The most buffers.
const BUFFERS: usize = 64;

/// A reservation, by its number. That of the null reservation is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id(u8);

impl Id {
    /// The null reservation, of all packets that belong to no other one.
    pub const NULL: Id = Id(0);

    fn index(self) -> usize {
        self.0.into()
    }
}

/// What is known of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Its flow; none for the null reservation.
    pub flow: Option<Flow>,
    /// How many units it has.
    pub limit: u32,
    /// How many of these are taken.
    pub current: u32,
    /// How many buffers refer to it. The other taken units are those of packets without a receiver.
    pub buffers: u32,
    /// How many packets were dropped since no unit was left.
    pub dropped: u64,
}

/// No unit is left: the packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped;

/// There are as many reservations as there can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// Why a reservation stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRemoved {
    /// There is none of this flow.
    Unknown,
    /// Buffers refer to it.
    InUse,
}

/// How a buffer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The receiver has read it.
    Read,
    /// There was no receiver. The unit stays taken, so that stray packets use up their own
    /// reservation.
    NoReceiver,
}

/// A buffer with a unit: the reservation, and how many references the buffer has.
#[derive(Clone, Copy)]
struct Taken {
    of: Id,
    references: u32,
}

/// All reservations of an interface.
pub struct Reservations {
    all: [Option<Reservation>; MOST + 1],
    /// Numbers of reservations by the hash of their flow, 0 where there is none; the next free place
    /// takes what collides.
    places: [u8; PLACES],
    /// The flow of the last packet that was looked up, and its reservation.
    last: Option<(Key, Id)>,
    buffers: [Option<Taken>; BUFFERS],
}

impl Default for Reservations {
    fn default() -> Reservations {
        Reservations::new()
    }
}

impl Reservations {
    /// The null reservation alone, without units: every packet is dropped.
    pub const fn new() -> Reservations {
        let null = Reservation { flow: None, limit: 0, current: 0, buffers: 0, dropped: 0 };
        let mut all = [None; MOST + 1];
        all[0] = Some(null);
        Reservations { all, places: [0; PLACES], last: None, buffers: [None; BUFFERS] }
    }

    /// All reservations, the null reservation first.
    pub fn iter(&self) -> impl Iterator<Item = &Reservation> {
        self.all.iter().flatten()
    }

    /// A reservation.
    pub fn get(&self, id: Id) -> Option<&Reservation> {
        self.all[id.index()].as_ref()
    }

    /// Gives a flow a number of units; makes its reservation if it has none. Units that are taken
    /// stay taken.
    pub fn set(&mut self, flow: Flow, limit: u32) -> Result<(), TooMany> {
        let id = match self.place_of(flow) {
            Ok(id) => id,
            Err(place) => {
                let free = self.all.iter().position(Option::is_none).ok_or(TooMany)?;
                let made =
                    Reservation { flow: Some(flow), limit, current: 0, buffers: 0, dropped: 0 };
                self.all[free] = Some(made);
                self.places[place] = free as u8;
                // It may be more specific than what was found.
                self.last = None;
                Id(free as u8)
            }
        };
        if let Some(one) = self.of(id) {
            one.limit = limit;
        }
        Ok(())
    }

    /// Gives the null reservation a number of units.
    pub fn set_null(&mut self, limit: u32) {
        if let Some(null) = self.of(Id::NULL) {
            null.limit = limit;
        }
    }

    /// Removes the reservation of a flow. Its later packets belong to a less specific one.
    pub fn remove(&mut self, flow: Flow) -> Result<(), NotRemoved> {
        let id = self.place_of(flow).map_err(|_| NotRemoved::Unknown)?;
        if self.of(id).is_some_and(|one| one.buffers > 0) {
            return Err(NotRemoved::InUse);
        }
        self.all[id.index()] = None;
        self.last = None;
        // What had collided with it moves, so all are placed again.
        self.places = [0; PLACES];
        for at in 1..self.all.len() {
            let flow = self.all[at].and_then(|one| one.flow);
            if let Some(Err(place)) = flow.map(|flow| self.place_of(flow)) {
                self.places[place] = at as u8;
            }
        }
        Ok(())
    }

    /// Forgets the stray packets of a flow: units are taken by buffers alone.
    pub fn reset(&mut self, id: Id) {
        if let Some(one) = self.of(id) {
            one.current = one.buffers;
        }
    }

    /// The reservation of a packet: that of its flow, else that of its protocol, else the null
    /// reservation.
    #[inline]
    pub fn find(&mut self, key: Key) -> Id {
        match self.last {
            Some((last, id)) if last == key => id,
            _ => {
                let found = key.flows().into_iter().find_map(|flow| self.place_of(flow).ok());
                let id = found.unwrap_or(Id::NULL);
                self.last = Some((key, id));
                id
            }
        }
    }

    /// Takes a unit for a packet in a buffer, which then has one reference. Without a unit, or if
    /// the reservation was removed, the packet is dropped.
    ///
    /// # Panics
    ///
    /// If the buffer has a unit already.
    #[inline]
    pub fn take(&mut self, buffer: usize, id: Id) -> Result<(), Dropped> {
        assert!(self.buffers[buffer].is_none(), "buffer {buffer} has a unit");
        let one = self.of(id).ok_or(Dropped)?;
        if one.current >= one.limit {
            one.dropped += 1;
            return Err(Dropped);
        }
        one.current += 1;
        one.buffers += 1;
        self.buffers[buffer] = Some(Taken { of: id, references: 1 });
        Ok(())
    }

    /// Adds a reference to a buffer, if it has a unit. A copy of its bytes has none.
    pub fn duplicate(&mut self, buffer: usize) {
        if let Some(taken) = &mut self.buffers[buffer] {
            taken.references += 1;
        }
    }

    /// Takes a reference from a buffer. With the last one its unit comes back, if it was read.
    #[inline]
    pub fn release(&mut self, buffer: usize, end: End) {
        let Some(mut taken) = self.buffers[buffer].take() else { return };
        taken.references -= 1;
        if taken.references > 0 {
            self.buffers[buffer] = Some(taken);
            return;
        }
        // It exists: none is removed while buffers refer to it.
        if let Some(one) = self.of(taken.of) {
            one.buffers -= 1;
            one.current -= u32::from(end == End::Read);
        }
    }

    /// The reservation of a flow, or the free place where it would be found.
    fn place_of(&self, flow: Flow) -> Result<Id, usize> {
        let mixed =
            (u32::from(flow.port) << 8 | u32::from(flow.protocol)).wrapping_mul(0x9e37_79b1);
        let mut place = (mixed >> 26) as usize;
        loop {
            let number = self.places[place];
            if number == 0 {
                return Err(place);
            }
            if self.all[usize::from(number)].is_some_and(|one| one.flow == Some(flow)) {
                return Ok(Id(number));
            }
            place = (place + 1) % PLACES;
        }
    }

    fn of(&mut self, id: Id) -> Option<&mut Reservation> {
        self.all[id.index()].as_mut()
    }
}
