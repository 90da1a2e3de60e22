//! Causes that are planted by seed in runs of the simulation are named, and none is invented.

use super::*;
use crate::experiment::{Asked, Simulated};
use crate::systems;
use manifest::Domain;
use std::fmt::Debug;
use trace::Cause;

/// What a run is to be late for.
#[derive(Debug)]
enum Planted {
    /// A lazy dequeue of so many threads that blocked or were stopped.
    LazyDequeue(u64),
    /// A chain of so many transfers.
    Chain(u64),
    /// A higher thread.
    Higher,
    /// Nothing but the path of a wake-up.
    Nothing,
}

impl Planted {
    fn is(&self, headline: Option<&Cause>) -> bool {
        match (self, headline) {
            // The driver of a crowd may be among them.
            (Planted::LazyDequeue(crowd), Some(Cause::LazyDequeue { threads, .. })) => {
                (crowd - 2..=crowd + 2).contains(&u64::from(*threads))
            }
            (Planted::Chain(crowd), Some(Cause::Chain { transfers, .. })) => {
                (crowd - 2..=crowd + 2).contains(&u64::from(*transfers))
            }
            (Planted::Higher, Some(Cause::HigherThread { thread, .. })) => {
                thread.name.starts_with("busy/")
            }
            (Planted::Nothing, None) => true,
            _ => false,
        }
    }
}

/// One of some, by a number.
fn pick<T: Copy + Debug>(from: &[T], number: u64) -> T {
    from[number as usize % from.len()]
}

fn set(system: &mut System, name: &str, value: impl ToString) {
    systems::set(system, name, &value.to_string());
}

/// A domain above all others, with a thread that computes now and then.
fn add_busy(system: &mut System, seed: u64) {
    let first = &mut system.domains[0];
    first.priority = 253;
    let busy = Domain {
        name: "busy".into(),
        program: "busy".into(),
        priority: 255,
        max_priority: 255,
        slots: 8,
        threads: 1,
        quota: Default::default(),
        args: vec![("seed".into(), seed.to_string()), ("pause".into(), "40000".into())],
        maps: Vec::new(),
        caps: Vec::new(),
        ..first.clone()
    };
    system.domains.push(busy);
}

/// Runs what a seed plants; the headline of the blame.
fn run(setup: &Setup, seed: u64) -> (Planted, String, Option<Cause>) {
    let crowd = 50 * (1 + seed / 5 % 5);
    let (planted, experiment, kernels, threshold): (_, _, &[&str], _) = match seed % 5 {
        0 => {
            let lazy = &["fastpath", "slowpath", "direct-lazy", "strict-lazy", "ipc-heap"][..];
            (Planted::LazyDequeue(crowd), "elevator", lazy, 2_000)
        }
        1 => (Planted::LazyDequeue(crowd), "start-stop", &["fastpath", "slowpath"], 2_000),
        2 => (Planted::Chain(crowd), "ipc-chain", &manifest::KERNELS, 4_000),
        3 => (Planted::Higher, "elevator", &["direct-eager", "strict-eager"], 4_000),
        _ => (Planted::Nothing, "latency", &manifest::KERNELS, 1),
    };
    let kernel = pick(kernels, seed / 5);
    let late = first_late_of(setup, experiment, kernel, threshold, &mut |system| {
        for (name, value) in
            [("seed", seed), ("sweep", crowd), ("forms", 1), ("samples", 400), ("warmup", 2)]
        {
            set(system, name, value);
        }
        if let Planted::Higher = planted {
            add_busy(system, seed);
        }
    });
    let late = late.expect("the run ends well").expect("a wake-up is late");
    let headline = late.blame.headline().map(|(cause, _)| cause.clone());
    (planted, format!("{experiment} under {kernel}: {}", late.blame), headline)
}

#[test]
fn planted_causes_are_named_in_every_run_and_none_is_invented() {
    let setup = Simulated::new(Asked::seed(1));
    // A deep run asks for many cases of each property.
    let runs = if std::env::var_os("PROPTEST_CASES").is_some() { 100 } else { 25 };
    for seed in 0..runs {
        let (planted, told, headline) = run(&setup, seed);
        assert!(planted.is(headline.as_ref()), "seed {seed}, planted {planted:?}: {told}");
    }
}
