//! Memory of one thread.

use ring::{Layout, Memory};
use std::cell::RefCell;
use std::rc::Rc;

/// Words, and the bytes in them. What is not there panics.
#[derive(Clone)]
pub struct Plain(Rc<RefCell<Vec<u64>>>);

impl Plain {
    /// The memory of a channel.
    pub fn new(layout: Layout) -> Plain {
        Plain(Rc::new(RefCell::new(vec![0; layout.words()])))
    }
}

impl Memory for Plain {
    fn words(&self) -> usize {
        self.0.borrow().len()
    }

    fn load(&self, word: usize) -> u64 {
        self.0.borrow()[word]
    }

    fn store(&self, word: usize, value: u64) {
        self.0.borrow_mut()[word] = value;
    }

    fn fence(&self) {}

    fn read(&self, from: usize, into: &mut [u8]) {
        for (at, byte) in (from..).zip(into) {
            *byte = self.load(at / 8).to_le_bytes()[at % 8];
        }
    }

    fn write(&self, from: usize, bytes: &[u8]) {
        for (at, byte) in (from..).zip(bytes) {
            let mut word = self.load(at / 8).to_le_bytes();
            word[at % 8] = *byte;
            self.store(at / 8, u64::from_le_bytes(word));
        }
    }
}
