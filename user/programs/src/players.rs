//! Players that share the CPU by curves and one mutex, which a thread like that of an interrupt
//! wants now and then (S4-07): what each has done in each window of time.

use crate::random::Random;
use rt::prelude::*;
use rt::thread::{self, Spec};
use rt::{Words, reservation, system, time};
use sync::{InheritMutex, ThreadId};

/// Players, by the names of their reservations, and in front the thread of the interrupt.
const THREADS: [&str; 4] = ["interrupt", "slow", "fast", "third"];
const PLAYERS: usize = THREADS.len() - 1;
/// Words in front of the windows in the memory `progress`: the mutex with a word that it protects,
/// how often the interrupt came, what players have done so far, and how many windows follow.
const MUTEX: (usize, usize) = (0, 3);
const INTERRUPTS: usize = 3;
const DONE: usize = 4;
const WINDOWS: usize = DONE + PLAYERS;
/// Units of time in a piece of work.
const PIECE: u64 = 100_000;

/// The program: memory `progress`; capabilities `system`, and the reservations of its threads
/// (reserve); arguments `ms`, how long the run is, `window`, how many milliseconds a window is, and
/// `period`, how many microseconds there are between interrupts on average.
pub fn main(env: &Env) {
    let mut slots = env.slots();
    let priority = env.number("priority", 200);
    for (n, name) in (1..).zip(THREADS) {
        let slot = slots.fresh();
        let work = if n == 1 { interrupt } else { player };
        // A waiting thread whose leaf is more urgent goes first.
        let spec = Spec::further(env, n, priority - n as u64);
        thread::start(env, n, slot, spec, (work, n as u64 - 2)).expect("a thread");
        reservation::run_on(slot, env.cap(name)).expect("its reservation");
    }
    let progress = env.mem("progress");
    let window = env.number("window", 100);
    let mut ticker = Ticker::every(window.ms());
    for count in 0..env.number("ms", 5_000) / window {
        ticker.wait();
        let row = WINDOWS + 1 + PLAYERS * count as usize;
        if row + PLAYERS > progress.len() {
            break;
        }
        (0..PLAYERS).for_each(|player| progress.set(row + player, progress.get(DONE + player)));
        progress.set(WINDOWS, count + 1);
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

/// What all of them share: a word behind a mutex.
fn shared(env: &Env) -> InheritMutex {
    InheritMutex::new(env.mem("progress").part(MUTEX.0, MUTEX.1))
}

/// Wants the mutex, for no longer than to count, after each pause.
fn interrupt(env: &Env, _: u64) {
    let (mutex, me, mut random) = (shared(env), ThreadId::current(), Random::new(1));
    let period = env.number("period", 10_000);
    let progress = env.mem("progress");
    loop {
        time::sleep((period / 2 + random.below(period)).us());
        let guard = mutex.lock(me).expect("the mutex");
        guard.set(0, guard.get(0) + 1);
        guard.unlock().expect("it is owned");
        progress.set(INTERRUPTS, progress.get(INTERRUPTS) + 1);
    }
}

/// Works, now with the mutex and now without, each for as long as chance will have it.
fn player(env: &Env, player: u64) {
    let (mutex, me, mut random) = (shared(env), ThreadId::current(), Random::new(2 + player));
    let [apart, within] = ["apart", "within"].map(|name| env.number(name, 40));
    let progress = env.mem("progress");
    loop {
        pieces(progress, player, 1 + random.below(apart));
        let guard = mutex.lock(me).expect("the mutex");
        pieces(progress, player, 1 + random.below(within));
        guard.unlock().expect("it is owned");
    }
}

fn pieces(progress: Words, player: u64, count: u64) {
    let done = DONE + player as usize;
    for _ in 0..count {
        system::work(PIECE);
        progress.set(done, progress.get(done) + 1);
    }
}
