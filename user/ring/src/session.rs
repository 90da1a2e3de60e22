//! What both ends do: publish, look at what the peer has published, wait without missing it.
//!
//! A published word has the generation of the end that writes it, the generation of the peer that
//! it has seen, and how many descriptors it has written in this session. A *session* is a pair of
//! generations that name each other; counts begin at 0 in each. An end that is started again takes
//! a new generation, which the peer sees at its next look.

use crate::layout::{RECEIVER, SENDER, WAITS};
use crate::{Layout, Lie, Memory};

/// A published word.
#[derive(Clone, Copy, Default)]
struct Published {
    generation: u16,
    partner: u16,
    count: u32,
}

impl From<u64> for Published {
    fn from(word: u64) -> Published {
        let (generation, partner) = ((word >> 48) as u16, (word >> 32) as u16);
        Published { generation, partner, count: word as u32 }
    }
}

impl From<Published> for u64 {
    fn from(published: Published) -> u64 {
        let Published { generation, partner, count } = published;
        u64::from(generation) << 48 | u64::from(partner) << 32 | u64::from(count)
    }
}

/// One end of the sessions of a channel.
pub(crate) struct Session<M> {
    pub memory: M,
    pub layout: Layout,
    own: usize,
    peer: usize,
    /// What is published next; `count` is what this end has made.
    next: Published,
    /// What the peer had published at the last look.
    seen: u64,
    /// How many of the peer's descriptors were taken.
    taken: u32,
    /// The peer of this generation has lied.
    refused: bool,
    /// `next` is not published.
    changed: bool,
    /// Nothing was published yet. An earlier generation may have died before its signal, so the
    /// first one is always sent.
    first: bool,
}

impl<M: Memory> Session<M> {
    #[track_caller]
    pub fn sender(memory: M, layout: Layout) -> Session<M> {
        Session::new(memory, layout, SENDER, RECEIVER)
    }

    #[track_caller]
    pub fn receiver(memory: M, layout: Layout) -> Session<M> {
        Session::new(memory, layout, RECEIVER, SENDER)
    }

    #[track_caller]
    fn new(memory: M, layout: Layout, own: usize, peer: usize) -> Session<M> {
        let (words, all) = (layout.words(), memory.words());
        assert!(words <= all, "a channel of {words} words in memory of {all}");
        let last = Published::from(memory.load(own)).generation;
        let known = Published::from(memory.load(peer)).partner;
        // The peer must see that it is new, also if it refuses the last one.
        let generation = (1..=3).map(|step| last.wrapping_add(step));
        let generation = generation.into_iter().find(|one| *one != 0 && *one != known);
        let next = Published { generation: generation.unwrap_or(1), ..Published::default() };
        Session {
            memory,
            layout,
            own,
            peer,
            next,
            seen: 0,
            taken: 0,
            refused: false,
            changed: true,
            first: true,
        }
    }

    /// Looks at the peer. True if it is a new one: a session begins, and the peer holds nothing.
    #[inline]
    pub fn look(&mut self) -> bool {
        if !self.peek() {
            return false;
        }
        let partner = Published::from(self.seen).generation;
        self.next = Published { partner, count: 0, ..self.next };
        self.taken = 0;
        self.refused = false;
        self.changed = true;
        true
    }

    /// Looks at the peer, and stays in the session. True if it is a new one, which is in none.
    #[inline]
    pub fn peek(&mut self) -> bool {
        self.seen = self.memory.load(self.peer);
        let peer = Published::from(self.seen).generation;
        peer != 0 && peer != self.next.partner
    }

    /// Whether the peer has not begun again since the session began, as of now.
    #[inline]
    pub fn is_same(&self) -> bool {
        Published::from(self.memory.load(self.peer)).generation == self.next.partner
    }

    /// Whether the peer of the last look is in a session with this end.
    #[inline]
    pub fn is_connected(&self) -> bool {
        let peer = Published::from(self.seen);
        let next = self.next;
        !self.refused && (peer.generation, peer.partner) == (next.partner, next.generation)
    }

    /// The generations of this end and of the peer, if they are in a session.
    #[inline]
    pub fn generations(&self) -> Option<[u16; 2]> {
        self.is_connected().then_some([self.next.generation, self.next.partner])
    }

    /// How many of the peer's descriptors are left to take, as of the last look; at most so many
    /// can be.
    #[inline]
    pub fn left(&mut self, most: u32) -> Result<u32, Lie> {
        let left = self.untaken();
        if left > most { Err(self.refuse(Lie::Count)) } else { Ok(left) }
    }

    #[inline]
    fn untaken(&self) -> u32 {
        let count = Published::from(self.seen).count;
        if self.is_connected() { count.wrapping_sub(self.taken) } else { 0 }
    }

    /// Takes one of the descriptors that are left: its count.
    #[inline]
    pub fn take(&mut self) -> u32 {
        let count = self.taken;
        self.taken = count.wrapping_add(1);
        count
    }

    /// Makes a descriptor: its count.
    #[inline]
    pub fn make(&mut self) -> u32 {
        let count = self.next.count;
        self.next.count = count.wrapping_add(1);
        self.changed = true;
        count
    }

    /// The peer is not listened to until it begins again. The own word is published once more: the
    /// peer may have written over it, and the next one chooses its generation by it.
    #[cold]
    pub fn refuse(&mut self, lie: Lie) -> Lie {
        self.refused = true;
        self.changed = true;
        lie
    }

    /// Publishes all that was made. True if the peer waits, and has to be signalled.
    #[inline]
    pub fn publish(&mut self) -> bool {
        if !self.changed {
            return false;
        }
        self.changed = false;
        self.memory.store(self.own, self.next.into());
        self.memory.fence();
        let waits = self.memory.load(self.peer + WAITS) != 0;
        if waits {
            self.memory.store(self.peer + WAITS, 0);
        }
        waits | core::mem::take(&mut self.first)
    }

    /// Says that this end waits. False if it must not, since there is something to look at.
    #[inline]
    pub fn may_wait(&mut self) -> bool {
        self.memory.store(self.own + WAITS, 1);
        self.memory.fence();
        let may = self.memory.load(self.peer) == self.seen && self.untaken() == 0;
        if !may {
            self.memory.store(self.own + WAITS, 0);
        }
        may
    }
}
