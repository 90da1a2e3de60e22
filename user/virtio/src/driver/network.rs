//! The driver of a network card: frames between a network server and the device.

use super::{Driver, Hardware, Link};
use crate::mmio::{Registers, kind};
use crate::{Broken, Buffer, Part, Queue, Shared};
use ring::{Held, Layout, Memory, Owned, Sender};

/// What is in front of each frame, all of it zero in those that are sent, and the room for it.
const HEADER: usize = 12;
const STRIDE: u64 = 16;
/// The shortest frame: an Ethernet header.
const LEAST: usize = 14;
/// The numbers of the queues.
const INPUT: u32 = 0;
const OUTPUT: u32 = 1;

/// What decides which frames pass to the server.
pub trait Admission<M> {
    /// The mark of a frame that came, of so many bytes in a buffer of the sender; none if it is
    /// dropped.
    fn admit(&mut self, to: &Sender<M>, frame: &Owned, length: usize) -> Option<u32>;
}

/// The driver. The device reads and writes the buffers of the link. Each queue has `N` descriptors,
/// two for each buffer of a channel.
pub struct NetworkDriver<R, S, M, A, const N: usize> {
    hardware: Hardware<R, 2>,
    input: Queue<S, Owned, N>,
    output: Queue<S, Held, N>,
    /// One for each frame that comes, then one for all that go.
    headers: u64,
    link: Link<M>,
    layout: Layout,
    admission: A,
    /// The longest frame.
    most: usize,
}

impl<R, S, M, A, const N: usize> NetworkDriver<R, S, M, A, N>
where
    R: Registers + Clone,
    S: Shared,
    M: Memory,
    A: Admission<M>,
{
    /// Bytes of the memory for headers.
    pub const HEADERS: u64 = STRIDE * (N as u64 / 2 + 1);
    /// Bytes of the memory for each of the two queues.
    pub const QUEUE: u64 = crate::queue::Layout::of(N).bytes;

    /// A driver that begins with the device anew: the physical address of its headers, all of them
    /// zero, the memories of the queues for what comes and what goes, what passes, and the bytes of
    /// the longest frame.
    ///
    /// # Panics
    ///
    /// If the device cannot be used, or the link has another number of buffers.
    pub fn new(
        registers: R,
        headers: u64,
        queues: [Part<S>; 2],
        (link, layout): (Link<M>, Layout),
        admission: A,
        most: usize,
    ) -> Self {
        assert!(N == 2 * layout.buffers() && most <= layout.size(), "another layout");
        let [input, output] = queues;
        let places = [input.address, output.address].map(|address| (N as u32, address));
        let hardware = Hardware::new(registers, kind::NETWORK, places);
        let (input, output) = (Queue::new(input.words), Queue::new(output.words));
        hardware.start();
        NetworkDriver { hardware, input, output, headers, link, layout, admission, most }
    }

    /// What decides which frames pass, and the sender that they pass to.
    pub fn admission(&mut self) -> (&mut A, &Sender<M>) {
        (&mut self.admission, &self.link.sender)
    }

    /// Gives the server the frames that have come and pass. What is no frame is dropped.
    fn receive(&mut self) -> Result<(), Broken> {
        let NetworkDriver { input, link: Link { sender, .. }, admission, .. } = self;
        while let Some(used) = input.take()? {
            let frame = (used.bytes as usize).checked_sub(HEADER).filter(|length| *length > 0);
            let passes = frame
                .and_then(|length| Some((length, admission.admit(sender, &used.request, length)?)));
            match passes {
                Some((length, mark)) => sender.fill(used.request, length, mark),
                None => sender.release(used.request),
            }
        }
        Ok(())
    }

    /// Gives the server back the buffers of the frames that have gone.
    fn sent(&mut self) -> Result<(), Broken> {
        while let Some(used) = self.output.take()? {
            self.link.receiver.give_back(used.request, 0);
        }
        Ok(())
    }

    /// Begins anew with a device that is broken. The frames that it had are lost.
    fn reset(&mut self) {
        self.hardware.reset();
        let Link { sender, receiver, .. } = &mut self.link;
        self.input.reset(|owned| sender.release(owned));
        self.output.reset(|held| receiver.give_back(held, 0));
        self.hardware.start();
    }

    /// Gives the device all free buffers for what comes.
    fn refill(&mut self) {
        let mut filled = false;
        while let Some(owned) = self.link.sender.acquire() {
            let header = Buffer::written(self.headers + STRIDE * owned.index() as u64, HEADER);
            let frame = Buffer::written(self.link.address_of_owned(&owned), self.most);
            match self.input.submit(&[header, frame], owned) {
                Ok(()) => filled = true,
                Err(owned) => {
                    self.link.sender.release(owned);
                    break;
                }
            }
        }
        if filled && self.input.wants_notification() {
            self.hardware.device.notify(INPUT);
        }
    }

    /// Gives the device what the server sends. What is no frame is dropped: devices take one that
    /// is empty for a fault of their driver.
    fn send(&mut self) {
        let mut filled = false;
        // Also while the server goes on: others have their turn.
        for _ in 0..self.layout.buffers() {
            let Ok(Some(held)) = self.link.receiver.receive() else { break };
            match self.send_one(held) {
                Ok(()) => filled = true,
                Err(held) => self.link.receiver.give_back(held, 0),
            }
        }
        if filled && self.output.wants_notification() {
            self.hardware.device.notify(OUTPUT);
        }
    }

    fn send_one(&mut self, held: Held) -> Result<(), Held> {
        let place = self.link.address_of_held(&held);
        let length = held.len();
        let is_frame = (LEAST..=self.most).contains(&length);
        let Some(place) = place.filter(|_| is_frame) else { return Err(held) };
        let header = self.headers + STRIDE * self.layout.buffers() as u64;
        let buffers = [Buffer::read(header, HEADER), Buffer::read(place, length)];
        self.output.submit(&buffers, held)
    }
}

impl<R, S, M, A, const N: usize> Driver for NetworkDriver<R, S, M, A, N>
where
    R: Registers + Clone,
    S: Shared,
    M: Memory,
    A: Admission<M>,
{
    fn work(&mut self) -> bool {
        self.link.collect();
        if self.receive().is_err() || self.sent().is_err() {
            self.reset();
        }
        self.refill();
        self.send();
        self.link.publish()
    }

    fn may_wait(&mut self) -> bool {
        self.link.sender.may_wait_for_room() & self.link.receiver.may_wait()
    }

    fn interrupted(&mut self) {
        if self.hardware.device.acknowledge() {
            self.reset();
        }
    }
}
