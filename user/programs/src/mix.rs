//! Client/server loads of the macro benchmarks (S0-E03): what counts of them is how much work
//! lies between messages, here the arguments `work`, in units of time, and `seed`.
//!
//! Clients of equal priority compute and call; a server computes and answers. It is above them,
//! as a guest operating system's kernel is not preempted by its processes, and as there a thread
//! of its own wakes every 10 ms for the guest's tick; after `milliseconds` it ends the run.

use crate::random::Random;
use rt::abi::statistics::WORDS;
use rt::thread::{self, Spec};
use rt::{Env, Info, ipc, statistics, system};

/// Nanoseconds between two ticks of the guest.
const TICK: u64 = 10_000_000;
/// Units of time that a tick takes.
const TICK_WORK: u64 = 1000;

/// Where the server counts what it has answered, for the host.
const ANSWERED: usize = 0;
/// Where the timer thread leaves the nanoseconds that the load has run.
const ELAPSED: usize = 1;
/// From where on it leaves the statistics of the kernel, if that keeps some.
const STATISTICS: usize = 2;

/// Stretches of work around a mean.
struct Work {
    mean: u64,
    random: Random,
}

impl Work {
    fn of(env: &Env, who: u64) -> Work {
        let seed = env.number("seed", 1).wrapping_mul(64).wrapping_add(who);
        Work { mean: env.number("work", 9311), random: Random::new(seed) }
    }

    /// Computes for half the mean to one and a half.
    fn stretch(&mut self) {
        let mean = self.mean.max(1);
        system::long_work(mean / 2 + self.random.below(mean));
    }
}

/// A client: capability `service` (send); argument `who`, its number from 1.
pub fn client(env: &Env) {
    let service = env.cap("service");
    let mut work = Work::of(env, env.number("who", 1));
    loop {
        work.stretch();
        let answer = ipc::call_short(service, Info::new(0, 1), [1]);
        answer.status.result().expect("the server answers");
    }
}

/// The server: capabilities `service` (receive), `system`; memory `totals`; a further thread, of
/// the priority in argument `timer`.
pub fn server(env: &Env) {
    let service = env.cap("service");
    let totals = env.mem("totals");
    let mut work = Work::of(env, 0);
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

/// Does the work of every tick, and ends the run after the last. The statistics begin with the
/// first tick, when all clients are at work.
fn keep_time(env: &Env, _: u64) {
    let totals = env.mem("totals");
    let machine = env.cap("system");
    let began = system::clock();
    // Half way between the kernel's own ticks of that length: whether both fall together is not
    // left to how long the machine takes to boot.
    let start = began / TICK * TICK + TICK / 2;
    let ticks = env.number("milliseconds", 1000) * 1_000_000 / TICK;
    for number in 1..=ticks {
        system::sleep_until(start + number * TICK);
        if number == 1 {
            // A kernel without statistics refuses; the load is the same.
            let _ = statistics::reset(machine);
        }
        system::long_work(TICK_WORK);
    }
    totals.set(ELAPSED, system::clock() - began);
    let _ = statistics::leave(machine, totals.part(STATISTICS, WORDS));
    system::shutdown(machine, 0).expect("the run ends");
}
