//! The end that empties buffers.

use crate::descriptor::Descriptor;
use crate::session::Session;
use crate::{Layout, Lie, Memory};

/// The end of a channel that takes buffers, reads them, and gives them back.
pub struct Receiver<M> {
    session: Session<M>,
    /// The buffers that the receiver has.
    held: u64,
    /// How many sessions there were. What is held from an earlier one is not given back.
    sessions: u32,
}

/// A filled buffer. One that is dropped does not go back to the sender.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Held {
    descriptor: Descriptor,
    session: u32,
}

impl Held {
    /// How many bytes are in it.
    pub fn len(&self) -> usize {
        self.descriptor.length.into()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the sender says of it.
    pub fn mark(&self) -> u32 {
        self.descriptor.mark
    }
}

impl<M: Memory> Receiver<M> {
    /// The receiver's end.
    ///
    /// # Panics
    ///
    /// If the memory is too short.
    #[track_caller]
    pub fn new(memory: M, layout: Layout) -> Receiver<M> {
        Receiver { session: Session::receiver(memory, layout), held: 0, sessions: 0 }
    }

    /// Whether there is a sender, as of the last call of [`Receiver::receive`].
    pub fn is_connected(&self) -> bool {
        self.session.is_connected()
    }

    /// The session, if there is a sender: a number that both ends have.
    #[inline]
    pub fn session(&self) -> Option<u32> {
        let [own, peer] = self.session.generations()?;
        Some(u32::from(peer) << 16 | u32::from(own))
    }

    /// The next filled buffer. Nothing bounds how many a sender fills while they are taken: take
    /// no more in one go than there are buffers.
    pub fn receive(&mut self) -> Result<Option<Held>, Lie> {
        if self.session.look() {
            self.held = 0;
            self.sessions = self.sessions.wrapping_add(1);
        }
        self.take()
    }

    /// The next filled buffer of the same sender. One that has begun again gets no session before
    /// [`Receiver::receive`], so that it has no buffers: a device may still read those of the
    /// former one.
    pub fn receive_same(&mut self) -> Result<Option<Held>, Lie> {
        self.session.peek();
        self.take()
    }

    fn take(&mut self) -> Result<Option<Held>, Lie> {
        let layout = self.session.layout;
        if self.session.left(layout.buffers() as u32 - self.held.count_ones())? == 0 {
            return Ok(None);
        }
        let at = layout.filled(self.session.take());
        let descriptor = Descriptor::from(self.session.memory.load(at));
        let bit = 1u64.checked_shl(descriptor.buffer.into()).unwrap_or(0);
        if layout.all() & !self.held & bit == 0 {
            return Err(self.session.refuse(Lie::Buffer));
        }
        if usize::from(descriptor.length) > layout.size() {
            return Err(self.session.refuse(Lie::Length));
        }
        self.held |= bit;
        Ok(Some(Held { descriptor, session: self.sessions }))
    }

    /// Copies the bytes of a buffer out, as many as there is room for; none if its sender is gone.
    /// The sender may change them meanwhile, so they are judged only in the copy.
    pub fn read<'a>(&self, held: &Held, into: &'a mut [u8]) -> &'a mut [u8] {
        let there = if held.session == self.sessions { held.len() } else { 0 };
        let length = there.min(into.len());
        let into = &mut into[..length];
        let from = self.session.layout.buffer(held.descriptor.buffer.into());
        self.session.memory.read(from, into);
        into
    }

    /// Where a buffer begins, in bytes from the first one of the channel's memory: for a device
    /// that reads it instead. None if its sender is gone, as of now.
    pub fn place(&self, held: &Held) -> Option<usize> {
        let there = held.session == self.sessions && self.session.is_same();
        there.then(|| self.session.layout.buffer(held.descriptor.buffer.into()))
    }

    /// Gives a buffer back. The sender sees it when it is published. Nothing happens if that sender
    /// is gone.
    pub fn give_back(&mut self, held: Held, mark: u32) {
        if held.session != self.sessions {
            return;
        }
        self.held &= !(1 << held.descriptor.buffer);
        let at = self.session.layout.returned(self.session.make());
        let back = Descriptor { length: 0, mark, ..held.descriptor };
        self.session.memory.store(at, back.into());
    }

    /// Publishes what was given back. True if the sender has to be signalled.
    #[must_use = "the sender may wait for a signal"]
    #[inline]
    pub fn publish(&mut self) -> bool {
        self.session.publish()
    }

    /// To be asked before the thread waits for filled buffers. False if it must not wait, since
    /// there is something to look at.
    #[must_use = "a signal comes only if this is true"]
    #[inline]
    pub fn may_wait(&mut self) -> bool {
        self.session.may_wait()
    }
}
