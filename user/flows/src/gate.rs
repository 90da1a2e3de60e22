//! A driver's gate: what passes to the server, and what is dropped at once.

use crate::interface::{Receive, Refusal};
use crate::key::{HEAD, Key};
use crate::table::{Id, Reservation, Reservations};
use crate::units::{Ended, WORDS};
use crate::{Flow, NoFlow, parse};
use ring::{Memory, Owned, Sender};
use service::Badge;

/// The reservations of a link, and the server's words about their units.
pub struct Gate<M> {
    table: Reservations,
    words: M,
    session: u32,
    /// What was seen of each word.
    seen: [Ended; WORDS],
}

impl<M: Memory> Gate<M> {
    /// A gate with the reservations of a text, as [`parse`] reads it.
    ///
    /// # Errors
    ///
    /// If the text cannot be read or has too many reservations.
    ///
    /// # Panics
    ///
    /// If there are less than [`WORDS`] words.
    #[track_caller]
    pub fn new(words: M, text: &str) -> Result<Gate<M>, NoFlow> {
        assert!(words.words() >= WORDS, "{} words for units", words.words());
        let mut table = Reservations::new();
        for one in parse(text) {
            let (flow, limit) = one?;
            table.set(flow, limit).map_err(|_| NoFlow)?;
        }
        Ok(Gate { table, words, session: 0, seen: [Ended::default(); WORDS] })
    }

    /// Whether a frame in a buffer of the sender passes: the mark that it gets. None if it has to
    /// be dropped.
    #[inline]
    pub fn admit(&mut self, to: &Sender<M>, frame: &Owned, length: usize) -> Option<u32> {
        let mut head = [0; HEAD];
        let head = &mut head[..length.min(HEAD)];
        to.read(frame, head);
        self.admit_bytes(to, head)
    }

    /// Whether a frame that begins with these bytes passes: the mark that it gets. None if it has
    /// to be dropped.
    #[inline]
    pub fn admit_bytes(&mut self, to: &Sender<M>, head: &[u8]) -> Option<u32> {
        to.session()?;
        self.look(to);
        let Some(id) = self.table.find(Key::of(head)) else { return Some(0) };
        self.settle(id);
        self.table.take(id).then_some(id.index() as u32 + 1)
    }

    /// Looks whether the server was started again. Before requests are answered.
    #[inline]
    pub fn look(&mut self, to: &Sender<M>) {
        if let Some(session) = to.session()
            && session != self.session
        {
            self.begin(session);
        }
    }

    /// What the former server had is gone.
    #[cold]
    fn begin(&mut self, session: u32) {
        self.session = session;
        self.seen = [Ended { session, ..Ended::default() }; WORDS];
        self.table.forget();
    }

    /// Gives back the units of the packets that have ended since the last look.
    #[inline]
    fn settle(&mut self, id: Id) {
        let seen = &mut self.seen[id.index()];
        let now = Ended::from(self.words.load(id.index()));
        if now.session != self.session || now == *seen {
            return;
        }
        let read = now.read.wrapping_sub(seen.read);
        let strays = now.strays.wrapping_sub(seen.strays);
        *seen = now;
        self.table.end(id, read.into(), strays.into());
    }

    fn settle_all(&mut self) {
        Reservations::ids().for_each(|id| self.settle(id));
    }
}

impl<M: Memory> Receive for Gate<M> {
    fn list(&mut self, _: Badge, place: u32) -> Result<Option<Reservation>, Refusal> {
        self.settle_all();
        Ok(self.table.iter().nth(place as usize).copied())
    }

    fn set(&mut self, _: Badge, flow: Flow, limit: u32) -> Result<(), Refusal> {
        self.table.set(flow, limit)
    }

    fn remove(&mut self, _: Badge, flow: Flow) -> Result<(), Refusal> {
        self.settle_all();
        self.table.remove(flow)
    }

    fn reset(&mut self, _: Badge, flow: Flow) -> Result<(), Refusal> {
        self.settle_all();
        self.table.reset(flow)
    }
}
