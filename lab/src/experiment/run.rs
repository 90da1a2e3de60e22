//! Runs an experiment and makes its report.

use super::{Experiment, Measured};
use crate::image::{self, Extra, Images};
use crate::machine::{self, Boot, Console, Count, Machine, Outcome, Sampling, Seen, Simulation};
use crate::profile::Profile;
use crate::progress::Step;
use crate::{systems, workspace};
use abi::results::Tag;
use anyhow::{Context, Result, bail};
use manifest::System;
use results::{Fact, Recording, Report, Samples, Spans};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

/// Longer than any experiment takes on a slow host.
const TIMEOUT: Duration = Duration::from_secs(180);

/// Round trips before the one that is followed.
const WARM_UP: usize = 20;

/// Where and with what experiments run.
pub struct Setup {
    /// The machine.
    pub machine: &'static dyn Machine,
    /// What it boots.
    pub images: Images,
    /// The seed of the run.
    pub seed: u64,
    /// Numbers of CPUs, where an experiment has a choice and one was made.
    pub cpus: Option<Vec<usize>>,
    /// Whether CPUs that share a clock get slices of it; programs that are measured wait or pause.
    slices: bool,
    /// What else it has booted, by [`Extra`].
    extras: [OnceCell<Images>; Extra::KINDS],
}

/// What a run with samples gave.
pub struct Sampled {
    /// What was sampled.
    pub samples: machine::Samples,
    /// Where the samples fell.
    pub profile: Profile,
    /// The memories that the host reads.
    pub memories: BTreeMap<String, Vec<u8>>,
}

impl Setup {
    /// Builds everything for a machine.
    pub fn new(machine: &'static dyn Machine, seed: u64) -> Result<Setup> {
        let images = image::build(machine)?;
        Ok(Setup { machine, images, seed, cpus: None, slices: false, extras: Default::default() })
    }

    /// The same with slices.
    pub fn sliced(self) -> Setup {
        Setup { slices: true, ..self }
    }

    /// Programs and a kernel that has something extra, built at the first use.
    pub fn images_with(&self, extra: Extra) -> Result<&Images> {
        let cell = &self.extras[extra as usize];
        if let Some(images) = cell.get() {
            return Ok(images);
        }
        let built = image::build_with(self.machine, extra)?;
        Ok(cell.get_or_init(|| built))
    }

    fn launch<'a>(&'a self, system: &'a System, kernel: &'a str) -> Boot<'a> {
        Boot {
            machine: self.machine,
            board: self.machine.boards()[0],
            images: &self.images,
            system,
            kernel,
            icount: Some(self.seed),
            console: Console::CAPTURE,
            timeout: Some(TIMEOUT),
            inspect: false,
            log: false,
            sampling: None,
            simulation: Default::default(),
            slices: self.slices,
        }
    }

    /// Boots a system by name under a kernel; it must end well under that very kernel.
    pub fn boot(&self, system: &str, kernel: &str) -> Result<Outcome> {
        self.boot_changed(system, kernel, &mut |_| {})
    }

    /// [`Setup::boot`] of a system that was changed after loading.
    pub fn boot_changed(
        &self,
        system: &str,
        kernel: &str,
        change: &mut dyn FnMut(&mut System),
    ) -> Result<Outcome> {
        self.boot_with(None, system, kernel, change)
    }

    /// [`Setup::boot_changed`] under a kernel that may have something extra.
    pub fn boot_with(
        &self,
        extra: Option<Extra>,
        system: &str,
        kernel: &str,
        change: &mut dyn FnMut(&mut System),
    ) -> Result<Outcome> {
        let mut system = self.load(system)?;
        change(&mut system);
        let images = extra.map_or(Ok(&self.images), |extra| self.images_with(extra))?;
        let launch = Boot { images, ..self.launch(&system, kernel) };
        checked(machine::boot(&launch)?, &system, kernel)
    }

    /// Runs a system under a kernel in the simulation; also what that has seen.
    pub fn simulate(
        &self,
        system: &System,
        kernel: &str,
        simulation: Simulation,
    ) -> Result<(Outcome, Seen)> {
        let launch = Boot { simulation, ..self.launch(system, kernel) };
        let (outcome, seen) = machine::simulate(&launch, &|_| ())?;
        Ok((checked(outcome, system, kernel)?, seen))
    }

    /// Boots a system by name under a kernel that takes samples.
    pub fn sample(&self, system: &str, kernel: &str, sampling: Sampling) -> Result<Sampled> {
        let system = self.load(system)?;
        let images = self.images_with(Extra::Profile)?;
        let sampling = Some(sampling);
        let launch = Boot { images, sampling, ..self.launch(&system, kernel) };
        let outcome = checked(machine::boot(&launch)?, &system, kernel)?;
        let samples = outcome.samples.context("the run left no samples")?;
        let profile = Profile::new(&samples, images, &system)?;
        Ok(Sampled { samples, profile, memories: outcome.memories })
    }

    /// A system by name, its programs with the seed of the run.
    fn load(&self, system: &str) -> Result<System> {
        let mut system = systems::load(system)?;
        let seeds = system.domains.iter_mut().flat_map(|domain| &mut domain.args);
        for (_, value) in seeds.filter(|(name, _)| name == "seed") {
            *value = self.seed.to_string();
        }
        Ok(system)
    }
}

/// A run that ended well, under the very kernel that was asked for.
fn checked(outcome: Outcome, system: &System, kernel: &str) -> Result<Outcome> {
    if let Some(failure) = outcome.failure() {
        bail!("system `{}` under kernel `{kernel}`: {failure}", system.name);
    }
    if outcome.kernel != kernel {
        bail!("kernel `{kernel}` was asked for, but `{}` is running", outcome.kernel);
    }
    Ok(outcome)
}

/// What one round trip between the client and the server of a system consists of.
pub fn round_trip_facts(setup: &Setup, system: &str, kernel: &str) -> Result<Vec<Fact>> {
    let system = systems::load(system)?;
    let counts = machine::round_trip(&setup.launch(&system, kernel), WARM_UP)
        .with_context(|| format!("following a round trip of `{}` under {kernel}", system.name))?;
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

/// Runs an experiment under the given kernels.
pub fn run(experiment: &Experiment, setup: &Setup, kernels: &[&str]) -> Result<(Report, Samples)> {
    let mut all = Measured::default();
    for kernel in kernels {
        let _step = Step::start(format!("{}: measuring kernel {kernel}", experiment.name));
        let measured = (experiment.measure)(setup, kernel)
            .with_context(|| format!("experiment `{}`", experiment.name))?;
        all.samples.series.extend(measured.samples.series);
        all.facts.extend(measured.facts);
        all.notes.extend(measured.notes);
        all.limits.extend(measured.limits);
        all.curves.extend(measured.curves);
        all.host.extend(measured.host);
        all.unit = measured.unit.or(all.unit);
    }
    let notes = experiment.notes.iter().map(|note| note.to_string());
    let mut report = Report {
        schema: results::SCHEMA,
        experiment: experiment.name.to_string(),
        machine: setup.machine.name().to_string(),
        origin: setup.machine.origin(),
        unit: all.unit.unwrap_or(setup.machine.unit().to_string()),
        commit: workspace::commit(),
        seed: setup.seed,
        host: host(setup.machine).into_iter().chain(all.host).collect(),
        rows: all.samples.rows(),
        claims: Vec::new(),
        baselines: results::baselines(experiment.name),
        facts: text_facts(setup)?.into_iter().chain(all.facts).collect(),
        limits: all.limits,
        curves: all.curves,
        notes: notes.chain(all.notes).collect(),
    };
    report.claims = (experiment.claims)(&report);
    Ok((report, all.samples))
}

/// How large kernels are: all of them in one image, and one alone.
fn text_facts(setup: &Setup) -> Result<Vec<Fact>> {
    let fact = |name: String, value: u64, note: &str| Fact {
        name,
        value,
        unit: "bytes".to_string(),
        note: note.to_string(),
    };
    let Some(emulator) = setup.machine.emulator() else { return Ok(Vec::new()) };
    let kernel = manifest::KERNELS[0];
    let alone = image::build_alone(emulator, kernel)?;
    Ok(vec![
        fact(
            "kernel text".to_string(),
            image::text_bytes(&setup.images.kernel)?,
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
fn host(machine: &dyn Machine) -> BTreeMap<String, String> {
    let first_line = |program: &str| {
        let output = Command::new(program).arg("--version").output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_string())
    };
    let mut host = BTreeMap::new();
    let emulator = machine.emulator().map(|emulator| ("emulator", emulator.program()));
    for (name, program) in emulator.into_iter().chain([("compiler", "rustc")]) {
        host.insert(name.to_string(), first_line(program).unwrap_or("unknown".to_string()));
    }
    host.insert("system".to_string(), std::env::consts::OS.to_string());
    host.insert("processor".to_string(), std::env::consts::ARCH.to_string());
    host
}
