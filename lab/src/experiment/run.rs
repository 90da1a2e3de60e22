//! Runs an experiment and makes its report.

use super::{Emulated, Listed, Measured, Session, Setup, find};
use crate::image;
use crate::machine::{Count, Outcome};
use crate::progress::Step;
use crate::workspace;
use abi::results::Tag;
use anyhow::{Context, Result, bail, ensure};
use results::{Fact, Recording, Report, Samples, Spans};
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
    let fact = |count: Count| Fact {
        name: format!("{kernel} round trip: {}", count.name),
        value: count.value,
        unit: String::new(),
        note: count.note.to_string(),
    };
    Ok(counts.into_iter().map(fact).collect())
}

/// Decodes a recording that a run left; the kernel that it names must be the one asked for.
pub fn recording(outcome: &Outcome, memory: &str, kernel: &str) -> Result<Recording> {
    let bytes = outcome.memories.get(memory).with_context(|| {
        format!("the manifest has no memory `{memory}` with `host = true`; add it")
    })?;
    let recording = Recording::decode(bytes).with_context(|| format!("memory `{memory}`"))?;
    if recording.kernel != kernel {
        let reported = &recording.kernel;
        bail!("kernel `{kernel}` was asked for, but `{memory}` was written under `{reported}`");
    }
    Ok(recording)
}

/// How long the kernel takes to boot a system.
pub fn boot_fact(setup: &Setup, system: &str, kernel: &str) -> Result<Fact> {
    let taken = setup.boot(system, kernel)?.boot_steps();
    Ok(Fact {
        name: format!("{kernel} boot of {system}"),
        value: taken.context("the kernel does not say how long it took to boot")?,
        unit: "instructions".to_string(),
        note: "from kernel entry to the first user instruction".to_string(),
    })
}

/// Adds the samples of a metric under the names of its cases.
pub fn push_spans(
    measured: &mut Measured,
    kernel: &str,
    metric: &str,
    cases: &[&str],
    spans: Spans,
) -> Result<()> {
    if let Some(warning) = spans.warning() {
        measured.notes.push(format!("{metric}: {warning}"));
    }
    for (number, values) in spans.cases {
        let Some(case) = cases.get(usize::from(number)) else {
            bail!("metric `{metric}`: case {number} was recorded, which this laboratory ignores");
        };
        measured.samples.push(kernel, metric, case, values);
    }
    Ok(())
}

/// Adds the spans of a recording, each divided by the number of operations of its case.
pub fn push_shares(
    measured: &mut Measured,
    recording: &Recording,
    (metric, number): (&str, u16),
    cases: &[&str],
    operations: &dyn Fn(&str) -> Result<u64>,
) -> Result<()> {
    let mut spans = results::spans(recording, Tag::BEFORE, recording, Tag::AFTER, number)?;
    for (number, values) in &mut spans.cases {
        if let Some(case) = cases.get(usize::from(*number)) {
            let operations = operations(case)?;
            values.iter_mut().for_each(|value| *value = (*value + operations / 2) / operations);
        }
    }
    push_spans(measured, &recording.kernel, metric, cases, spans)
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
        all.samples.series.extend(measured.samples.series);
        all.facts.extend(measured.facts);
        all.notes.extend(measured.notes);
        all.limits.extend(measured.limits);
        all.curves.extend(measured.curves);
        all.host.extend(measured.host);
        all.unit = measured.unit.or(all.unit);
        all.units.extend(measured.units);
    }
    let platform = session.ran(listed).take()?;
    let (name, wanted) = (platform.name(), listed.platform().name());
    ensure!(name == wanted, "`{}` was to run on {wanted} and ran on {name}", experiment.name);
    let sized = experiment.name == SIZED && kernels == experiment.kernels;
    let sizes = if sized { text_facts(session, listed)? } else { Vec::new() };
    let notes = experiment.notes.iter().map(|note| note.to_string());
    let mut report = Report {
        schema: results::SCHEMA,
        experiment: experiment.name.to_string(),
        machine: name.to_string(),
        origin: platform.origin(),
        unit: all.unit.unwrap_or(platform.unit().to_string()),
        units: all.units,
        commit: workspace::commit(),
        seed: session.asked().seed,
        host: host(session, listed).into_iter().chain(all.host).collect(),
        rows: all.samples.rows(),
        claims: Vec::new(),
        baselines: results::baselines(experiment.name),
        facts: sizes.into_iter().chain(all.facts).collect(),
        limits: all.limits,
        curves: all.curves,
        notes: notes.chain(all.notes).collect(),
    };
    report.claims = (experiment.claims)(&report);
    Ok((report, all.samples))
}

/// Whether the experiment of a report lists the report's platform.
pub fn is_listed(report: &Report) -> bool {
    find(&report.experiment).is_some_and(|experiment| experiment.runs_on(&report.machine))
}

/// How large kernels are: all of them in one image, and one alone.
fn text_facts(session: &Session, listed: Listed) -> Result<Vec<Fact>> {
    let fact = |name: String, value: u64, note: &str| Fact {
        name,
        value,
        unit: "bytes".to_string(),
        note: note.to_string(),
    };
    let Some(setup) = session.boots(listed) else { return Ok(Vec::new()) };
    let Some(emulator) = setup.machine().emulator() else { return Ok(Vec::new()) };
    let kernel = manifest::KERNELS[0];
    let alone = image::build_alone(emulator, kernel)?;
    Ok(vec![
        fact(
            "kernel text".to_string(),
            image::text_bytes(&setup.images(None)?.kernel)?,
            "code that stays after boot, in the image with every kernel",
        ),
        fact(
            format!("kernel text, {kernel} alone"),
            image::text_bytes(&alone)?,
            "code that stays after boot, in an image with one kernel",
        ),
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
    host.insert("processor".to_string(), std::env::consts::ARCH.to_string());
    host
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::claims_testing::report;

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
