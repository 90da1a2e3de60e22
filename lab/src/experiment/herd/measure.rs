//! The program records events as BEFORE and the counter of the thread that ran as AFTER, by event;
//! its cases count attacks, and numbers of threads in each.

use super::{
    ATTACKS, DELAY, EVENTS, EXPERIMENT, SERVICE, THREADS, WORST, case, scene, slope, suffers,
};
use crate::experiment::measured::recording;
use crate::experiment::{Emulated, Measured, Setup, Simulated};
use crate::systems::set;
use anyhow::{Context, Result, ensure};
use manifest::{System, TREE, Target};
use results::{Limit, Recording};

/// The metrics of what the server does, from when it is to begin.
const SERVED: [(u16, &str); 2] = [(6, "signal"), (7, "answer")];
/// What guards the kernel on several CPUs.
const LOCKING: &str = "fine";
/// Cases of the recording for each attack.
const SIZES: usize = 16;
/// CPUs of the simulation, usually.
const CPUS: u32 = 4;
/// The longest delay there: a wake-up waits for some sections of each other CPU.
const MOST_LATE: f64 = 4_000.0;

/// The attacks on one CPU: CPUs of the emulator take turns on one clock.
pub fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let cpus = cpus(setup, 1);
    ensure!(cpus == 1, "its CPUs take turns on one clock; several have `--machine twin`");
    herd(setup, kernel, cpus)
}

/// The attacks on CPUs that run at one time.
pub fn several(setup: &Simulated, kernel: &str) -> Result<Measured> {
    let cpus = cpus(setup, CPUS);
    let mut measured = herd(setup, kernel, cpus)?;
    if cpus > 1 {
        measured.limits.push(longest(&measured, kernel));
    }
    Ok(measured)
}

fn cpus(setup: &Setup, usual: u32) -> u32 {
    let asked = setup.asked.cpus.as_ref().and_then(|cpus| cpus.first());
    asked.map_or(usual, |cpus| *cpus as u32)
}

/// The longest delay of all.
fn longest(measured: &Measured, kernel: &str) -> Limit {
    let rows = measured.samples.rows();
    let worst = rows.iter().filter(|row| row.metric == WORST);
    let worst = worst.map(|row| row.summary.median.as_f64()).fold(0.0, f64::max);
    let name = format!("{kernel} on several CPUs: the longest delay");
    Limit::most(name, worst, MOST_LATE, "modelled instructions")
}

fn herd(setup: &Setup, kernel: &str, cpus: u32) -> Result<Measured> {
    let mut measured = Measured::default();
    let threads = setup.asked.numbers("threads").unwrap_or(THREADS.to_vec());
    let attacks = setup.asked.names("attack").unwrap_or(ATTACKS.map(str::to_string).to_vec());
    let attacks: Vec<&str> = ATTACKS
        .into_iter()
        .filter(|attack| suffers(kernel, attack, cpus) && attacks.iter().any(|name| name == attack))
        .collect();
    let outcome = setup.boot_changed(EXPERIMENT.name, kernel, &mut |system| {
        lay_out(system, kernel);
        spread(system, cpus);
        let numbers: Vec<String> = threads.iter().map(u64::to_string).collect();
        set(system, "threads", &numbers.join(" "));
        set(system, "attacks", &attacks.join(" "));
    })?;
    push(&mut measured, &recording(&outcome, "recording", kernel)?, &threads)?;
    slope::add(&mut measured, kernel, &threads);
    Ok(measured)
}

/// Other kernels than the tree know no reservation.
fn lay_out(system: &mut System, kernel: &str) {
    if kernel == TREE {
        return;
    }
    system.reservations.clear();
    for domain in &mut system.domains {
        domain.caps.retain(|cap| !matches!(cap.target, Target::Reservation(_)));
    }
}

/// The herd's leader is on the second CPU, and its threads on all in turn.
fn spread(system: &mut System, cpus: u32) {
    if cpus == 1 {
        return;
    }
    system.cpus = cpus;
    system.locking = Some(LOCKING.to_string());
    for domain in system.domains.iter_mut().filter(|domain| domain.name == EXPERIMENT.name) {
        domain.cpu = 1;
    }
}

/// Adds the delays of a recording.
pub fn push(measured: &mut Measured, recording: &Recording, threads: &[u64]) -> Result<()> {
    let kernel = &recording.kernel;
    for (number, event) in (1..).zip(EVENTS) {
        if !recording.records.iter().any(|record| record.tag.metric == number) {
            continue;
        }
        for (case, values) in results::delays(recording, number)? {
            let (scene, case) = named(case, event, threads)?;
            let worst = values.iter().max().copied().with_context(|| format!("{scene}: none"))?;
            measured.samples.push(kernel, WORST, &case, vec![worst]);
            measured.samples.push(kernel, DELAY, &case, values);
        }
    }
    for (number, event) in SERVED {
        if !recording.records.iter().any(|record| record.tag.metric == number) {
            continue;
        }
        for (case, values) in results::delays(recording, number)? {
            let (_, case) = named(case, event, threads)?;
            measured.samples.push(kernel, SERVICE, &case, values);
        }
    }
    Ok(())
}

/// The scene and the case of a number in the recording.
fn named(number: u16, event: &str, threads: &[u64]) -> Result<(String, String)> {
    let (attack, size) = (usize::from(number) / SIZES, usize::from(number) % SIZES);
    let unknown = || format!("case {number} was recorded, which is not known here");
    let scene = scene(event, ATTACKS.get(attack).with_context(unknown)?);
    let case = case(&scene, *threads.get(size).with_context(unknown)?);
    Ok((scene, case))
}
