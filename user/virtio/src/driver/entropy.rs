//! The driver of a source of random bytes.

use super::{Hardware, acknowledge};
use crate::entropy::{Entropy, NoEntropy};
use crate::mmio::{Registers, kind};
use crate::queue::Layout;
use crate::{Buffer, Part, Queue, Shared};
use rt::prelude::*;
use rt::{Slot, ipc};

/// Words that one request has the device write.
const WORDS: usize = 32;
/// How long the device may take for them.
const PATIENCE: Duration = Duration::from_millis(500);
/// Descriptors of the queue, of which one is used.
const DESCRIPTORS: usize = 2;

/// The driver, which answers requests by itself.
pub struct EntropyDriver<R, S> {
    hardware: Hardware<R, 1>,
    queue: Queue<S, (), DESCRIPTORS>,
    bell: Slot,
    interrupt: Slot,
    /// Where the device writes, and the words there that no client has had.
    buffer: Part<S>,
    left: usize,
}

impl<R: Registers + Clone, S: Shared> EntropyDriver<R, S> {
    /// Bytes of the memory that the device writes.
    pub const BUFFER: u64 = 8 * WORDS as u64;
    /// Bytes of the memory for the queue.
    pub const QUEUE: u64 = Layout::of(DESCRIPTORS).bytes;

    /// A driver with these memories, which begins with the device anew.
    ///
    /// # Panics
    ///
    /// If the device cannot be used.
    pub fn new(
        registers: R,
        buffer: Part<S>,
        queue: Part<S>,
        bell: Slot,
        interrupt: Slot,
    ) -> EntropyDriver<R, S> {
        let queues = [(DESCRIPTORS as u32, queue.address)];
        let hardware = Hardware::new(registers, kind::ENTROPY, queues);
        let queue = Queue::new(queue.words);
        hardware.start();
        EntropyDriver { hardware, queue, bell, interrupt, buffer, left: 0 }
    }

    /// Has the device write into the buffer.
    fn refill(&mut self) -> Result<(), NoEntropy> {
        (0..WORDS).for_each(|word| self.buffer.words.store(word, 0));
        let buffer = Buffer::written(self.buffer.address, 8 * WORDS);
        self.queue.submit(&[buffer], ()).expect("the device has no other one");
        if self.queue.wants_notification() {
            self.hardware.device.notify(0);
        }
        let end = Instant::now() + PATIENCE;
        loop {
            match self.queue.take() {
                Ok(Some(used)) if used.bytes >= 8 => {
                    self.left = used.bytes as usize / 8;
                    return Ok(());
                }
                Ok(Some(_)) => return Err(NoEntropy::Silent),
                Ok(None) => self.wait(end)?,
                Err(_) => return Err(self.reset(NoEntropy::Broken)),
            }
        }
    }

    /// Waits for the device until an instant, also if signals come without end: the kernel takes
    /// one that is there, whatever the time.
    fn wait(&mut self, end: Instant) -> Result<(), NoEntropy> {
        let signalled = (Instant::now() < end).then(|| ipc::receive(self.bell, Wait::by(end)));
        let Some(Ok(signalled)) = signalled else { return Err(self.reset(NoEntropy::Silent)) };
        let mut broken = false;
        acknowledge(signalled, self.interrupt, || broken = self.hardware.device.acknowledge());
        if broken { Err(self.reset(NoEntropy::Broken)) } else { Ok(()) }
    }

    fn reset(&mut self, why: NoEntropy) -> NoEntropy {
        self.hardware.reset();
        self.queue.reset(|()| ());
        self.hardware.start();
        why
    }

    /// The next word, which nothing keeps.
    fn word(&mut self) -> Result<u64, NoEntropy> {
        if self.left == 0 {
            self.refill()?;
        }
        self.left -= 1;
        let word = self.buffer.words.load(self.left);
        self.buffer.words.store(self.left, 0);
        Ok(word)
    }
}

impl<R: Registers + Clone, S: Shared> Entropy for EntropyDriver<R, S> {
    fn take(&mut self) -> Result<[u64; 4], NoEntropy> {
        Ok([self.word()?, self.word()?, self.word()?, self.word()?])
    }
}
