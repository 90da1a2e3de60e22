//! A thread that runs on another CPU is moved, and before that CPU has left it given a reservation
//! that any CPU may run. It goes before all else, so it runs on at once.

use rt::prelude::*;
use rt::thread::{self, Spec};
use rt::{Slot, Words, reservation, system, time};

/// How often.
const ROUNDS: u64 = 20;
/// How late the thread may be: far below a budget's and a time slice's end.
const BOUND: Duration = Duration::from_micros(1_000);
/// How long it is waited for.
const ROUND: Duration = Duration::from_micros(20_000);

/// Counts for ever.
fn count(env: &Env, _: u64) {
    let counter = env.mem("counter");
    loop {
        counter.set(0, counter.get(0) + 1);
        system::work(100);
    }
}

/// Capabilities `console`, `system`, `leaf` (a reservation); memory `counter`; a second thread. The
/// run's status is how often the thread was late.
pub fn main(env: &Env) {
    let (counter, leaf, slot) = (env.mem("counter"), env.cap("leaf"), env.slots().fresh());
    let spec = Spec::further(env, 1, 50);
    thread::start(env, 1, slot, spec, (count, 0)).expect("the second thread");
    let mut late = 0;
    for round in 0..ROUNDS {
        // Of its own time, on the other CPU.
        reservation::run_on(slot, Slot::NONE).expect("it is the domain's own");
        thread::migrate(slot, 1).or_else(|_| thread::migrate(slot, 1)).expect("it may run there");
        time::sleep((200_000 + 1_000 * round).ns());
        thread::migrate(slot, 0).expect("it may run here");
        reservation::run_on(slot, leaf).expect("the domain may use it");
        late += u64::from(waited(counter) > BOUND);
    }
    println!(env.console(), "{late} of {ROUNDS} times late");
    system::shutdown(env.cap("system"), late).expect("the run ends");
}

/// How long it takes until the counter has another value. All of a round is waited for: what is
/// left of the thread's budget then differs.
fn waited(counter: Words) -> Duration {
    let (begun, before) = (Instant::now(), counter.get(0));
    let mut took = None;
    while begun.elapsed() < ROUND {
        if counter.get(0) != before {
            took.get_or_insert_with(|| begun.elapsed());
        }
    }
    took.unwrap_or(ROUND)
}
