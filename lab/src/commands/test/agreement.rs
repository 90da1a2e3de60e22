//! The simulation takes the same steps as the other machines: under every kernel the sequence of
//! switches, queue operations, messages and results of each experiment is the same. Times differ.

use super::configuration::Configuration;
use super::job::{Class, Job};
use super::suites::PATHS;
use crate::cli::Group;
use crate::image::{LOG_ROOM, Watch};
use crate::machine::MACHINES;
use anyhow::{Result, anyhow};

/// The systems of the experiments, with arguments that keep them short.
const SYSTEMS: [(&str, &[(&str, &str)]); 4] = [
    ("ping-across", &[("rounds", "9"), ("warmup", "2")]),
    ("ping-same", &[("rounds", "9"), ("warmup", "2")]),
    ("hot-potato", &[("messages", "4"), ("rounds", "1")]),
    ("queueing", &[("most", "100"), ("rounds", "1")]),
];

/// Fewer steps than any of them takes.
const LEAST: usize = 500;

/// Compares every machine with the last, the simulation; usual runs do so under a kernel of each
/// kind.
pub fn jobs() -> Vec<Job> {
    let [machines @ .., simulation] = MACHINES;
    let mut jobs = Vec::new();
    for machine in machines {
        for (kernel, (system, args)) in
            manifest::KERNELS.iter().flat_map(|kernel| SYSTEMS.map(|system| (*kernel, system)))
        {
            let on = |machine| {
                let plain = Configuration::plain(machine, system);
                Configuration { kernel, args, watch: Watch::Log, ..plain }
            };
            let (real, simulated) = (on(machine), on(simulation));
            let name = format!("{system} under {kernel}: steps as on {}", machine.name());
            let steps = |one: &Configuration| -> Result<_> { Ok(one.run(&one.load()?)?.log) };
            let work = move |_: &mut _| {
                compare(&steps(&real)?, &steps(&simulated)?).map_err(|differs| anyhow!(differs))
            };
            let class = if PATHS.contains(&kernel) { Class::Usual } else { Class::Deep };
            let job = Job::new(Group::Agreement, name, work).class(class);
            jobs.push(job.configuration().builds(real.builds()));
        }
    }
    jobs
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
