//! Client/server loads of the macro benchmarks (S0-E03): what counts of them is how much work
//! lies between messages, here the arguments `work`, in units of time, and `seed`.
//!
//! Clients compute and call; a server, the guest operating system's kernel, computes and answers.
//! A thread of its own above all of them wakes for each of the guest's ticks, `tick` apart; after
//! `milliseconds` it ends the run.
//!
//! Clients block, as processes do: after about `run` units of work of its own a client sleeps to a
//! tick, or asks a device's server for input. That does `device-work` for each input and answers
//! when the input is there, about `input` later. While it has been interrupted, or has woken behind
//! others of its priority, further clients queue for it. The loads are fitted to bare messages,
//! hence no typed calls.

use crate::random::Random;
use rt::abi::Error;
use rt::abi::statistics::WORDS;
use rt::thread::{self, Spec};
use rt::{Env, Info, Message, Slot, Wait, cap, ipc, statistics, system};

/// Units of time that a tick takes.
const TICK_WORK: u64 = 1000;

/// Where the server counts what it has answered, for the host.
const ANSWERED: usize = 0;
/// Where the timer thread leaves the nanoseconds that the load has run.
const ELAPSED: usize = 1;
/// From where on it leaves the statistics of the kernel, if that keeps some.
const STATISTICS: usize = 2;

/// Clients that may wait for input at the same time.
const CLIENTS: usize = 8;

/// Random times, from half a mean to one and a half.
struct Times {
    mean: u64,
    random: Random,
}

impl Times {
    /// Around the mean that an argument names; parties and purposes differ in `stream`.
    fn of(env: &Env, argument: &str, mean: u64, stream: u64) -> Times {
        let seed = env.number("seed", 1).wrapping_mul(64).wrapping_add(stream);
        Times { mean: env.number(argument, mean).max(1), random: Random::new(seed) }
    }

    /// The work between two messages.
    fn work(env: &Env, who: u64) -> Times {
        Times::of(env, "work", 9311, who)
    }

    fn draw(&mut self) -> u64 {
        self.mean / 2 + self.random.below(self.mean)
    }

    /// Computes for such a time, which it returns.
    fn stretch(&mut self) -> u64 {
        let time = self.draw();
        system::long_work(time);
        time
    }
}

/// A client: capabilities `service` and `device` (send); argument `who`, its number from 1.
pub fn client(env: &Env) {
    let (service, device) = (env.cap("service"), env.cap("device"));
    let who = env.number("who", 1);
    let mut work = Times::work(env, who);
    let mut runs = Times::of(env, "run", 2_000_000, who + 16);
    let ticks = Ticks::of(env);
    let mut left = runs.draw();
    loop {
        let done = work.stretch();
        let answer = ipc::call_short(service, Info::new(0, 1), [1]);
        answer.status.result().expect("the server answers");
        left = left.saturating_sub(done);
        if left == 0 {
            left = runs.draw();
            match runs.random.below(4) {
                further @ ..2 => system::sleep_until(ticks.after(system::clock(), further)),
                _ => {
                    let input = ipc::call_short(device, Info::new(0, 1), [1]);
                    input.status.result().expect("the device's server answers");
                }
            }
        }
    }
}

/// The guest's ticks. They are half way between the kernel's own of that length: whether both fall
/// together is not left to how long the machine takes to boot.
struct Ticks(u64);

impl Ticks {
    fn of(env: &Env) -> Ticks {
        Ticks(env.number("tick", 10_000_000).max(2))
    }

    /// The first tick after an instant, or a further one.
    fn after(&self, instant: u64, further: u64) -> u64 {
        let Ticks(distance) = *self;
        ((instant + distance / 2) / distance + 1 + further) * distance - distance / 2
    }
}

/// The device's server: capability `device` (receive). It keeps the right to answer each client
/// that waits; inputs come one after the other while a client waits, and answer in turn.
pub fn device(env: &Env) {
    let requests = env.cap("device");
    let mut inputs = Times::of(env, "input", 10_000_000, 32);
    let work = env.number("device-work", 60_000) / 2;
    let mut slots = env.slots();
    let waiting: [Slot; CLIENTS] = core::array::from_fn(|_| slots.fresh());
    let (mut first, mut count, mut next) = (0, 0, 0);
    loop {
        let wait = if count == 0 { Wait::NEVER } else { Wait::until(next) };
        let request = ipc::receive(requests, wait);
        system::long_work(work);
        match request {
            Ok(_) => {
                if count == 0 {
                    next = system::clock() + inputs.draw();
                }
                cap::save_reply(waiting[(first + count) % CLIENTS]).expect("a client waits");
                count += 1;
            }
            Err(Error::Timeout) => {
                let answered = ipc::send(waiting[first], Message::empty(0), Wait::ZERO);
                answered.expect("the client waits");
                // The right is used up; whether the slot is vacant by that is left to the kernel.
                let _ = cap::delete(waiting[first]);
                (first, count) = ((first + 1) % CLIENTS, count - 1);
                next = system::clock() + inputs.draw();
            }
            Err(error) => panic!("the device's server: {error:?}"),
        }
    }
}

/// The server: capabilities `service` (receive), `system`; memory `totals`; a further thread, of
/// the priority in argument `timer`.
pub fn server(env: &Env) {
    let service = env.cap("service");
    let totals = env.mem("totals");
    let mut work = Times::work(env, 0);
    let spec = Spec::further(env, 1, env.number("timer", 0));
    let timer = env.slots().fresh();
    thread::start(env, 1, timer, spec, (keep_time, 0)).expect("the timer thread");
    let mut answered = 0;
    let mut next = ipc::receive_short(service);
    loop {
        next.status.result().expect("a message");
        work.stretch();
        answered += 1;
        totals.set(ANSWERED, answered);
        next = ipc::reply_wait_short(service, Info::new(0, 1), [1]);
    }
}

/// Does the work of every tick, and ends the run after the last.
fn keep_time(env: &Env, _: u64) {
    let totals = env.mem("totals");
    let machine = env.cap("system");
    let began = system::clock();
    let all = Ticks::of(env);
    let end = began + env.number("milliseconds", 1000) * 1_000_000;
    let mut next = all.after(began, 0);
    // The statistics begin with the first tick, when all clients are at work. A kernel without
    // statistics refuses; the load is the same.
    system::sleep_until(next);
    let _ = statistics::reset(machine);
    while next < end {
        system::long_work(TICK_WORK);
        next = all.after(next, 0);
        system::sleep_until(next);
    }
    totals.set(ELAPSED, system::clock() - began);
    let _ = statistics::leave(machine, totals.part(STATISTICS, WORDS));
    system::shutdown(machine, 0).expect("the run ends");
}
