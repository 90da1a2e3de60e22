//! A herd of hostile threads against one thread above all of them: how late that one runs after its
//! event, while the herd does to the kernel what a program may.
//!
//! The *victim* measures, its *server* signals and answers at an instant, and a *leader* in a
//! domain below both has the herd attack. An attack goes on in a loop, or is one blow at an instant
//! that the victim names: then the herd is in place before the victim waits.

mod attack;
mod hostile;
mod makes;
mod owns;
mod server;
mod shares;
mod victim;
mod waits;

pub use hostile::main as hostile;
pub use server::main as server;
pub use victim::main as victim;

use rt::Words;

/// The most threads of a herd.
pub const MOST: usize = 4_000;
/// Nanoseconds for each thread of a herd to be in place.
const EACH: u64 = 60_000;

/// What victim, server and leader tell each other: words of the memory `control`.
#[derive(Clone, Copy)]
pub struct Control(Words);

/// Words of the memory.
const OVER: usize = 0;
const ATTACK: usize = 1;
const THREADS: usize = 2;
const INSTANT: usize = 3;
const STAMP: usize = 4;

impl Control {
    /// Before an attack by so many threads.
    fn begin(self, attack: usize, threads: u64) {
        self.0.set(ATTACK, attack as u64);
        self.0.set(THREADS, threads);
        self.0.set(OVER, 0);
    }

    /// The attack by its number, and its threads.
    fn attack(self) -> (usize, usize) {
        (self.0.get(ATTACK) as usize, self.0.get(THREADS) as usize)
    }

    /// The attack is to end.
    fn end(self) {
        self.0.set(OVER, 1);
    }

    /// Whether it is.
    fn is_over(self) -> bool {
        self.0.get(OVER) != 0
    }

    /// When the blow falls, in nanoseconds since boot.
    fn instant(self) -> u64 {
        self.0.get(INSTANT)
    }

    fn set_instant(self, instant: u64) {
        self.0.set(INSTANT, instant);
    }

    /// The counter before the server's signal or answer.
    fn stamp(self) -> u64 {
        self.0.get(STAMP)
    }

    fn set_stamp(self, counter: u64) {
        self.0.set(STAMP, counter);
    }
}
