//! Functions of programs that cross the kernel as words.

use std::cell::RefCell;

/// Functions of a kind, each with a word that stands for it.
pub struct Functions<F> {
    /// What the words of this kind begin with.
    mark: u64,
    all: RefCell<Vec<F>>,
}

impl<F: Copy + PartialEq> Functions<F> {
    /// None yet; `mark` has zeros where the number of a function goes.
    pub fn new(mark: &[u8; 8]) -> Functions<F> {
        Functions { mark: u64::from_le_bytes(*mark), all: RefCell::default() }
    }

    /// The word of a function.
    pub fn word(&self, function: F) -> u64 {
        let mut all = self.all.borrow_mut();
        let same = all.iter().position(|other| *other == function);
        let index = same.unwrap_or_else(|| {
            all.push(function);
            all.len() - 1
        });
        self.mark | index as u64
    }

    /// The function of a word, if it is the word of one.
    pub fn of(&self, word: u64) -> Option<F> {
        let index = word.checked_sub(self.mark)?;
        self.all.borrow().get(usize::try_from(index).ok()?).copied()
    }
}
