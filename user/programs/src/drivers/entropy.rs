//! The driver of a source of random bytes.

use super::{Hardware, start};
use rt::device::Registers;
use rt::prelude::*;
use rt::{Slot, Words, ipc};
use virtio::entropy::{Entropy, NoEntropy};
use virtio::mmio::{Device, kind};
use virtio::{Buffer, Part, Queue};

/// Words that one request has the device write.
const WORDS: usize = 32;
/// How long the device may take for them.
const PATIENCE: Duration = Duration::from_millis(500);

/// Descriptors of the queue, of which one is used.
const REQUESTS: usize = 2;

type Requests = Queue<Words, (), REQUESTS>;

struct Source {
    hardware: Hardware,
    device: Device<Registers>,
    bell: Slot,
    requests: Requests,
    /// Where the requests are.
    ring: u64,
    /// Where the device writes, and the words there that no client has had.
    buffer: Part,
    left: usize,
}

/// The driver: also capability `entropy` (receive).
pub fn driver(env: &Env) {
    let mut hardware = Hardware::of(env);
    let buffer = hardware.queue.cut(8 * WORDS as u64);
    let ring = hardware.queue.cut(Requests::LAYOUT.bytes);
    let device = hardware.reset(kind::ENTROPY);
    let (bell, requests) = (env.cap("bell"), Queue::new(ring.words));
    start(&device, &[(REQUESTS, ring.address)]);
    let ring = ring.address;
    let mut source = Source { hardware, device, bell, requests, ring, buffer, left: 0 };
    let why = source.serve(env.cap("entropy"));
    panic!("no more requests: {why:?}");
}

impl Source {
    /// Has the device write into the buffer.
    fn refill(&mut self) -> Result<(), NoEntropy> {
        (0..WORDS).for_each(|word| self.buffer.words.set(word, 0));
        let buffer = Buffer::written(self.buffer.address, 8 * WORDS);
        self.requests.submit(&[buffer], ()).expect("the device has no other one");
        if self.requests.wants_notification() {
            self.device.notify(0);
        }
        let end = Instant::now() + PATIENCE;
        loop {
            match self.requests.take() {
                Ok(Some(used)) if used.bytes >= 8 => {
                    self.left = used.bytes as usize / 8;
                    return Ok(());
                }
                Ok(Some(_)) => return Err(NoEntropy::Silent),
                Ok(None) => {}
                Err(_) => return Err(self.reset(NoEntropy::Broken)),
            }
            match ipc::receive(self.bell, Wait::by(end)) {
                Ok(bell) => self.hardware.acknowledge(&self.device, bell),
                Err(_) => return Err(self.reset(NoEntropy::Silent)),
            }
        }
    }

    fn reset(&mut self, why: NoEntropy) -> NoEntropy {
        self.device = self.hardware.reset(kind::ENTROPY);
        self.requests.reset(|()| ());
        start(&self.device, &[(REQUESTS, self.ring)]);
        why
    }

    /// The next word, which nothing keeps.
    fn word(&mut self) -> Result<u64, NoEntropy> {
        if self.left == 0 {
            self.refill()?;
        }
        self.left -= 1;
        let word = self.buffer.words.get(self.left);
        self.buffer.words.set(self.left, 0);
        Ok(word)
    }
}

impl Entropy for Source {
    fn take(&mut self) -> Result<[u64; 4], NoEntropy> {
        Ok([self.word()?, self.word()?, self.word()?, self.word()?])
    }
}
