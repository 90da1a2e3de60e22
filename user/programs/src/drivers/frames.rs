//! The driver of a network card: frames between a network server and the device, which reads and
//! writes the buffers of their link itself.

use super::{Hardware, start};
use crate::network::{Bell, gate};
use flows::{Gate, Receive};
use network::{FRAME, LAYOUT};
use ring::{Held, Owned, Receiver, Sender, Side};
use rt::device::Registers;
use rt::prelude::*;
use rt::{Slot, Words, signal};
use virtio::mmio::{Device, kind};
use virtio::{Buffer, Part, Queue};

/// Descriptors of each queue: of a frame there are two.
const DESCRIPTORS: usize = 2 * LAYOUT.buffers();
/// What is in front of each frame, all of it zero in those that are sent, and the room for it.
const HEADER: usize = 12;
const STRIDE: u64 = 16;
/// The numbers of the queues.
const INPUT: u32 = 0;
const OUTPUT: u32 = 1;

struct Driver {
    hardware: Hardware,
    device: Device<Registers>,
    input: Queue<Words, Owned, DESCRIPTORS>,
    output: Queue<Words, Held, DESCRIPTORS>,
    queues: [(usize, u64); 2],
    /// One for each frame that comes, then one for all that go.
    headers: u64,
    sender: Sender<Words>,
    receiver: Receiver<Words>,
    /// Where the buffers of receiver and sender begin.
    places: [u64; 2],
    server: Slot,
    /// What passes to the server.
    gate: Gate<Words>,
}

/// The driver: also memory `link`, capabilities `link` (physical) and `server` (signal), argument
/// `receive`, the reservations. The server signals the bell too.
pub fn driver(env: &Env) {
    let mut hardware = Hardware::of(env);
    let link = Part::of(env, "link").expect("the manifest gives `physical`");
    let headers = hardware.queue.cut(STRIDE * (LAYOUT.buffers() as u64 + 1)).address;
    let [input, output] =
        [(); 2].map(|()| hardware.queue.cut(Queue::<Words, Owned, DESCRIPTORS>::LAYOUT.bytes));
    let device = hardware.reset(kind::NETWORK);
    let (sender, receiver) = ring::link(link.words, LAYOUT, Side::Second);
    let mut driver = Driver {
        hardware,
        device,
        input: Queue::new(input.words),
        output: Queue::new(output.words),
        queues: [input, output].map(|ring| (DESCRIPTORS, ring.address)),
        headers,
        sender,
        receiver,
        places: [link.address, link.address + 8 * LAYOUT.words() as u64],
        server: env.cap("server"),
        gate: gate(env, link.words, "receive"),
    };
    let bell = Bell::of(env, "bell");
    start(&driver.device, &driver.queues);
    loop {
        driver.work();
        let may_wait = driver.may_wait();
        let Driver { gate, sender, .. } = &mut driver;
        let signal = bell.next(may_wait, |request| {
            gate.look(sender);
            gate.dispatch(request)
        });
        if let Some(signal) = signal {
            driver.hardware.acknowledge(&driver.device, signal);
        }
    }
}

impl Driver {
    /// Does what there is to do.
    fn work(&mut self) {
        for _ in 0..LAYOUT.buffers() {
            // A server that lies is taken for dead until it is started again.
            if !matches!(self.sender.returned(), Ok(Some(_))) {
                break;
            }
        }
        if self.receive().is_err() || self.sent().is_err() {
            self.reset();
        }
        self.refill();
        self.send();
        if self.sender.publish() | self.receiver.publish() {
            signal::signal(self.server).expect("the server's notification is there");
        }
    }

    fn may_wait(&mut self) -> bool {
        self.sender.may_wait() & self.receiver.may_wait()
    }

    /// Gives the server the frames that have come. What is no frame, or has no unit, is dropped.
    fn receive(&mut self) -> Result<(), virtio::Broken> {
        while let Some(used) = self.input.take()? {
            let frame = (used.bytes as usize).checked_sub(HEADER).filter(|length| *length > 0);
            let passes = frame.and_then(|length| {
                Some((length, self.gate.admit(&self.sender, &used.request, length)?))
            });
            match passes {
                Some((length, mark)) => self.sender.fill(used.request, length, mark),
                None => self.sender.release(used.request),
            }
        }
        Ok(())
    }

    /// Gives the server back the buffers of the frames that have gone.
    fn sent(&mut self) -> Result<(), virtio::Broken> {
        while let Some(used) = self.output.take()? {
            self.receiver.give_back(used.request, 0);
        }
        Ok(())
    }

    /// Begins anew with a device that has lied. The frames that it had are lost.
    fn reset(&mut self) {
        self.device = self.hardware.reset(kind::NETWORK);
        self.input.reset(|owned| self.sender.release(owned));
        self.output.reset(|held| self.receiver.give_back(held, 0));
        start(&self.device, &self.queues);
    }

    /// Gives the device all free buffers for what comes.
    fn refill(&mut self) {
        let mut filled = false;
        while let Some(owned) = self.sender.acquire() {
            let header = self.headers + STRIDE * owned.index() as u64;
            let place = self.places[1] + self.sender.place(&owned) as u64;
            let buffers = [Buffer::written(header, HEADER), Buffer::written(place, FRAME)];
            match self.input.submit(&buffers, owned) {
                Ok(()) => filled = true,
                Err(owned) => {
                    self.sender.release(owned);
                    break;
                }
            }
        }
        if filled && self.input.wants_notification() {
            self.device.notify(INPUT);
        }
    }

    /// Gives the device what the server sends.
    fn send(&mut self) {
        let mut filled = false;
        // Also while the server goes on: others have their turn.
        for _ in 0..LAYOUT.buffers() {
            let Ok(Some(held)) = self.receiver.receive() else { break };
            let Some(place) = self.receiver.place(&held) else { break };
            let header = self.headers + STRIDE * LAYOUT.buffers() as u64;
            let frame = Buffer::read(self.places[0] + place as u64, held.len());
            match self.output.submit(&[Buffer::read(header, HEADER), frame], held) {
                Ok(()) => filled = true,
                Err(held) => self.receiver.give_back(held, 0),
            }
        }
        if filled && self.output.wants_notification() {
            self.device.notify(OUTPUT);
        }
    }
}
