//! Start and stop (S0-40): a controller suspends many threads and then lowers itself below them,
//! returns to its priority and lets them run again, over and over.
//!
//! It begins with the lowest, so that as long as one of them can run, that one is the first of the
//! ready queue; only the look-up after the last suspension meets those that a kernel has left in.

use super::crowd::{Crowd, nth};
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
    let first = crowd.threads;
    let mut controlled = false;
    for threads in numbers(env, "sweep") {
        control.set(0, threads);
        crowd.grow(threads, toil);
        if !controlled {
            let controller = crowd.join(1, HIGH, control_all, u64::from(first.0));
            control.set(1, controller.word());
            controlled = true;
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
    loop {
        let threads = control.get(0);
        for n in 1..=threads {
            thread::suspend(nth(first, n)).expect("it stops");
        }
        thread::set_priority(me, LOW).expect("below all");
        thread::set_priority(me, HIGH).expect("above all");
        for n in 1..=threads {
            thread::resume(nth(first, n)).expect("it runs");
        }
    }
}
