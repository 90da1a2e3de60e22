//! The driver of a disk: blocks for one client, over a link of rings. The device reads and writes
//! the buffers of the link itself.

use super::{Hardware, start};
use ring::{Held, Owned, Receiver, Sender, Side};
use rt::device::Registers;
use rt::prelude::*;
use rt::{Slot, Words, ipc, signal};
use virtio::block::{BLOCK, DONE, LAYOUT, REFUSED};
use virtio::mmio::{Device, kind};
use virtio::{Buffer, Part, Queue, Used};

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

struct Driver {
    hardware: Hardware,
    device: Device<Registers>,
    queue: Queue<Words, Pending, DESCRIPTORS>,
    ring: u64,
    blocks: u64,
    /// The headers, and those that no request has, a bit each.
    headers: Part,
    free: u64,
    /// The requests, and the blocks that were read; where the buffers of each begin.
    requests: Receiver<Words>,
    data: Sender<Words>,
    places: [u64; 2],
    /// A buffer for the next read.
    next: Option<Owned>,
    client: Slot,
}

/// The driver: also memory `link`, capabilities `link` (physical) and `client` (signal). The client
/// signals the bell too.
pub fn driver(env: &Env) {
    let mut hardware = Hardware::of(env);
    let link = Part::of(env, "link").expect("the manifest gives `physical`");
    let headers = hardware.queue.cut((8 * STRIDE * LAYOUT.buffers()) as u64);
    let ring = hardware.queue.cut(Queue::<Words, Pending, DESCRIPTORS>::LAYOUT.bytes);
    let device = hardware.reset(kind::BLOCK);
    let queue = Queue::new(ring.words);
    start(&device, &[(DESCRIPTORS, ring.address)]);
    let sectors = device.configuration(CAPACITY).expect("the capacity stands still");
    let (data, requests) = ring::link(link.words, LAYOUT, Side::Second);
    let mut driver = Driver {
        hardware,
        device,
        queue,
        ring: ring.address,
        blocks: sectors / (BLOCK / SECTOR) as u64,
        headers,
        free: (1 << LAYOUT.buffers()) - 1,
        requests,
        data,
        places: [link.address, link.address + 8 * LAYOUT.words() as u64],
        next: None,
        client: env.cap("client"),
    };
    loop {
        driver.work();
        if driver.may_wait() {
            let bell = ipc::receive(env.cap("bell"), Wait::NEVER);
            driver.hardware.acknowledge(&driver.device, bell.expect("the notification is there"));
        }
    }
}

impl Driver {
    /// Does what there is to do.
    fn work(&mut self) {
        for _ in 0..LAYOUT.buffers() {
            // A client that lies is taken for dead until it is started again.
            if !matches!(self.data.returned(), Ok(Some(_))) {
                break;
            }
        }
        self.complete();
        self.submit();
        if self.data.publish() | self.requests.publish() {
            signal::signal(self.client).expect("the client's notification is there");
        }
    }

    /// Without a buffer for what is read no request is taken, so that only a buffer helps.
    fn may_wait(&mut self) -> bool {
        self.data.may_wait() & (self.next.is_none() || self.requests.may_wait())
    }

    /// Answers what the device has done with.
    fn complete(&mut self) {
        loop {
            match self.queue.take() {
                Ok(None) => return,
                Ok(Some(Used { request, bytes })) => {
                    let status = self.headers.words.get(STRIDE * request.header + 2) & 0xff;
                    let wanted = if request.into.is_some() { BLOCK + STATUS } else { STATUS };
                    self.answer(request, status == OK && bytes as usize == wanted);
                }
                Err(_) => return self.reset(),
            }
        }
    }

    /// Begins anew with a device that has lied. What it had is refused.
    fn reset(&mut self) {
        self.device = self.hardware.reset(kind::BLOCK);
        let mut had = [const { None }; LAYOUT.buffers()];
        let mut places = had.iter_mut();
        self.queue.reset(|request| *places.next().expect("of each buffer one") = Some(request));
        start(&self.device, &[(DESCRIPTORS, self.ring)]);
        had.into_iter().flatten().for_each(|request| self.answer(request, false));
    }

    fn answer(&mut self, request: Pending, served: bool) {
        self.free |= 1 << request.header;
        if let Some(owned) = request.into {
            match self.requests.place(&request.held) {
                Some(_) => self.data.fill(owned, if served { BLOCK } else { 0 }, request.block),
                // Another client, which has not asked for it.
                None => self.data.release(owned),
            }
        }
        self.requests.give_back(request.held, if served { DONE } else { REFUSED });
    }

    /// Hands requests of the client to the device, as long as there is a buffer for what is read.
    fn submit(&mut self) {
        let mut submitted = false;
        while self.free != 0 {
            self.next = self.next.take().or_else(|| self.data.acquire());
            if self.next.is_none() {
                break;
            }
            let Ok(Some(held)) = self.requests.receive() else { break };
            submitted |= self.submit_one(held);
        }
        if submitted && self.queue.wants_notification() {
            self.device.notify(0);
        }
    }

    fn submit_one(&mut self, held: Held) -> bool {
        let block = held.mark();
        let (writes, from) = (held.len() == BLOCK, self.requests.place(&held));
        let from = from.filter(|_| writes || held.is_empty());
        let Some(from) = from.filter(|_| u64::from(block) < self.blocks) else {
            self.requests.give_back(held, REFUSED);
            return false;
        };
        let header = self.free.trailing_zeros() as usize;
        let into = if writes { None } else { self.next.take() };
        let data = match &into {
            Some(owned) => Buffer::written(self.places[1] + self.data.place(owned) as u64, BLOCK),
            None => Buffer::read(self.places[0] + from as u64, BLOCK),
        };
        let sector = u64::from(block) * (BLOCK / SECTOR) as u64;
        let words = [if writes { WRITE } else { READ }, sector, UNTOUCHED];
        for (at, word) in words.into_iter().enumerate() {
            self.headers.words.set(STRIDE * header + at, word);
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
