//! The driver of a disk: blocks for one client.

use super::{Driver, Hardware, Link};
use crate::block::{BLOCK, DONE, LAYOUT, REFUSED};
use crate::mmio::{Registers, kind};
use crate::queue::Layout;
use crate::{Buffer, Part, Queue, Shared, Used};
use ring::{Held, Memory, Owned};

/// Descriptors: of a request there are three.
const DESCRIPTORS: usize = 32;
/// Bytes of a sector, in which the device counts.
const SECTOR: usize = 512;
/// Where the device tells how many sectors it has.
const CAPACITY: usize = 0;
/// What a request begins with, and what the device writes at its end.
const HEADER: usize = 16;
const STATUS: usize = 1;
/// From the header of a request to that of the next one, in words; the status is behind a header.
const STRIDE: usize = 4;
/// Types of requests.
const READ: u64 = 0;
const WRITE: u64 = 1;
/// A status that the device does not write, and that of success.
const UNTOUCHED: u64 = 0xff;
const OK: u64 = 0;

/// A request that the device has.
struct Pending {
    held: Held,
    /// Where a read puts the block.
    into: Option<Owned>,
    block: u32,
    /// The index of its header.
    header: usize,
}

/// The driver. The device reads and writes the buffers of the link.
pub struct BlockDriver<R, S, M> {
    hardware: Hardware<R, 1>,
    queue: Queue<S, Pending, DESCRIPTORS>,
    blocks: u64,
    /// The headers, and those that no request has, a bit each.
    headers: Part<S>,
    free: u64,
    link: Link<M>,
    /// A buffer for the next read.
    next: Option<Owned>,
}

impl<R: Registers + Clone, S: Shared, M: Memory> BlockDriver<R, S, M> {
    /// Bytes of the memory for headers.
    pub const HEADERS: u64 = (8 * STRIDE * LAYOUT.buffers()) as u64;
    /// Bytes of the memory for the queue.
    pub const QUEUE: u64 = Layout::of(DESCRIPTORS).bytes;

    /// A driver with these memories, which begins with the device anew.
    ///
    /// # Panics
    ///
    /// If the device cannot be used.
    pub fn new(registers: R, headers: Part<S>, queue: Part<S>, link: Link<M>) -> Self {
        let queues = [(DESCRIPTORS as u32, queue.address)];
        let hardware = Hardware::new(registers, kind::BLOCK, queues);
        let queue = Queue::new(queue.words);
        hardware.start();
        let capacity = hardware.device.configuration(CAPACITY);
        let sectors = capacity.expect("the capacity stands still");
        let blocks = sectors / (BLOCK / SECTOR) as u64;
        let free = (1 << LAYOUT.buffers()) - 1;
        BlockDriver { hardware, queue, blocks, headers, free, link, next: None }
    }

    /// Answers what the device has done with.
    fn complete(&mut self) {
        loop {
            match self.queue.take() {
                Ok(None) => return,
                Ok(Some(Used { request, bytes })) => {
                    let status = self.headers.words.load(STRIDE * request.header + 2) & 0xff;
                    let wanted = if request.into.is_some() { BLOCK + STATUS } else { STATUS };
                    self.answer(request, status == OK && bytes as usize == wanted);
                }
                Err(_) => return self.reset(),
            }
        }
    }

    /// Begins anew with a device that is broken. What it had is refused.
    fn reset(&mut self) {
        self.hardware.reset();
        let mut had = [const { None }; LAYOUT.buffers()];
        let mut places = had.iter_mut();
        self.queue.reset(|request| *places.next().expect("of each buffer one") = Some(request));
        self.hardware.start();
        had.into_iter().flatten().for_each(|request| self.answer(request, false));
    }

    fn answer(&mut self, request: Pending, served: bool) {
        self.free |= 1 << request.header;
        let Link { sender, receiver, .. } = &mut self.link;
        if let Some(owned) = request.into {
            match receiver.place(&request.held) {
                Some(_) => sender.fill(owned, if served { BLOCK } else { 0 }, request.block),
                // Another client, which has not asked for it.
                None => sender.release(owned),
            }
        }
        receiver.give_back(request.held, if served { DONE } else { REFUSED });
    }

    /// Hands requests of the client to the device, as long as there is a buffer for what is read.
    fn submit(&mut self) {
        let mut submitted = false;
        // Not for as long as a client goes on with requests that are refused.
        for _ in 0..LAYOUT.buffers() {
            if self.free == 0 {
                break;
            }
            self.next = self.next.take().or_else(|| self.link.sender.acquire());
            if self.next.is_none() {
                break;
            }
            let Ok(Some(held)) = self.receive() else { break };
            submitted |= self.submit_one(held);
        }
        if submitted && self.queue.wants_notification() {
            self.hardware.device.notify(0);
        }
    }

    /// The next request. A client that has begun again has no buffers as long as the device may
    /// read what the former one has written into them.
    fn receive(&mut self) -> Result<Option<Held>, ring::Lie> {
        match self.queue.requests() {
            0 => self.link.receiver.receive(),
            _ => self.link.receiver.receive_same(),
        }
    }

    fn submit_one(&mut self, held: Held) -> bool {
        let block = held.mark();
        let writes = held.len() == BLOCK;
        let from = self.link.address_of_held(&held).filter(|_| writes || held.is_empty());
        let Some(from) = from.filter(|_| u64::from(block) < self.blocks) else {
            self.link.receiver.give_back(held, REFUSED);
            return false;
        };
        let header = self.free.trailing_zeros() as usize;
        let into = if writes { None } else { self.next.take() };
        let data = match &into {
            Some(owned) => Buffer::written(self.link.address_of_owned(owned), BLOCK),
            None => Buffer::read(from, BLOCK),
        };
        let sector = u64::from(block) * (BLOCK / SECTOR) as u64;
        let words = [if writes { WRITE } else { READ }, sector, UNTOUCHED];
        for (at, word) in words.into_iter().enumerate() {
            self.headers.words.store(STRIDE * header + at, word);
        }
        let at = self.headers.address + (8 * STRIDE * header) as u64;
        let status = Buffer::written(at + HEADER as u64, STATUS);
        let request = Pending { held, into, block, header };
        let buffers = [Buffer::read(at, HEADER), data, status];
        match self.queue.submit(&buffers, request) {
            Ok(()) => {
                self.free &= !(1 << header);
                true
            }
            // Only a broken queue has no room.
            Err(request) => {
                self.answer(request, false);
                false
            }
        }
    }
}

impl<R: Registers + Clone, S: Shared, M: Memory> Driver for BlockDriver<R, S, M> {
    fn work(&mut self) -> bool {
        self.link.collect();
        self.complete();
        self.submit();
        self.link.publish()
    }

    /// Without a buffer for what is read, or a header, no request is taken, so that only a buffer
    /// or the device helps.
    fn may_wait(&mut self) -> bool {
        let takes = self.free != 0 && self.next.is_some();
        let Link { sender, receiver, .. } = &mut self.link;
        sender.may_wait_for_room() & (!takes || receiver.may_wait())
    }

    fn interrupted(&mut self) {
        if self.hardware.device.acknowledge() {
            self.reset();
        }
    }
}
