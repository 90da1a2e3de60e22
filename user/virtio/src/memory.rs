//! Memory that a driver and its device share.

use rt::memory::address;
use rt::{Env, Error, Words};

/// Memory that the device reads and writes as well: words of 64 bits.
pub trait Shared {
    /// What a word has.
    fn load(&self, word: usize) -> u64;
    /// Changes a word.
    fn store(&self, word: usize, value: u64);
}

impl<S: Shared> Shared for &S {
    fn load(&self, word: usize) -> u64 {
        (*self).load(word)
    }
    fn store(&self, word: usize, value: u64) {
        (*self).store(word, value);
    }
}

impl Shared for Words {
    fn load(&self, word: usize) -> u64 {
        self.get(word)
    }
    fn store(&self, word: usize, value: u64) {
        self.set(word, value);
    }
}

/// A part of a memory, and where the device finds it.
#[derive(Clone, Copy)]
pub struct Part<S = Words> {
    /// Its words.
    pub words: S,
    /// The physical address of the first one.
    pub address: u64,
}

impl Part {
    /// All of a memory that the domain has mapped, and for which it has a capability of the same
    /// name with the right `physical`.
    ///
    /// # Panics
    ///
    /// If the manifest does not give it both.
    #[track_caller]
    pub fn of(env: &Env, name: &str) -> Result<Part, Error> {
        let (address, _) = address(env.cap(name))?;
        Ok(Part { words: env.mem(name), address })
    }

    /// Cuts off the first so many bytes, a multiple of 8.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    #[track_caller]
    pub fn cut(&mut self, bytes: u64) -> Part {
        assert!(bytes.is_multiple_of(8), "{bytes} bytes are not a number of words");
        let words = bytes as usize / 8;
        let first = Part { words: self.words.part(0, words), address: self.address };
        self.words = self.words.part(words, self.words.len() - words);
        self.address += bytes;
        first
    }
}
