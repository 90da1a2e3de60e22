//! A driver's end of a link, whose buffers the device reads and writes itself.

use crate::Part;
use ring::{Held, Layout, Memory, Owned, Receiver, Sender, Side};
use rt::{Env, Words};

/// What a driver sends and receives, and where the device finds it.
pub struct Link<M> {
    /// What is sent to the client.
    pub sender: Sender<M>,
    /// What is received from it.
    pub receiver: Receiver<M>,
    layout: Layout,
    /// The physical addresses of the channels.
    sent: u64,
    received: u64,
}

impl Link<Words> {
    /// The link in the memory `link`, for which there is a capability of that name with the right
    /// `physical`.
    ///
    /// # Panics
    ///
    /// If the manifest does not give it.
    #[track_caller]
    pub fn of(env: &Env, layout: Layout) -> Link<Words> {
        let memory = Part::of(env, "link").expect("the manifest gives `physical`");
        Link::new(ring::link(memory.words, layout, Side::Second), layout, memory.address)
    }
}

impl<M: Memory> Link<M> {
    /// The second side of a link that begins at a physical address.
    pub fn new(ends: (Sender<M>, Receiver<M>), layout: Layout, address: u64) -> Link<M> {
        let (sender, receiver) = ends;
        let sent = address + 8 * layout.words() as u64;
        Link { sender, receiver, layout, sent, received: address }
    }

    /// The address of a buffer that was received; none if its sender is gone.
    pub fn address_of_held(&self, held: &Held) -> Option<u64> {
        Some(self.received + self.receiver.place(held)? as u64)
    }

    /// The address of a buffer to send.
    pub fn address_of_owned(&self, owned: &Owned) -> u64 {
        self.sent + self.sender.place(owned) as u64
    }

    /// Takes back buffers. A client that lies is taken for dead until it is started again.
    pub fn collect(&mut self) {
        for _ in 0..self.layout.buffers() {
            if !matches!(self.sender.returned(), Ok(Some(_))) {
                return;
            }
        }
    }

    /// Publishes what was sent and given back. True if the client has to be signalled.
    #[must_use = "the client may wait for a signal"]
    pub fn publish(&mut self) -> bool {
        self.sender.publish() | self.receiver.publish()
    }
}
