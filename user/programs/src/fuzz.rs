//! Programs that call anything with anything, in several domains with many threads each: the
//! workload of the twin's fuzzer, which checks the kernel's invariants after each step.
//!
//! What a thread does depends on its seed and on what the kernel answers. Most arguments are
//! likely to be what the call wants, so that programs get far; the rest is near an edge or
//! nonsense. The first thread of a domain, the warden, frees the others from what they are blocked
//! in for ever.

mod choice;
mod reserving;

use crate::random::Random;
use choice::{Bands, Chooser};
use rt::arch::{self, word};
use rt::thread::{self, Registers, Spec};
use rt::{Env, Rights, Slot, cap, domain, ipc, memory, signal, system};

/// One step in so many begins with making an object.
const REFILL: u64 = 16;

/// One in so many threads has no message buffer.
const BARE: u64 = 5;

/// Capabilities as [`Bands`] names them; a memory; arguments `seed` and, with its name, `notes`.
pub fn main(env: &Env) {
    let seed = env.number("seed", 1) ^ u64::from(env.name().as_bytes()[0]) << 40;
    let bands = Bands::new(env);
    let threads = env.threads() as u64;
    for n in 1..threads {
        let mut spec = Spec::further(env, n as usize, 20 + (seed ^ (n * 7)) % 60);
        if n % 3 == 0 {
            spec.handler = bands.endpoint(0);
        }
        if n.is_multiple_of(BARE) {
            spec.buffer = 0;
        }
        // Where the pools are small there are fewer.
        let _ = thread::start(env, n as usize, bands.worker(n), spec, (work, seed << 8 | n));
    }
    let mut chooser = Chooser::new(env, bands, Random::new(seed), Some(0));
    loop {
        if chooser.random().below(3) == 0 && threads > 1 {
            let n = 1 + chooser.random().below(threads - 1);
            free(bands.worker(n), chooser.random());
        }
        chooser.step(true);
        // The others get their turn.
        system::sleep(chooser.random().below(40_000));
    }
}

/// A further thread, whose number is the low byte of its argument.
fn work(env: &Env, argument: u64) {
    let n = argument & 0xff;
    let buffer = (!n.is_multiple_of(BARE)).then_some(n as usize);
    let mut chooser = Chooser::new(env, Bands::new(env), Random::new(argument), buffer);
    loop {
        chooser.step(false);
    }
}

/// Gets a thread out of whatever it is blocked or stopped in.
fn free(worker: Slot, random: &mut Random) {
    // It may be gone, or another's by now.
    let _ = thread::suspend(worker);
    if random.below(2) == 0 {
        let _ = thread::set(worker, Registers { cancel: true, ..Registers::default() });
    }
    let _ = thread::resume(worker);
}

/// Makes an object of a kind, where there is room.
fn refill(bands: &Bands, kind: u64) {
    let slot = |kind| bands.slot(kind, 0);
    let made = match kind {
        choice::ENDPOINT => signal::create_endpoint(slot(kind), Slot::NONE),
        choice::NOTIFICATION => signal::create_notification(slot(kind)),
        choice::TIMER => signal::create_timer(slot(kind), slot(choice::NOTIFICATION)),
        choice::MEMORY => memory::create(slot(kind), 2),
        choice::MAPPING => {
            let (memory, address) = (slot(choice::MEMORY), choice::PAGES + 16 * abi::PAGE);
            let range = memory::Range { memory, first: 0, pages: 1, address };
            memory::map(slot(kind), Slot::NONE, range, Rights::READ)
        }
        choice::DOMAIN => domain::create(slot(kind), 8, 40, [2; abi::object::Resource::COUNT]),
        choice::THREAD => {
            let handler = bands.endpoint(1);
            let spec = Spec { domain: Slot::NONE, priority: 30, buffer: 0, handler };
            thread::create(slot(kind), spec)
        }
        _ => cap::copy(bands.endpoint(2), slot(kind), Rights::SEND.or(Rights::COPY)),
    };
    // What exists already, or exceeds a quota, stays as it is.
    let _ = made;
}

/// Leaves a copy with fewer rights of the first object of a kind, and now and then only that.
fn weaken(bands: &Bands, kind: u64, random: &mut Random) {
    let (from, to) = (bands.slot(kind, 0), bands.slot(kind, choice::COPIED));
    // There may be nothing to copy.
    let _ = cap::delete(to);
    let _ = cap::copy(from, to, Rights(random.below(64) as u8));
    if random.below(3) == 0 {
        let _ = cap::destroy(from);
    }
}

impl Chooser {
    /// Computes a little, then makes a call. The warden blocks only for a while.
    fn step(&mut self, warden: bool) {
        system::work(self.random().below(200));
        if self.random().below(REFILL) == 0 {
            let kind = self.random().below(choice::BANDS);
            refill(self.bands(), kind);
            let bands = *self.bands();
            if self.random().below(2) == 0 {
                let kind = self.random().below(choice::BANDS - 1);
                weaken(&bands, kind, self.random());
            }
        }
        if self.random().below(300) == 0 && !warden {
            let address = choice::PAGES + self.random().below(24) * abi::PAGE;
            // It goes on when a handler or the warden says so.
            let _ = arch::read(address, self.notes().word(0));
        }
        let (number, a, w) = self.call(warden);
        let outcome = arch::syscall(number, a.map(word), w.map(word));
        self.learn(number, &outcome);
        if self.random().below(8) == 0 && self.owed() {
            // An answer that is owed is given now and then, so that callers get on.
            let _ = ipc::reply(rt::Message::empty(0));
        }
    }
}
