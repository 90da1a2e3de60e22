//! Tasks of RTSim's language (S2G-08): a domain each, with objects in memory that all of them
//! share.

mod job;
mod objects;

use crate::random::Random;
use abi::rtsim::JOB_WORDS;
use job::Job;
use objects::{Objects, Wrong};
use rt::prelude::*;
use rt::{Words, system, time};

/// When tasks run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Activation {
    /// Once in so many nanoseconds.
    Period(u64),
    /// Again and again.
    Forever,
    /// Once.
    Once,
}

impl Activation {
    fn of(env: &Env) -> Activation {
        match (env.number("period", 0), env.number("forever", 0)) {
            (0, 0) => Activation::Once,
            (0, _) => Activation::Forever,
            (period, _) => Activation::Period(period),
        }
    }
}

/// A task. Arguments `code` ([`abi::rtsim`]); `release` (nanoseconds since boot), of the first job;
/// `period` (nanoseconds), or 0 and `forever`; `unit`, nanoseconds of a unit of time; `blocking`,
/// units that a wait takes which blocks; `seed`. Memory `shared-objects`, and one of the domain's
/// name for the records of jobs. Capabilities `console`, and `system` to end a run that went wrong.
pub fn task(env: &Env) {
    let objects = Objects::new(env.mem("shared-objects"));
    let records = env.mem(env.name());
    let job = Job {
        code: env.arg("code").unwrap_or_default(),
        unit: env.number("unit", 100_000),
        blocking: env.number("blocking", 0),
    };
    let mut random = Random::new(env.number("seed", 1));
    let activation = Activation::of(env);
    let mut release = env.number("release", 0);
    for number in 0.. {
        time::sleep_until(Instant::from_nanos(release));
        let began = Instant::now().as_nanos();
        if let Err(Wrong { step, what }) = job.run(&objects, &mut random) {
            let console = env.console();
            println!(console, "task {}, job {}, step {step}: {what}", env.name(), number + 1);
            let _ = system::shutdown(env.cap("system"), 1);
        }
        let complete = Instant::now().as_nanos();
        record(records, number, [release, began, complete]);
        match activation {
            Activation::Period(period) => release += period,
            Activation::Forever => release = complete,
            Activation::Once => break,
        }
    }
    system::sleep_until(u64::MAX);
}

/// Writes the record of a job, if there is room, and counts it.
fn record(records: Words, number: usize, job: [u64; JOB_WORDS]) {
    let first = 1 + JOB_WORDS * number;
    if first + JOB_WORDS <= records.len() {
        (first..).zip(job).for_each(|(word, instant)| records.set(word, instant));
    }
    records.set(0, number as u64 + 1);
}

/// Ends the run at an instant: argument `at` (nanoseconds since boot), capability `system`.
pub fn end(env: &Env) {
    system::sleep_until(env.number("at", 0));
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}
