//! A service of sums in two forms: by a train, which the caller's thread enters, and by an
//! endpoint, whose server answers.

use rt::prelude::*;
use rt::train::{self, Entry, Visitor};
use rt::{Rights, Slot, SlotPool};
use service::{Capability, service};

/// What the server can be asked.
#[service]
pub trait Sums {
    /// A capability to the train, or why there is none.
    fn open(&mut self) -> Result<Capability, Error>;
    /// The sum of four numbers.
    fn sum(&mut self, a: u64, b: u64, c: u64, d: u64) -> u64;
}

/// Four numbers, as a train carries them.
pub struct Numbers(pub [u64; 4]);

impl From<[u64; 4]> for Numbers {
    fn from(words: [u64; 4]) -> Numbers {
        Numbers(words)
    }
}

impl From<Numbers> for [u64; 4] {
    fn from(numbers: Numbers) -> [u64; 4] {
        numbers.0
    }
}

/// A sum, and who asked for it.
pub struct Sum {
    /// The sum.
    pub sum: u64,
    /// The badge that the train was entered with.
    pub badge: u64,
}

impl From<[u64; 4]> for Sum {
    fn from([sum, badge, ..]: [u64; 4]) -> Sum {
        Sum { sum, badge }
    }
}

impl From<Sum> for [u64; 4] {
    fn from(sum: Sum) -> [u64; 4] {
        [sum.sum, sum.badge, 0, 0]
    }
}

/// Their sum, as far as it fits.
pub fn sum_of(numbers: [u64; 4]) -> u64 {
    numbers.iter().fold(0, |sum, number| sum.wrapping_add(*number))
}

/// What the caller's thread runs here.
pub(super) struct Exported;

impl Entry for Exported {
    type Question = Numbers;
    type Answer = Sum;
    fn enter(visitor: Visitor, Numbers(numbers): Numbers) -> Sum {
        // A number that no sum is asked for with: what happens if the code here fails.
        assert!(numbers[0] != u64::MAX, "a visitor brings what it must not");
        Sum { sum: sum_of(numbers), badge: visitor.badge }
    }
}

struct Server(Result<Slot, Error>);

/// What clients get of a train.
pub fn granted(train: Slot) -> Capability {
    Capability::grant(train, Rights::SEND | Rights::COPY)
}

impl Sums for Server {
    fn open(&mut self) -> Result<Capability, Error> {
        self.0.map(granted)
    }

    fn sum(&mut self, a: u64, b: u64, c: u64, d: u64) -> u64 {
        sum_of([a, b, c, d])
    }
}

/// The server: capabilities `sums` (receive); memory `stacks`, if it exports a train.
pub fn server(env: &Env) {
    let pool = SlotPool::new(env);
    let train = pool.take();
    let slot = train.slot();
    let stacks = env.find_mem("stacks").ok_or(Error::UnknownCall);
    let made = stacks.and_then(|stacks| train::export::<Exported>(env, slot, stacks, 4, 0));
    let mut sums = Server(made.map(|()| slot));
    let server = rt::Server::new(env.cap("sums")).with_buffer(env.buffer(0));
    let why = server.run(|request| sums.dispatch(request));
    panic!("no more sums: {why:?}");
}
