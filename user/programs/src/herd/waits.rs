//! Attacks by threads that wait: in queues, for instants, for signals.

use super::hostile::{BELL, DOOR, FAR, Herd, Member};
use crate::random::Random;
use rt::thread::{self, Registers};
use rt::{Env, Error, Message, Wait};
use rt::{cap, ipc, signal, system};

/// Rows of notifications and timers.
const BELLS: usize = 1;
const TIMERS: usize = 2;

/// Nothing is done.
pub fn stay(_: &Herd) -> Result<(), Error> {
    Ok(())
}

/// The leader computes.
pub fn pause(_: &Herd) -> Result<(), Error> {
    system::work(10_000);
    Ok(())
}

/// Threads that sleep, each with a deadline.
pub fn none(herd: &Herd) -> Result<(), Error> {
    herd.start(|_, _| {
        let _ = ipc::receive(rt::Slot::NONE, FAR);
    })
}

/// Calls that wait in the queue of the victim's server.
pub fn queue(herd: &Herd) -> Result<(), Error> {
    herd.start(|env, _| {
        let service = env.cap("service");
        while ipc::call(service, Message::empty(0)).is_ok() {}
    })
}

/// A timer for each thread, all for one instant.
pub fn timers(herd: &Herd) -> Result<(), Error> {
    for number in 0..herd.threads {
        let bell = herd.of(BELLS, number);
        signal::create_notification(bell)?;
        signal::create_timer(herd.of(TIMERS, number), bell)?;
    }
    herd.start(|env, number| {
        let member = Member::new(env, number);
        loop {
            member.pass_gate();
            signal::set_timer(member.own(TIMERS), member.instant()).expect("its timer");
            ipc::receive(member.own(BELLS), Wait::NEVER).expect("its timer's signal");
        }
    })
}

/// A timeout for each thread, all for one instant.
pub fn timeouts(herd: &Herd) -> Result<(), Error> {
    herd.start(|env, number| {
        let member = Member::new(env, number);
        loop {
            member.pass_gate();
            system::sleep_until(member.instant());
        }
    })
}

/// Threads that wait for one notification, with deadlines.
pub fn notifications(herd: &Herd) -> Result<(), Error> {
    signal::create_notification(herd.slot(BELL))?;
    herd.start(|env, number| {
        let member = Member::new(env, number);
        loop {
            if ipc::receive(member.slot(BELL), FAR).is_err() {
                member.pass_gate();
            }
        }
    })
}

/// Signals for all of them, one by one, and the end of what they wait for.
pub fn signals(herd: &Herd) -> Result<(), Error> {
    for _ in 0..herd.threads {
        if herd.is_over() {
            return Ok(());
        }
        signal::signal(herd.slot(BELL))?;
    }
    cap::destroy(herd.slot(BELL))?;
    signal::create_notification(herd.slot(BELL))?;
    herd.open_gate()
}

/// Threads that send to an endpoint where none receives, with deadlines.
pub fn senders(herd: &Herd) -> Result<(), Error> {
    signal::create_endpoint(herd.slot(DOOR), rt::Slot::NONE)?;
    herd.start(|env: &Env, number| {
        let member = Member::new(env, number);
        loop {
            // Cancelled, it queues again.
            let _ = ipc::send(member.slot(DOOR), Message::empty(0), FAR);
        }
    })
}

/// Another priority for each of them.
pub fn priorities(herd: &Herd) -> Result<(), Error> {
    let mut random = Random::new(system::clock());
    for number in (0..herd.threads).take_while(|_| !herd.is_over()) {
        let priority = herd.priority(random.below(1 << 16) as usize);
        thread::set_priority(herd.of(0, number), priority)?;
    }
    Ok(())
}

/// The end of each one's wait.
pub fn cancellations(herd: &Herd) -> Result<(), Error> {
    for number in (0..herd.threads).take_while(|_| !herd.is_over()) {
        let slot = herd.of(0, number);
        thread::suspend(slot)?;
        thread::set(slot, Registers { cancel: true, ..Registers::default() })?;
        thread::resume(slot)?;
    }
    Ok(())
}
