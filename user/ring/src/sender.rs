//! The end that fills buffers.

use crate::descriptor::Descriptor;
use crate::session::Session;
use crate::{Layout, Lie, Memory};

/// The end of a channel that owns the buffers, fills them, and gets them back.
pub struct Sender<M> {
    session: Session<M>,
    /// The buffers that nothing uses, and those that the receiver has.
    free: u64,
    away: u64,
    /// The buffers of a receiver that is gone, which `returned` tells one after the other.
    lost: u64,
}

/// A buffer that the sender writes. One that is dropped is lost to the channel.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Owned {
    buffer: u16,
}

impl Owned {
    /// Its index, for what the sender knows of each buffer.
    pub fn index(&self) -> usize {
        self.buffer.into()
    }
}

/// A buffer that came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Returned {
    /// Its index.
    pub buffer: usize,
    /// What the receiver says of it; none if that one is gone.
    pub mark: Option<u32>,
}

impl<M: Memory> Sender<M> {
    /// The sender's end. All buffers are free.
    ///
    /// # Panics
    ///
    /// If the memory is too short.
    #[track_caller]
    pub fn new(memory: M, layout: Layout) -> Sender<M> {
        let session = Session::sender(memory, layout);
        Sender { session, free: layout.all(), away: 0, lost: 0 }
    }

    /// Whether a receiver takes what is sent, as of the last call of [`Sender::returned`].
    pub fn is_connected(&self) -> bool {
        self.session.is_connected()
    }

    /// The session, if there is a receiver: a number that both ends have.
    #[inline]
    pub fn session(&self) -> Option<u32> {
        let [own, peer] = self.session.generations()?;
        Some(u32::from(own) << 16 | u32::from(peer))
    }

    /// How many buffers the receiver has.
    pub fn away(&self) -> usize {
        self.away.count_ones() as usize
    }

    /// Whether there is a free buffer, and a receiver.
    pub fn can_send(&self) -> bool {
        self.free != 0 && self.is_connected()
    }

    /// A free buffer; none if there is none, or no receiver.
    #[inline]
    pub fn acquire(&mut self) -> Option<Owned> {
        self.can_send().then(|| {
            let buffer = self.free.trailing_zeros() as u16;
            self.free &= self.free - 1;
            Owned { buffer }
        })
    }

    /// Where a buffer begins, in bytes from the first one of the channel's memory: for a device
    /// that writes it instead.
    pub fn place(&self, owned: &Owned) -> usize {
        self.session.layout.buffer(owned.index())
    }

    /// Writes bytes of a buffer, from the one at `from` on.
    ///
    /// # Panics
    ///
    /// If there is no room.
    #[track_caller]
    pub fn write(&mut self, owned: &Owned, from: usize, bytes: &[u8]) {
        let layout = self.session.layout;
        let fits = from.checked_add(bytes.len()).is_some_and(|end| end <= layout.size());
        assert!(fits, "{} bytes from byte {from} of a buffer of {}", bytes.len(), layout.size());
        self.session.memory.write(layout.buffer(owned.index()) + from, bytes);
    }

    /// Copies bytes of a buffer out, from its first one on: those that a device has written.
    ///
    /// # Panics
    ///
    /// If they are more than a buffer has.
    #[track_caller]
    #[inline]
    pub fn read(&self, owned: &Owned, into: &mut [u8]) {
        let layout = self.session.layout;
        assert!(
            into.len() <= layout.size(),
            "{} bytes of a buffer of {}",
            into.len(),
            layout.size()
        );
        self.session.memory.read(layout.buffer(owned.index()), into);
    }

    /// Gives a buffer to the receiver, with so many bytes in it. The receiver sees it when it is
    /// published.
    ///
    /// # Panics
    ///
    /// If a buffer has fewer bytes.
    #[track_caller]
    pub fn fill(&mut self, owned: Owned, length: usize, mark: u32) {
        let layout = self.session.layout;
        assert!(length <= layout.size(), "{length} bytes in a buffer of {}", layout.size());
        let bit = 1 << owned.buffer;
        if !self.is_connected() {
            self.free |= bit;
            return;
        }
        self.away |= bit;
        let descriptor = Descriptor { buffer: owned.buffer, length: length as u16, mark };
        let at = layout.filled(self.session.make());
        self.session.memory.store(at, descriptor.into());
    }

    /// Gives back a buffer without filling it.
    pub fn release(&mut self, owned: Owned) {
        self.free |= 1 << owned.buffer;
    }

    /// Copies bytes into a buffer and gives it to the receiver; false if that is not possible now.
    ///
    /// # Panics
    ///
    /// If they are more than a buffer has.
    #[track_caller]
    pub fn send(&mut self, bytes: &[u8], mark: u32) -> bool {
        let Some(owned) = self.acquire() else { return false };
        self.write(&owned, 0, bytes);
        self.fill(owned, bytes.len(), mark);
        true
    }

    /// The next buffer that came back, which is free again; also those of a receiver that is gone.
    pub fn returned(&mut self) -> Result<Option<Returned>, Lie> {
        if self.session.look() {
            self.lose();
        }
        if self.lost != 0 {
            let buffer = self.lost.trailing_zeros() as usize;
            self.lost &= self.lost - 1;
            self.free |= 1 << buffer;
            return Ok(Some(Returned { buffer, mark: None }));
        }
        let back = self.take();
        if back.is_err() {
            self.lose();
        }
        back
    }

    fn take(&mut self) -> Result<Option<Returned>, Lie> {
        if self.session.left(self.away.count_ones())? == 0 {
            return Ok(None);
        }
        let at = self.session.layout.returned(self.session.take());
        let Descriptor { buffer, mark, .. } = self.session.memory.load(at).into();
        let bit = 1u64.checked_shl(buffer.into()).unwrap_or(0);
        if self.away & bit == 0 {
            return Err(self.session.refuse(Lie::Buffer));
        }
        self.away &= !bit;
        self.free |= bit;
        Ok(Some(Returned { buffer: buffer.into(), mark: Some(mark) }))
    }

    fn lose(&mut self) {
        self.lost |= core::mem::take(&mut self.away);
    }

    /// Publishes what was filled. True if the receiver has to be signalled.
    #[must_use = "the receiver may wait for a signal"]
    #[inline]
    pub fn publish(&mut self) -> bool {
        self.session.publish()
    }

    /// To be asked before the thread waits for buffers that come back. False if it must not wait,
    /// since there is something to look at.
    #[must_use = "a signal comes only if this is true"]
    #[inline]
    pub fn may_wait(&mut self) -> bool {
        self.lost == 0 && self.session.may_wait()
    }

    /// The same for a sender that waits for something else as well, and needs only a free buffer:
    /// as long as it has one, no signal comes for those that come back. A receiver that begins
    /// signals always.
    #[must_use = "a signal comes only if this is true"]
    #[inline]
    pub fn may_wait_for_room(&mut self) -> bool {
        self.lost == 0 && (self.can_send() || self.session.may_wait())
    }
}
