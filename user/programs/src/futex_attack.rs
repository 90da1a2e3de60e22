//! A program that does its worst with futexes of its own: its threads wait, and their words are
//! written over all the time, while every call is made with addresses that are right, wrong, or
//! those of others.

use crate::random::Random;
use rt::futex::{self, Identity, Scope, WAITERS};
use rt::thread::{self, Registers, Spec};
use rt::{Env, Wait, Words};

/// Words of the memory `own` that are futexes.
const FUTEXES: u64 = 8;
/// The word that counts the calls.
const CALLS: usize = 16;
/// Further threads, which wait.
const THREADS: usize = 6;

/// Never ends: memory `own`, a quota for its threads.
pub fn main(env: &Env) {
    let mut slots = env.slots();
    let threads = [(); THREADS].map(|()| slots.fresh());
    for (n, slot) in (1..).zip(threads) {
        let spec = Spec::further(env, n, env.number("waiters", 90));
        thread::start(env, n, slot, spec, (wait, n as u64)).expect("a thread");
    }
    let mut random = Random::new(1);
    loop {
        attack(env, &mut random, Wait::ZERO);
        if random.below(16) == 0 {
            // It waits no longer, in whatever queue it is.
            let slot = threads[random.below(THREADS as u64) as usize];
            let _ = thread::suspend(slot);
            let _ = thread::set(slot, Registers { cancel: true, ..Registers::default() });
            let _ = thread::resume(slot);
        }
    }
}

/// Waits for ever, again and again: without deadlines, since the interrupts of these are a matter
/// of timers.
fn wait(env: &Env, n: u64) {
    let mut random = Random::new(1 + n);
    loop {
        attack(env, &mut random, Wait::NEVER);
    }
}

/// A random word, and a call.
fn attack(env: &Env, random: &mut Random, limit: Wait) {
    let own = env.mem("own");
    let Identity { own: id, shared, .. } = futex::identity();
    let word = random.below(FUTEXES) as usize;
    let value = match random.below(4) {
        0 => anything(random),
        1 => u64::from(id | WAITERS) | u64::from(shared) << 32,
        2 => own.get(random.below(FUTEXES) as usize).rotate_left(32),
        _ => u64::from(id | WAITERS),
    };
    own.set(word, value);
    own.add(CALLS, 1);
    call(&own, random, limit);
}

/// One call, whatever comes of it.
fn call(own: &Words, random: &mut Random, wait: Wait) {
    let scope = if random.below(2) == 0 { Scope::Domain } else { Scope::Shared };
    let at = |random: &mut Random| own.address() + 8 * random.below(FUTEXES);
    let (address, other) = match random.below(8) {
        0 => (anything(random), at(random)),
        _ => (at(random), at(random)),
    };
    let expected = own.get((address.wrapping_sub(own.address()) / 8 % FUTEXES) as usize) as u32;
    let _ = match random.below(6) {
        0 => futex::mutex_wake(address, scope),
        1 => futex::cond_requeue(address, scope, random.below(2) == 0).map(|_| ()),
        2 => futex::cond_wait(address, scope, expected, other, wait),
        3 => futex::inherit_wait(address, expected, wait).map(|_| ()),
        4 => futex::inherit_wake(address),
        _ => futex::mutex_wait(address, scope, expected, wait),
    };
}

/// Any word.
fn anything(random: &mut Random) -> u64 {
    random.below(1 << 31) << 33 | random.below(1 << 31) << 2 | random.below(4)
}
