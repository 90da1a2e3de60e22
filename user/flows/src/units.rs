//! What a server says of the packets that it was given.
//!
//! For each reservation there is a word that the server alone writes: the session of the ring, and
//! how many packets have ended in it. Counts run from 0 in each session and wrap, so a driver looks
//! at the word before it takes a unit.

use crate::table::MOST;
use ring::Memory;

/// The words that driver and server share beside the rings.
pub const WORDS: usize = MOST;

/// How a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was read, or there was no room for it at its receiver.
    Read,
    /// It had no receiver. Its unit stays taken, so that stray packets use up their own
    /// reservation.
    Stray,
}

/// How many packets of a reservation have ended in a session.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    pub session: u32,
    pub read: u16,
    pub strays: u16,
}

impl From<u64> for Ended {
    #[inline]
    fn from(word: u64) -> Ended {
        Ended { session: (word >> 32) as u32, strays: (word >> 16) as u16, read: word as u16 }
    }
}

impl From<Ended> for u64 {
    fn from(ended: Ended) -> u64 {
        u64::from(ended.session) << 32 | u64::from(ended.strays) << 16 | u64::from(ended.read)
    }
}

/// The unit that a packet has, if it has one. It cannot be copied: a copy of a packet has none.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the unit comes back by `Units::end`"]
pub struct Unit {
    mark: u32,
    session: u32,
}

/// The server's side: which packets have ended.
pub struct Units<M> {
    words: M,
    session: u32,
    ended: [Ended; WORDS],
}

impl<M: Memory> Units<M> {
    /// No packet has ended.
    ///
    /// # Panics
    ///
    /// If there are less than [`WORDS`] words.
    #[track_caller]
    pub fn new(words: M) -> Units<M> {
        assert!(words.words() >= WORDS, "{} words for units", words.words());
        Units { words, session: 0, ended: [Ended::default(); WORDS] }
    }

    /// The unit of a packet that has come in a session, by the driver's mark.
    pub fn begin(&mut self, session: u32, mark: u32) -> Unit {
        if self.session != session {
            self.session = session;
            self.ended = [Ended { session, ..Ended::default() }; WORDS];
        }
        Unit { mark, session }
    }

    /// The packet has ended. Nothing happens if the driver that gave it the unit is gone.
    pub fn end(&mut self, unit: Unit, end: End) {
        let Some(index) = (unit.mark as usize).checked_sub(1) else { return };
        let Some(ended) = self.ended.get_mut(index) else { return };
        if unit.session != self.session {
            return;
        }
        let count = match end {
            End::Read => &mut ended.read,
            End::Stray => &mut ended.strays,
        };
        *count = count.wrapping_add(1);
        self.words.store(index, (*ended).into());
    }
}
