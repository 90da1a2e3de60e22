//! The program records events as BEFORE and the counter of the thread that ran as AFTER, by event;
//! its cases count attacks, and numbers of threads in each.

use super::{
    ATTACKS, DELAY, EVENTS, EXPERIMENT, SERVICE, THREADS, WORST, case, scene, slope, suffers,
};
use crate::experiment::measured::recording;
use crate::experiment::{Emulated, Measured};
use crate::systems::set;
use anyhow::{Context, Result};
use manifest::{System, TREE, Target};
use results::Recording;

/// The metrics of what the server does, from when it is to begin.
const SERVED: [(u16, &str); 2] = [(6, "signal"), (7, "answer")];
/// Cases of the recording for each attack.
const SIZES: usize = 16;

pub fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let threads = setup.asked.numbers("threads").unwrap_or(THREADS.to_vec());
    let attacks = setup.asked.names("attack").unwrap_or(ATTACKS.map(str::to_string).to_vec());
    let attacks: Vec<&str> = ATTACKS
        .into_iter()
        .filter(|attack| suffers(kernel, attack) && attacks.iter().any(|name| name == attack))
        .collect();
    let outcome = setup.boot_changed(EXPERIMENT.name, kernel, &mut |system| {
        lay_out(system, kernel);
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
