//! Free page frames. A frame comes into use zeroed, which is done in parts, with preemption points.

use crate::arena::Arena;
use crate::assertion::panic_cold;
use crate::port::Port;
use abi::message::BUFFER_WORDS;
use cells::Cell;
use core::sync::atomic::Ordering::Relaxed;
use section::init;

/// Words that are zeroed between two polls for interrupts.
const PART: usize = 64;
const PARTS: usize = BUFFER_WORDS / PART;
const _: () = assert!(BUFFER_WORDS.is_multiple_of(PART));
/// Steps until a frame is zero. Behind each there is a poll: the first zeroes nothing, since the
/// checks of a call lie before it, and neither does the last, since its work lies behind it.
const STEPS: usize = PARTS + 2;
/// Polls until a frame is in use as a page table, or in memory: one lies behind that.
pub(crate) const POLLS: u32 = STEPS as u32 + 1;

/// A free frame that is about to come into use.
#[derive(Clone, Copy)]
pub struct Fresh<'a> {
    frame: u64,
    steps: &'a Cell<usize>,
}

impl<'a> Fresh<'a> {
    /// A frame, and how many of the steps are taken to zero it.
    pub fn new(frame: u64, steps: &'a Cell<usize>) -> Fresh<'a> {
        Fresh { frame, steps }
    }

    /// Takes the next step. False: the frame is zero.
    pub fn step(self, port: &impl Port) -> bool {
        let step = self.steps.get();
        if step == STEPS {
            return false;
        }
        if let part @ 1..=PARTS = step {
            port.clear(self.frame + ((part - 1) * PART * size_of::<u64>()) as u64, PART);
        }
        self.steps.set(step + 1);
        true
    }

    /// Words at its beginning that are zeroed.
    fn done(self) -> usize {
        self.steps.get().saturating_sub(1).min(PARTS) * PART
    }

    /// Whether what is zeroed is zero, for tests.
    pub(crate) fn is_as_told(self, port: &impl Port) -> bool {
        port.frame(self.frame)[..self.done()].iter().all(|word| word.load(Relaxed) == 0)
    }

    /// The frame comes into use: what is left of it is zeroed.
    pub fn finish(self, port: &impl Port) -> u64 {
        let done = self.done();
        self.steps.set(0);
        port.clear(self.frame + (done * size_of::<u64>()) as u64, BUFFER_WORDS - done);
        self.frame
    }
}

/// A stack of free page frames.
pub struct FrameStack {
    frames: &'static [Cell<u64>],
    count: Cell<usize>,
    /// Of the frame on top: steps that are taken to zero it.
    steps: Cell<usize>,
}

impl FrameStack {
    /// Carves a stack that holds these frames.
    #[init]
    pub fn carve<P: Port>(arena: &mut Arena, first: u64, count: usize) -> Option<FrameStack> {
        let frames = arena.slice(count, |_, index| {
            Some(Cell::new(first + (count - 1 - index) as u64 * P::PAGE))
        })?;
        Some(FrameStack { frames, count: Cell::new(count), steps: Cell::new(0) })
    }

    /// How many frames there are, and how many of them are in use.
    pub fn size_and_used(&self) -> (u32, u32) {
        (self.frames.len() as u32, (self.frames.len() - self.count.get()) as u32)
    }

    /// The frame that will be taken next.
    pub fn next(&self) -> Option<Fresh<'_>> {
        // None left: one before the first, which is beyond the last.
        let frame = self.frames.get(self.count.get().wrapping_sub(1))?.get();
        Some(Fresh::new(frame, &self.steps))
    }

    /// Takes a frame that a quota has promised, zeroed.
    pub fn take(&self, port: &impl Port) -> u64 {
        let Some(fresh) = self.next() else {
            panic_cold!("a quota promised a frame that is not there")
        };
        self.count.set(self.count.get() - 1);
        fresh.finish(port)
    }

    /// Gives a frame back. O(1).
    pub fn give(&self, frame: u64) {
        self.frames[self.count.get()].set(frame);
        self.count.set(self.count.get() + 1);
        self.steps.set(0);
    }
}
