//! The thread under attack, which measures how late it runs.

use super::attack::{ATTACKS, Attack};
use super::server::{ANSWER, SIGNAL};
use super::{Control, EACH, MOST};
use crate::latency::Clock;
use crate::random::Random;
use abi::results::Tag;
use rt::arch::counter;
use rt::{Env, Info, Message, Recorder, Slot, Wait, ipc, reservation, signal, system};

/// What it waits for; the numbers are metrics of the recording.
#[derive(Clone, Copy, PartialEq)]
#[repr(u16)]
enum Event {
    /// A timer's signal.
    Timer = 1,
    /// The end of its own timeout.
    Timeout = 2,
    /// A signal of its server's.
    Signal = 3,
    /// An answer of its server's.
    Answer = 4,
    /// A timer's signal, while it runs on a reservation.
    Reservation = 5,
}

const EVENTS: [Event; 5] =
    [Event::Timer, Event::Timeout, Event::Signal, Event::Answer, Event::Reservation];
/// The metrics of the whole time from when its server was to signal, or to serve its queue.
const SIGNALLED: u16 = 6;
const ANSWERED: u16 = 7;

/// Nanoseconds to an event beside an attack in a loop: at least, and by how many more at most.
const LEAST: u64 = 5_000;
const SPREAD: u64 = 30_000;
/// Nanoseconds for the herd to be in place before a blow, besides those for each of its threads.
const REST: u64 = 400_000;
/// Nanoseconds behind the blow in which every other event lies, for each thread, and besides.
const BEHIND: u64 = 1_000;
const AT_LEAST: u64 = 4_000;
/// Cases of a recording for each attack: one for each number of threads.
const SIZES: usize = 16;

/// Measures all cases: capabilities `timer`, which signals `bell` (receive), `orders` and `service`
/// (send), `go` (signal), `ready` (receive), `system`, and under `tree` `self-thread` and `own`, a
/// leaf. Memory `control`, `recording`. Arguments `seed`, `samples`, `warmup`, `threads` (numbers
/// of hostile threads), `attacks` (names; those that the kernel knows).
pub fn main(env: &Env) {
    let mut victim = Victim::open(env);
    let attacks = ATTACKS.iter().enumerate();
    for (number, attack) in attacks.filter(|(_, attack)| is_listed(env, attack.name)) {
        for (size, threads) in numbers(env, "threads").enumerate() {
            assert!(threads as usize <= MOST && size < SIZES, "a herd of {threads}");
            victim.face(attack, number, (size, threads));
        }
    }
    victim.recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

fn words(env: &Env, name: &str) -> impl Iterator<Item = &'static str> + use<> {
    env.arg(name).unwrap_or("").split(' ').filter(|word| !word.is_empty())
}

fn is_listed(env: &Env, attack: &str) -> bool {
    words(env, "attacks").any(|name| name == attack)
}

fn numbers(env: &Env, name: &str) -> impl Iterator<Item = u64> + use<> {
    words(env, name).map(|word| word.parse().expect("a number"))
}

struct Victim {
    env: Env,
    timer: Slot,
    bell: Slot,
    orders: Slot,
    service: Slot,
    go: Slot,
    ready: Slot,
    control: Control,
    clock: Clock,
    random: Random,
    recorder: Recorder,
    samples: u64,
    warm_up: u64,
}

impl Victim {
    fn open(env: &Env) -> Victim {
        Victim {
            env: *env,
            timer: env.cap("timer"),
            bell: env.cap("bell"),
            orders: env.cap("orders"),
            service: env.cap("service"),
            go: env.cap("go"),
            ready: env.cap("ready"),
            control: Control(env.mem("control")),
            clock: Clock::ask(),
            random: Random::new(env.number("seed", 1)),
            recorder: Recorder::open(env.mem("recording")),
            samples: env.number("samples", 20),
            warm_up: env.number("warmup", 1),
        }
    }

    /// Takes the samples of an attack by so many threads.
    fn face(&mut self, attack: &Attack, number: usize, (size, threads): (usize, u64)) {
        self.control.begin(number, threads);
        self.tell();
        let case = (number * SIZES + size) as u16;
        let has_own = self.env.find_cap("own").is_some();
        for round in 0..self.warm_up + self.samples {
            for event in EVENTS.into_iter().filter(|it| has_own || *it != Event::Reservation) {
                let (before, after) = self.sample(event, attack.is_blow, threads, round);
                let Some(round) = round.checked_sub(self.warm_up) else { continue };
                let tag = Tag { metric: event as u16, case, round: round as u16, point: 0 };
                let whole = match event {
                    Event::Signal => SIGNALLED,
                    Event::Answer => ANSWERED,
                    Event::Timer | Event::Timeout | Event::Reservation => {
                        self.recorder.pair(tag, before, after);
                        continue;
                    }
                };
                self.recorder.pair(Tag { metric: whole, ..tag }, before, after);
                self.recorder.pair(tag, self.control.stamp(), after);
            }
        }
        self.control.end();
        self.tell();
    }

    /// Tells the leader to go on, and waits until it has.
    fn tell(&self) {
        signal::signal(self.go).expect("the leader's notification");
        ipc::receive(self.ready, Wait::NEVER).expect("the leader's signal");
    }

    /// One event: the counter at its instant, and when the thread ran.
    fn sample(&mut self, event: Event, is_blow: bool, threads: u64, round: u64) -> (u64, u64) {
        let mut at = system::clock() + LEAST + self.random.below(SPREAD);
        if is_blow {
            let blow = system::clock() + REST + threads * EACH;
            let behind = self.random.below(threads * BEHIND + AT_LEAST);
            at = blow + if round.is_multiple_of(2) { 0 } else { behind };
            self.control.set_instant(blow);
        }
        match event {
            Event::Signal => self.order(SIGNAL, at),
            Event::Answer => self.order(ANSWER, at),
            Event::Reservation => self.run_on(self.env.cap("own")),
            Event::Timer | Event::Timeout => {}
        }
        if is_blow {
            self.tell();
            let now = system::clock();
            assert!(now < at, "the herd of {threads} is in place {} ns late", now - at);
        }
        let after = match event {
            Event::Timer | Event::Reservation => {
                signal::set_timer(self.timer, at).expect("the timer");
                self.bell()
            }
            Event::Timeout => {
                system::sleep_until(at);
                counter()
            }
            Event::Signal => self.bell(),
            Event::Answer => {
                let answer = ipc::call_short(self.service, Info::new(0, 0), []);
                let now = counter();
                answer.status.result().expect("an answer");
                now
            }
        };
        if event == Event::Reservation {
            self.run_on(Slot::NONE);
        }
        (self.clock.counter_at(at), after)
    }

    fn bell(&self) -> u64 {
        let signal = ipc::receive_short(self.bell);
        let now = counter();
        signal.status.result().expect("a signal");
        now
    }

    fn order(&self, label: u32, at: u64) {
        ipc::send(self.orders, Message::short(label, [at]), Wait::NEVER).expect("it takes orders");
    }

    fn run_on(&self, leaf: Slot) {
        reservation::run_on(self.env.cap("self-thread"), leaf).expect("its own leaf");
    }
}
