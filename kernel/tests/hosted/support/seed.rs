//! What a random run that fails says of itself.

use std::cell::Cell;

/// Prints the seed of a run, and at which action it was, if the thread panics.
pub struct Seed(u64, Cell<u64>);

impl Seed {
    /// A run with this seed begins.
    pub fn of(seed: u64) -> Seed {
        Seed(seed, Cell::new(0))
    }

    /// It is at this action.
    pub fn at(&self, action: u64) {
        self.1.set(action);
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {:#x} fails at action {}", self.0, self.1.get());
        }
    }
}
