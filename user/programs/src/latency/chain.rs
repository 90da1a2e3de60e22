//! Chained messages (S0-41): threads with ascending priorities, each sending to the next and then
//! receiving from the one before in one operation. When the last destination receives, its message
//! is taken, the last thread goes on to its receive and takes the one before's message, and so on
//! down: every transfer in one activation of the kernel.

use super::crowd::{Crowd, nth, unpack};
use super::{Sampler, numbers, settle};
use abi::Info;
use rt::{Env, ipc};

const METRIC: u16 = 1;

/// Capabilities of the sampler; memory `control`; argument `sweep`: ascending numbers of threads.
pub fn main(env: &Env) {
    let mut sampler = Sampler::open(env);
    let mut crowd = Crowd::new(env);
    let control = env.mem("control");
    let mut driven = false;
    for threads in numbers(env, "sweep") {
        crowd.grow(threads, link);
        control.set(0, threads);
        if !driven {
            crowd.join(1, 1, drive, u64::from(crowd.doors.0) << 16);
            driven = true;
        }
        settle();
        sampler.sample(METRIC, threads as u16);
    }
    sampler.done(env);
}

/// The lowest thread, at the chain's end: releases it, and wakes its first thread again.
fn drive(env: &Env, argument: u64) {
    let ((_, doors), control) = (unpack(argument), env.mem("control"));
    loop {
        let end = nth(doors, control.get(0) + 1);
        ipc::receive_short(end).status.result().expect("the last one sends");
        let first = ipc::send_short(nth(doors, 1), Info::new(0, 0), []);
        first.status.result().expect("the first one receives");
    }
}

/// A thread of the chain.
fn link(_: &Env, argument: u64) {
    let (n, doors) = unpack(argument);
    let (own, next) = (nth(doors, n), nth(doors, n + 1));
    loop {
        let passed = ipc::exchange_short(next, own, Info::new(0, 0), []);
        passed.status.result().expect("the thread before");
    }
}
