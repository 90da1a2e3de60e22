//! The kernel with a fast path and the one without behave alike: random programs run on both in
//! lockstep, and everything that can be observed is compared after every kernel entry.

use crate::support::board::{Board, ENDLESS};
use crate::support::effort::{INTERPRETED, cases, seeds, steps};
use crate::support::host::Host;
use crate::support::programs::{MANAGE, Mix, TALK, apply, choose};
use crate::support::rng::Rng;
use crate::support::seed::Seed;
use crate::support::state::{Fact, buffer, facts};
use crate::support::town::{self, Plan};
use kernel::sched::{Direct, Lazy, Switched};
use kernel::send_queue::Fifo;
use kernel::system::{DirectLazy, System};
use proptest::prelude::*;

/// The fast path in front of direct-lazy: what it does must be what that kernel does.
struct FastDirectLazy;

impl System for FastDirectLazy {
    const NAME: &'static str = "fast-direct-lazy";
    const FAST_PATH: bool = true;
    type Port = Host;
    type Notes = kernel::cpu::notes::Quiet;
    type Scheduler = Switched<Direct, Lazy>;
    type SendQueue = Fifo;
    type Observed = kernel::system::Traced<FastDirectLazy>;
}

/// Two kernels in lockstep.
struct Pair {
    fast: Board<FastDirectLazy>,
    plain: Board<DirectLazy<Host>>,
    facts: [Vec<Fact>; 2],
    entries: u64,
}

impl Pair {
    fn new(plan: &Plan, noise_once_in: u64) -> Pair {
        let pair = Pair {
            fast: town::boot(plan),
            plain: town::boot(plan),
            facts: [Vec::new(), Vec::new()],
            entries: 0,
        };
        pair.fast.host.noise_once_in.set(noise_once_in);
        pair.plain.host.noise_once_in.set(noise_once_in);
        pair
    }

    fn compare(&mut self) {
        self.entries += 1;
        let [fast, plain] = &mut self.facts;
        facts(&self.fast, fast);
        facts(&self.plain, plain);
        if fast != plain {
            let first = fast.iter().zip(plain.iter()).find(|(fast, plain)| fast != plain);
            panic!("fast path and general path differ: {first:x?}");
        }
        if let Some(thread) = self.fast.running() {
            self.compare_buffer(thread);
        }
        if self.entries.is_multiple_of(16) {
            self.fast.check();
            self.plain.check();
            (1..self.fast.machine.kernel.threads.size()).for_each(|at| self.compare_buffer(at));
        } else {
            self.fast.check_core();
            self.plain.check_core();
        }
    }

    fn compare_buffer(&self, thread: u32) {
        let (fast, plain) = (buffer(&self.fast, thread), buffer(&self.plain, thread));
        assert!(fast == plain, "the message buffers of thread {thread} differ");
    }

    /// One random action and what follows from it.
    fn step(&mut self, rng: &Rng, mix: &Mix) {
        let action = choose(&self.fast, rng, mix);
        apply(&self.fast, &action);
        apply(&self.plain, &action);
        self.compare();
        for steps in 0.. {
            assert!(steps < ENDLESS, "interrupts and calls go on for ever");
            let (fast, plain) = (self.fast.step(), self.plain.step());
            assert!(fast == plain, "something happens to one kernel alone");
            if !fast {
                break;
            }
            self.compare();
        }
    }
}

/// Runs one seed, printing it if that fails. Returns the kernel entries, and how many of them
/// the fast path did.
fn run(seed: u64, actions: u64, mix: &Mix) -> (u64, u64) {
    let told = Seed::of(seed);
    let rng = Rng::new(seed);
    let plan = Plan { unique: rng.once_in(2), handlers: rng.once_in(2), seed };
    let mut pair = Pair::new(&plan, rng.pick(&[0, 3, 20]));
    for action in 0..actions {
        told.at(action);
        pair.step(&rng, mix);
        if pair.fast.ended.get().is_some() {
            break;
        }
    }
    (pair.entries, pair.fast.fast_calls.get())
}

#[test]
fn a_long_run() {
    let (mut entries, mut fast) = (0, 0);
    for seed in seeds(0..u64::MAX) {
        let (more, faster) = run(0x6100_0000 + seed, steps(10_000), &TALK);
        (entries, fast) = (entries + more, fast + faster);
        if entries >= 200_000 {
            break;
        }
    }
    assert!(INTERPRETED || fast * 20 > entries, "the fast path did {fast} of {entries} entries");
}

#[test]
fn a_long_run_of_managing() {
    for seed in 0..u64::from(cases(6)) {
        run(0x6200_0000 + seed, steps(5_000), &MANAGE);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(24)))]
    #[test]
    fn any_seed(seed: u64, actions in 1..steps(600), talk: bool) {
        run(seed, actions, if talk { &TALK } else { &MANAGE });
    }
}
