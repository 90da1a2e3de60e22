//! The simulation takes the same steps as the other machines: under every kernel the sequence of
//! switches, queue operations, messages and results of each experiment is the same. Times differ.

use super::findings::built;
use super::job::Job;
use crate::cli::Group;
use crate::image::{self, Extra, Images, LOG_ROOM};
use crate::machine::{self, Boot, MACHINES, Machine};
use crate::systems;
use anyhow::{Result, anyhow, bail};
use std::time::Duration;

/// The systems of the experiments, with arguments that keep them short.
const SYSTEMS: [(&str, &[(&str, &str)]); 4] = [
    ("ping-across", &[("rounds", "9"), ("warmup", "2")]),
    ("ping-same", &[("rounds", "9"), ("warmup", "2")]),
    ("hot-potato", &[("messages", "4"), ("rounds", "1")]),
    ("queueing", &[("most", "100"), ("rounds", "1")]),
];

/// Fewer steps than any of them takes.
const LEAST: usize = 500;

/// Longer than any of them takes on a slow host.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Compares every machine with the last, the simulation.
pub fn jobs() -> Vec<Job> {
    let [machines @ .., simulation] = MACHINES;
    let mut jobs = Vec::new();
    for machine in machines {
        for (kernel, (system, args)) in
            manifest::KERNELS.iter().flat_map(|kernel| SYSTEMS.map(|system| (*kernel, system)))
        {
            let name = format!("{system} under {kernel}: steps as on {}", machine.name());
            let work = move |_: &mut _| {
                let images = built(image::build_with(machine, Extra::Log))?;
                let real = log(machine, &images, kernel, system, args)?;
                let simulated = log(simulation, &Images::default(), kernel, system, args)?;
                compare(&real, &simulated).map_err(|differs| anyhow!(differs))
            };
            jobs.push(Job::new(Group::Agreement, name, work).configuration().builds("image log"));
        }
    }
    jobs
}

/// The steps of a system on a machine.
fn log(
    machine: &dyn Machine,
    images: &Images,
    kernel: &str,
    system: &str,
    args: &[(&str, &str)],
) -> Result<Vec<u64>> {
    let mut system = systems::load(system)?;
    for (name, value) in system.domains.iter_mut().flat_map(|domain| &mut domain.args) {
        if let Some((_, short)) = args.iter().find(|(wanted, _)| wanted == name) {
            *value = short.to_string();
        }
    }
    let boot = Boot::new(machine, images, &system).kernel(kernel).seed(1).timeout(TIMEOUT).log();
    let outcome = machine::boot(&boot)?;
    if let Some(failure) = outcome.failure() {
        bail!("on {}: {failure}", machine.name());
    }
    Ok(outcome.log)
}

/// Whether two logs are the same, as far as both go; one may have had less room.
fn compare(real: &[u64], simulated: &[u64]) -> Result<(), String> {
    let both = real.len().min(simulated.len());
    if both < LEAST {
        return Err(format!("only {} and {} steps", real.len(), simulated.len()));
    }
    if let Some(at) = (0..both).find(|&at| real[at] != simulated[at]) {
        let around = at.saturating_sub(3)..(at + 3).min(both);
        let spell = |log: &[u64]| {
            log[around.clone()].iter().map(|step| format!("{step:#018x}")).collect::<Vec<_>>()
        };
        let (here, there) = (spell(real).join(" "), spell(simulated).join(" "));
        return Err(format!("step {at} differs:\n  {here}\n  {there} (simulated)"));
    }
    let room = real.len() == LOG_ROOM;
    match real.len() == simulated.len() || room {
        true => Ok(()),
        false => Err(format!("{} steps, but {} simulated", real.len(), simulated.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_differs_is_found() {
        let log: Vec<u64> = (0..1000).collect();
        assert_eq!(compare(&log, &log), Ok(()));
        let mut other = log.clone();
        other[700] = 1;
        assert!(compare(&log, &other).unwrap_err().starts_with("step 700 differs"));
        assert!(compare(&log, &log[..999]).unwrap_err().contains("999 simulated"));
        assert!(compare(&log[..10], &log[..10]).is_err());
    }
}
