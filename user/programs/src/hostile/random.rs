//! System calls with random arguments, from seeds, most of them near the edges of what is
//! allowed. The judge cancels those that would block for ever.

use super::{Attempts, CANCEL};
use abi::call::Call;
use rt::arch::{self, word};
use rt::{Error, Rights, Slot, cap, memory, signal, thread};

/// Calls between two refills of the toys.
const BATCH: u64 = 200;

/// Values at the edges of ranges.
const EDGES: [u64; 24] = [
    0,
    1,
    2,
    3,
    7,
    8,
    63,
    64,
    127,
    128,
    255,
    256,
    0xfff,
    0x1000,
    0x8_0000_0000,
    0x8_0000_1000,
    0xffff_ffff,
    1 << 32,
    abi::USER_TOP - abi::PAGE,
    abi::USER_TOP,
    0x8000_0000_0000,
    0xffff_8000_0000_0000,
    u64::MAX - 1,
    u64::MAX,
];

/// A small generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// An argument: often a slot of the program's, sometimes anything.
    fn argument(&mut self, slots: u64) -> u64 {
        match self.below(16) {
            0..6 => self.below(slots),
            6 => self.below(slots) | self.below(slots) << 32,
            7 => self.below(slots) | self.below(8) << 32,
            8..12 => EDGES[self.below(EDGES.len() as u64) as usize],
            12 => self.below(256),
            13 => 0x8_0000_0000 + self.below(32) * 0x800,
            _ => self.next(),
        }
    }

    /// A number word: mostly a call that exists, mostly with sensible options.
    fn number(&mut self) -> u64 {
        let call = match self.below(8) {
            0 => self.below(256),
            _ => Call::ALL[self.below(Call::ALL.len() as u64) as usize] as u64,
        };
        match self.below(4) {
            0 => call | self.next() << 8,
            _ => call | self.below(16) << 8,
        }
    }
}

pub fn calls(attempts: &mut Attempts) {
    let mut random = Random(attempts.env.number("seed", 1) | 1 << 63);
    let free = attempts.env.slots();
    let (first, limit) = (free.clone().fresh().0, free.limit());
    attempts.notes.set(CANCEL, 1);
    for i in 0..attempts.env.number("calls", 20_000) {
        if i % BATCH == 0 {
            refill(first, limit);
        }
        let number = random.number();
        let a: [u64; 6] = core::array::from_fn(|_| random.argument(u64::from(limit) + 2));
        let w: [u64; 4] = core::array::from_fn(|_| random.argument(4));
        for i in [128, 129, 130] {
            let value = random.argument(u64::from(limit));
            attempts.env.buffer(0).0.set(i, value);
        }
        let outcome = arch::syscall(number, a.map(word), w.map(word));
        let status = outcome.status.result();
        let known = outcome.status.0 == 0 || Error::from_code(outcome.status.0 as u8).is_some();
        // It holds neither console nor system, so these can never be done.
        let barred = [Call::ConsoleWrite, Call::ConsoleRead, Call::Shutdown, Call::Inspect];
        let barred = barred.iter().any(|call| *call as u8 == number as u8);
        attempts.attempt(known && !(barred && status.is_ok()));
    }
    attempts.notes.set(CANCEL, 0);
}

/// Empties the free slots and puts one of each kind of object into the first of them.
fn refill(first: u32, limit: u32) {
    for slot in (first..limit).map(Slot) {
        let _ = cap::destroy(slot);
        let _ = cap::delete(slot);
    }
    let slot = |i| Slot(first + i);
    // What the quotas refuse after random calls have used them is left out.
    let _ = signal::create_endpoint(slot(0), Slot::NONE);
    let _ = signal::create_notification(slot(1));
    let _ = signal::create_timer(slot(2), slot(1));
    let _ = memory::create(slot(3), 2);
    let spec = thread::Spec { domain: Slot::NONE, priority: 40, buffer: 0, handler: slot(0) };
    let _ = thread::create(slot(4), spec);
    let none = [0; abi::object::Resource::COUNT];
    let _ = rt::domain::create(slot(5), 4, 40, none);
    let _ = cap::copy(slot(0), slot(6), Rights::SEND.or(Rights::COPY));
}
