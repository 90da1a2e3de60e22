//! Programs that call anything with anything, in several domains with many threads each: the
//! workload of the twin's fuzzer, which checks the kernel's invariants after each step.
//!
//! What a thread does depends on its seed and on what the kernel answers. Most arguments are
//! likely to be what the call wants, so that programs get far; the rest is near an edge or
//! nonsense. The first thread of a domain, the warden, frees the others from what they are blocked
//! in for ever.

mod choice;

use crate::random::Random;
use choice::{Bands, Chooser};
use rt::arch::{self, word};
use rt::thread::{self, Registers, Spec};
use rt::{Env, Rights, Slot, cap, domain, ipc, memory, signal, system};

/// Calls between two times that the warden fills empty slots.
const REFILL: u64 = 64;

/// Capabilities as [`Bands`] names them; a memory; arguments `seed` and `notes`, the name of the memory.
pub fn main(env: &Env) {
    let seed = env.number("seed", 1) ^ u64::from(env.name().as_bytes()[0]) << 40;
    let bands = Bands::new(env);
    let threads = env.threads() as u64;
    for n in 1..threads {
        let mut spec = Spec::further(env, n as usize, 20 + (seed ^ (n * 7)) % 60);
        if n % 3 == 0 {
            spec.handler = bands.endpoint(0);
        }
        // Where the pools are small there are fewer.
        let _ = thread::start(env, n as usize, bands.worker(n), spec, (work, seed ^ n << 32));
    }
    let mut chooser = Chooser::new(env, bands, Random::new(seed), 0);
    for round in 0.. {
        if round % REFILL == 0 {
            refill(&bands);
        }
        if chooser.random().below(3) == 0 && threads > 1 {
            let n = 1 + chooser.random().below(threads - 1);
            free(bands.worker(n), chooser.random());
        }
        chooser.step(true);
    }
}

/// A further thread.
fn work(env: &Env, seed: u64) {
    let buffer = (seed >> 32 & 0xff) as usize;
    let mut chooser = Chooser::new(env, Bands::new(env), Random::new(seed), buffer);
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

/// Makes one object of each kind, where there is room.
fn refill(bands: &Bands) {
    let slot = |kind| bands.slot(kind, 0);
    // What exists already, or exceeds a quota, stays as it is.
    let _ = signal::create_endpoint(slot(choice::ENDPOINT), Slot::NONE);
    let _ = signal::create_notification(slot(choice::NOTIFICATION));
    let _ = signal::create_timer(slot(choice::TIMER), slot(choice::NOTIFICATION));
    let _ = memory::create(slot(choice::MEMORY), 3);
    let range = memory::Range {
        memory: slot(choice::MEMORY),
        first: 0,
        pages: 1,
        address: choice::PAGES + 16 * abi::PAGE,
    };
    let _ = memory::map(slot(choice::MAPPING), Slot::NONE, range, Rights::READ);
    let quotas = [2; abi::object::Resource::COUNT];
    let _ = domain::create(slot(choice::DOMAIN), 8, 40, quotas);
    let spec = Spec { domain: Slot::NONE, priority: 30, buffer: 0, handler: bands.endpoint(1) };
    let _ = thread::create(slot(choice::THREAD), spec);
    let _ = cap::copy(bands.endpoint(2), slot(choice::COPY), Rights::SEND.or(Rights::COPY));
}

impl Chooser {
    /// Computes a little, then makes a call. The warden blocks only for a while.
    fn step(&mut self, warden: bool) {
        system::work(self.random().below(200));
        if self.random().below(300) == 0 && !warden {
            let address = choice::PAGES + self.random().below(24) * abi::PAGE;
            // It goes on when a handler or the warden says so.
            let _ = arch::read(address, self.notes().word(0));
        }
        let (number, a, w) = self.call(warden);
        arch::syscall(number, a.map(word), w.map(word));
        if self.random().below(16) == 0 {
            // An answer that is owed is given now and then, so that callers get on.
            let _ = ipc::reply(rt::Message::empty(0));
        }
    }
}
