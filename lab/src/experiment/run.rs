//! Runs an experiment and makes its report.

use super::measured::fact;
use super::parameter::Set;
use super::{Emulated, Listed, Measured, Session, Setup, find};
use crate::image::{self, Build, Kernels};
use crate::machine::{self, Count};
use crate::progress::Step;
use crate::{systems, workspace};
use anyhow::{Context, Result, ensure};
use manifest::System;
use results::{Fact, Origin, Report, SYSTEM, Samples, Value};
use std::collections::BTreeMap;
use std::process::Command;

/// The experiment whose report also says how large kernels are, if it runs under all of them.
const SIZED: &str = "ping-pong";

/// Round trips before the one that is followed.
const WARM_UP: usize = 20;

/// What one round trip between the client and the server of a system consists of.
pub fn round_trip_facts(setup: &Emulated, system: &str, kernel: &str) -> Result<Vec<Fact>> {
    let counts = setup
        .round_trip(system, kernel, WARM_UP)
        .with_context(|| format!("following a round trip of `{system}` under {kernel}"))?;
    let told = |count: Count| {
        fact(format!("{kernel} round trip: {}", count.name), count.value, "", count.note)
    };
    Ok(counts.into_iter().map(told).collect())
}

/// How long the kernel takes to boot a system.
pub fn boot_fact(setup: &Setup, system: &str, kernel: &str) -> Result<Fact> {
    let taken = setup.boot(system, kernel)?.boot_steps();
    let taken = taken.context("the kernel does not say how long it took to boot")?;
    let note = "from kernel entry to the first user instruction";
    Ok(fact(format!("{kernel} boot of {system}"), taken, "instructions", note))
}

/// Runs an experiment under the given kernels. The report is labelled with the platform that the
/// runs came from.
pub fn run(listed: Listed, session: &Session, kernels: &[&str]) -> Result<(Report, Samples)> {
    let experiment = listed.experiment();
    let mut all = Measured::default();
    for kernel in kernels {
        let _step = Step::start(format!("{}: measuring kernel {kernel}", experiment.name));
        let measured = session
            .measure(listed, kernel)
            .with_context(|| format!("experiment `{}`", experiment.name))?;
        all.extend(measured);
    }
    all.samples.series.retain(|series| session.asked().wants(&series.case));
    let user_system = session.asked().system.as_deref().map(systems::load).transpose()?;
    let of_user = user_system.as_ref().map(|_| experiment.of_user_system()).transpose()?;
    if let Some(system) = &user_system {
        name_system(&mut all.samples, &system.name);
    }
    let platform = session.ran(listed).take()?;
    let (name, wanted) = (platform.name(), listed.platform().name());
    ensure!(name == wanted, "`{}` was to run on {wanted} and ran on {name}", experiment.name);
    let sized = experiment.name == SIZED && kernels == experiment.kernels;
    let sizes = if sized { text_facts(session, listed)? } else { Vec::new() };
    let notes = of_user.map_or(experiment.notes, |of_user| of_user.notes);
    let notes = notes.iter().map(|note| note.to_string());
    let unit = all.unit.as_deref().unwrap_or(platform.unit());
    let set = session.asked().set.iter();
    let baselines =
        if of_user.is_none() { results::baselines(experiment.name) } else { Vec::new() };
    let mut report = Report {
        units: all.units,
        commit: workspace::commit(),
        seed: session.asked().seed,
        set: user_system.iter().map(parameter).chain(set.map(named)).collect(),
        host: host(session, listed).into_iter().chain(all.host).collect(),
        rows: all.samples.rows(),
        baselines,
        facts: sizes.into_iter().chain(all.facts).collect(),
        limits: all.limits,
        curves: all.curves,
        notes: notes.chain(all.notes).collect(),
        ..Report::new(experiment.name, name, platform.origin(), unit)
    };
    // Claims are about the experiment's own systems.
    if of_user.is_none() {
        report.claims = experiment.judge(&report);
    }
    Ok((report, all.samples))
}

/// Gives each row the name of the user's system as a parameter.
fn name_system(samples: &mut Samples, name: &str) {
    for series in &mut samples.series {
        series.case = format!("{} {SYSTEM}={name}", series.case).trim_start().to_string();
    }
}

/// A user's system as a parameter of a report.
fn parameter(system: &System) -> (String, Vec<Value>) {
    (SYSTEM.to_string(), vec![Value::parse(&system.name)])
}

fn named(set: &Set) -> (String, Vec<Value>) {
    (set.parameter.name.to_string(), set.values.clone())
}

/// Whether the experiment of a report lists the report's platform.
pub fn is_listed(report: &Report) -> bool {
    find(&report.experiment).is_some_and(|experiment| experiment.runs_on(&report.machine))
}

/// How large kernels are: all of them in one image, and one alone.
fn text_facts(session: &Session, listed: Listed) -> Result<Vec<Fact>> {
    let Some(setup) = session.boots(listed) else { return Ok(Vec::new()) };
    let Some(emulator) = setup.machine().emulator() else { return Ok(Vec::new()) };
    let kernel = manifest::KERNELS[0];
    let least = Build { kernels: Kernels::Least(kernel), ..Build::default() };
    let all = image::text_bytes(&setup.images(kernel, Build::default())?.kernel)?;
    let alone = image::text_bytes(&image::build_kernel(emulator, least)?)?;
    let note = "code that stays after boot, in the image with every kernel";
    let of_one = "code that stays after boot, in an image with one kernel";
    Ok(vec![
        fact("kernel text", all, "bytes", note),
        fact(format!("kernel text, {kernel} alone"), alone, "bytes", of_one),
    ])
}

/// What the figures may depend on.
fn host(session: &Session, listed: Listed) -> BTreeMap<String, String> {
    let first_line = |program: &str| {
        let output = Command::new(program).arg("--version").output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_string())
    };
    let mut host = BTreeMap::new();
    let emulator = session.boots(listed).and_then(|setup| setup.machine().emulator());
    let emulator = emulator.map(|emulator| ("emulator", emulator.program()));
    for (name, program) in emulator.into_iter().chain([("compiler", "rustc")]) {
        host.insert(name.to_string(), first_line(program).unwrap_or("unknown".to_string()));
    }
    host.insert("system".to_string(), std::env::consts::OS.to_string());
    host.insert("processor".to_string(), machine::processor());
    let real = listed.platform().origin() == Origin::HARDWARE;
    let caches = if real { listed.experiment().caches } else { "none" };
    host.insert("caches".to_string(), caches.to_string());
    host
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::testing::report;

    #[test]
    fn a_report_of_a_platform_that_is_not_listed_is_told() {
        let mut made_up = report("native", &[]);
        made_up.experiment = "lock-cost".to_string();
        assert!(is_listed(&made_up));
        made_up.machine = "qemu-x86_64".to_string();
        assert!(!is_listed(&made_up));
        made_up.experiment = "no-such-thing".to_string();
        assert!(!is_listed(&made_up));
    }
}
