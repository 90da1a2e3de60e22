//! The native machine: every kernel under every locking, on one CPU and on two. What is checked is
//! that messages arrive and that counts agree, never how long anything takes. It takes more than a
//! minute to compile, and tests of its own crate try every locking each time: all is for deep runs.

use super::builds::Builds;
use super::findings::{Findings, built};
use super::job::{Class, Job};
use crate::cli::Group;
use crate::failure::Usage;
use crate::image;
use crate::machine::native::{self, Cost, Host, Throughput};
use anyhow::{Context, Result, bail, ensure};
use manifest::NO_LOCKING;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Lockings that there must be: those of manifests, and a kernel for several CPUs without any.
fn lockings() -> impl Iterator<Item = &'static str> {
    manifest::LOCKINGS.into_iter().chain(["none-several"])
}
/// Round trips of a batch, and batches.
const TRIPS: u64 = 10;
const ROUNDS: u64 = 3;
/// Round trips before each batch, and before all of them.
const BEFORE_EACH: u64 = 2;
const BEFORE_ALL: u64 = 100 * TRIPS;

/// Runs the machine briefly. Where several of its threads run at once, nothing runs beside it.
pub fn jobs() -> Vec<Job> {
    let cpus = std::thread::available_parallelism().map_or(1, |count| count.get().min(2));
    let job = |name: String, check: Check| {
        let work = move |_: &mut Findings| {
            let program = built(image::build_native())?;
            check(&program)
        };
        Job::new(Group::Target, name, work).builds(Builds::Native).class(Class::Deep)
    };
    let mut jobs = vec![job("native: more CPUs than there are".into(), Box::new(refusal))];
    for kernel in manifest::KERNELS {
        let name = format!("{kernel} under every locking on native, one CPU");
        let check: Check = Box::new(move |program| messages(program, kernel));
        jobs.push(job(name, check).configuration());
        let name = format!("{kernel} under every locking on native, 1 to {cpus} CPUs at once");
        let check: Check = Box::new(move |program| together(program, kernel, cpus));
        jobs.push(job(name, check).configuration().alone());
    }
    jobs
}

type Check = Box<dyn FnOnce(&Path) -> Result<()> + Send>;

fn ask<T: DeserializeOwned>(program: &Path, line: &str) -> Result<Host<T>> {
    native::run(program, &line.split(' ').collect::<Vec<_>>())
}

fn messages(program: &Path, kernel: &str) -> Result<()> {
    let line = format!("cost --kernel {kernel} --trips {TRIPS} --rounds {ROUNDS}");
    let found = ask::<Vec<Cost>>(program, &line)?.found;
    for locking in lockings() {
        let cost = found.iter().find(|cost| cost.locking == locking);
        let cost = cost.with_context(|| format!("locking {locking} did not run"))?;
        let expected = 2 * (BEFORE_ALL + ROUNDS * (BEFORE_EACH + TRIPS));
        let batches = (cost.batches.len() as u64, cost.messages_in_batch);
        let same = (cost.messages, batches) == (expected, (ROUNDS, 2 * TRIPS));
        ensure!(same, "{locking}: {} messages, not {expected}", cost.messages);
    }
    Ok(())
}

fn together(program: &Path, kernel: &str, cpus: usize) -> Result<()> {
    let numbers = if cpus > 1 { "1,2" } else { "1" };
    let line = format!(
        "scaling --kernel {kernel} --cpus {numbers} --think 0,500 --rounds 1 --warm-up 100 \
         --window 300"
    );
    let found = ask::<Vec<Throughput>>(program, &line)?.found;
    for locking in lockings() {
        let numbers = 1..=if locking.starts_with(NO_LOCKING) { 1 } else { cpus };
        for (cpus, think) in numbers.flat_map(|cpus| [0, 500].map(|think| (cpus, think))) {
            let name = format!("{locking}, {cpus} CPUs, think {think}");
            let same = |p: &&Throughput| (&*p.locking, p.cpus, p.think) == (locking, cpus, think);
            let point = found.iter().find(same).with_context(|| format!("{name} did not run"))?;
            let idle = point.windows.iter().any(|w| w.messages == 0 || w.per_second == 0);
            let arrived = !point.windows.is_empty() && !idle;
            ensure!(arrived, "{name}: no message arrived in {:?}", point.windows);
        }
    }
    Ok(())
}

/// It must be refused in a sentence.
fn refusal(program: &Path) -> Result<()> {
    match ask::<Vec<Throughput>>(program, "scaling --lockings big --cpus 100000") {
        Ok(_) => bail!("100000 CPUs ran"),
        Err(error) if error.is::<Usage>() && error.to_string().contains("ask for at most") => {
            Ok(())
        }
        Err(error) => Err(error.context("it is not refused but fails")),
    }
}
