//! The latency thread (S0-35), shared by all programs that measure wake-ups.
//!
//! The highest thread programs a timer for an instant at a random distance, waits for it, and on
//! waking reads the counter. Both go into the recording: the instant that was programmed, as a
//! counter value, and what the counter was. The laboratory takes the difference.

mod chain;
mod crowd;
mod elevator;
mod start_stop;
mod storm;

use crate::random::Random;
use abi::call::{Fact, Observe};
use abi::results::Tag;
use rt::arch::counter;
use rt::{Env, Recorder, Slot, Words, ipc, signal, system};

pub use chain::main as chain;
pub use elevator::main as elevator;
pub use start_stop::main as start_stop;
pub use storm::main as storm;

/// How the counter that programs read and the instants of timers go together.
#[derive(Clone, Copy)]
pub struct Clock {
    hz: u64,
    start: u64,
}

impl Clock {
    /// Asks the kernel.
    pub fn ask() -> Clock {
        let (hz, start) = system::fact(Fact::CounterHz).expect("a counter");
        Clock { hz, start }
    }

    /// The counter's value at an instant in nanoseconds since boot.
    pub fn counter_at(self, instant: u64) -> u64 {
        if self.hz == 1_000_000_000 {
            return self.start + instant;
        }
        self.start + (u128::from(instant) * u128::from(self.hz) / 1_000_000_000) as u64
    }

    /// The instant at which the counter had a value.
    pub fn instant_of(self, counter: u64) -> u64 {
        let steps = counter.saturating_sub(self.start);
        if self.hz == 1_000_000_000 {
            return steps;
        }
        (u128::from(steps) * 1_000_000_000 / u128::from(self.hz)) as u64
    }
}

/// The point of a record that says what a wake-up has interrupted.
const INTERRUPTED: u16 = 2;

/// Takes samples.
pub struct Sampler {
    timer: Slot,
    bell: Slot,
    clock: Clock,
    random: Random,
    /// Nanoseconds from arming the timer to its signal: at least, and by how many more at most.
    least: u64,
    spread: u64,
    /// Samples of a case, and those before them that are not recorded.
    samples: u64,
    warm_up: u64,
    recorder: Recorder,
    /// How late a wake-up may be before the trace stops with it, in nanoseconds.
    bearable: Option<u64>,
    system: Slot,
}

impl Sampler {
    /// Capabilities `timer`, which signals `bell` (receive); memory `recording`; arguments `seed`,
    /// `least` and `most` (nanoseconds), `samples` and `warmup`; with `blame`, also in nanoseconds,
    /// the trace stops at the first wake-up that is later.
    pub fn open(env: &Env) -> Sampler {
        let (least, most) = (env.number("least", 2_000), env.number("most", 22_000));
        Sampler {
            timer: env.cap("timer"),
            bell: env.cap("bell"),
            clock: Clock::ask(),
            random: Random::new(env.number("seed", 1)),
            least,
            spread: most - least + 1,
            samples: env.number("samples", 1000),
            warm_up: env.number("warmup", 20),
            recorder: Recorder::open(env.mem("recording")),
            bearable: Some(env.number("blame", 0)).filter(|limit| *limit > 0),
            system: env.cap("system"),
        }
    }

    /// Takes the samples of a case.
    pub fn sample(&mut self, metric: u16, case: u16) {
        self.sample_with(metric, case, &|| None);
    }

    /// [`Sampler::sample`], and with each sample what was interrupted, if that is known.
    fn sample_with(&mut self, metric: u16, case: u16, blame: &dyn Fn() -> Option<u64>) {
        for round in 0..self.warm_up + self.samples {
            let at = system::clock() + self.least + self.random.below(self.spread);
            signal::set_timer(self.timer, at).expect("the timer");
            let signal = ipc::receive_short(self.bell);
            let now = counter();
            signal.status.result().expect("the timer's signal");
            if round >= self.warm_up {
                self.stop_if_late(self.clock.instant_of(now).saturating_sub(at));
            }
            if let Some(round) = round.checked_sub(self.warm_up) {
                let tag = Tag { metric, case, round: round as u16, point: 0 };
                self.recorder.pair(tag, self.clock.counter_at(at), now);
                if let Some(cause) = blame() {
                    self.recorder.record(Tag { point: INTERRUPTED, ..tag }, cause);
                }
            }
        }
    }

    /// Stops the trace, once, if a wake-up was this late and that is not to be borne.
    #[inline(always)]
    fn stop_if_late(&mut self, late: u64) {
        if self.bearable.is_some_and(|limit| late > limit) {
            self.bearable = None;
            let late = late.min(u64::from(u32::MAX));
            system::observe(self.system, Observe::Mark, late).expect("a kernel with a trace");
            system::observe(self.system, Observe::Freeze, 0).expect("a trace");
        }
    }

    /// Completes the recording and ends the run.
    pub fn done(self, env: &Env) {
        self.recorder.done();
        system::shutdown(env.cap("system"), 0).expect("the run ends");
    }
}

/// The numbers of an argument, such as `sweep = "50 100"`.
fn numbers(env: &Env, name: &str) -> impl Iterator<Item = u64> + use<> {
    let text = env.arg(name).unwrap_or("");
    text.split(' ').filter(|word| !word.is_empty()).map(|word| {
        word.parse().unwrap_or_else(|_| panic!("'{word}' among the arguments is no number"))
    })
}

/// Kinds of load that `storm` makes, in the order of the words of `control` that turn them on.
pub const STORMS: [&str; 4] = ["messages", "faults", "threads", "memory"];

/// Wake-ups without load, under each kind of storm, and under all at once. Case 0 is no load,
/// case `i` the storm `STORMS[i - 1]`, the last one all of them. Capabilities `go-NAME` (signal)
/// for each storm, and those of [`Sampler::open`]; memory `control`.
pub fn main(env: &Env) {
    let mut sampler = Sampler::open(env);
    let control = env.mem("control");
    let go =
        [env.cap("go-messages"), env.cap("go-faults"), env.cap("go-threads"), env.cap("go-memory")];
    for case in 0..=STORMS.len() + 1 {
        let blows = |storm: usize| case == storm + 1 || case == STORMS.len() + 1;
        for (storm, go) in go.into_iter().enumerate() {
            let before = control.get(storm) != 0;
            control.set(storm, u64::from(blows(storm)));
            if blows(storm) && !before {
                signal::signal(go).expect("a storm waits");
            }
        }
        settle();
        let alone = (1..=STORMS.len()).contains(&case);
        let blame = || alone.then(|| control.get(OPERATION + case - 1));
        sampler.sample_with(1, case as u16, &blame);
    }
    sampler.done(env);
}

/// Turns all storms on, for good: capabilities `go-NAME` (signal), memory `control`.
pub fn unleash(env: &Env) {
    let control = env.mem("control");
    let go = ["go-messages", "go-faults", "go-threads", "go-memory"];
    for (storm, go) in go.into_iter().enumerate() {
        control.set(storm, 1);
        signal::signal(env.cap(go)).expect("a storm waits");
    }
}

/// Lets all lower threads finish what they are at.
fn settle() {
    system::sleep(2_000_000);
}

/// Words of `control`: behind those that turn storms on, the operation that each is at.
const OPERATION: usize = 8;

/// Whether a storm is to go on.
fn is_on(control: Words, storm: usize) -> bool {
    control.get(storm) != 0
}
