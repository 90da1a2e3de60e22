//! Start and stop (S0-40): a controller suspends many threads and then lowers itself below them,
//! returns to its priority and lets them run again, over and over.
//!
//! While it is above them no decision looks at their levels; the look-up after it has lowered
//! itself meets those that a kernel has left in the ready queue.

use super::crowd::{Crowd, MOST, nth};
use super::{Sampler, numbers, settle};
use rt::{Env, Slot, system, thread};

/// The controller's priorities.
const HIGH: u64 = 252;
const LOW: u64 = 1;
const METRIC: u16 = 1;

/// Capabilities and memory as for the elevator's sampler; argument `sweep` (numbers of threads).
pub fn main(env: &Env) {
    let mut sampler = Sampler::open(env);
    let mut crowd = Crowd::new(env);
    let control = env.mem("control");
    crowd.grow(MOST as u64, toil);
    for (turn, threads) in numbers(env, "sweep").enumerate() {
        control.set(0, threads);
        if turn == 0 {
            let controller = crowd.join(1, HIGH, control_all, u64::from(crowd.threads.0));
            control.set(1, controller.word());
        }
        settle();
        sampler.sample(METRIC, threads as u16);
    }
    sampler.done(env);
}

/// A thread that computes for ever.
fn toil(_: &Env, _: u64) {
    loop {
        system::work(1000);
    }
}

/// The controller; the first thread's slot is its argument.
fn control_all(env: &Env, first: u64) {
    let (first, control) = (Slot(first as u32), env.mem("control"));
    let me = Slot(control.get(1) as u32);
    let mut threads = MOST as u64;
    loop {
        for n in 1..=threads {
            thread::suspend(nth(first, n)).expect("it stops");
        }
        thread::set_priority(me, LOW).expect("below all");
        thread::set_priority(me, HIGH).expect("above all");
        threads = control.get(0);
        for n in 1..=threads {
            thread::resume(nth(first, n)).expect("it runs");
        }
    }
}
