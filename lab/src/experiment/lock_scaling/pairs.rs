//! The system `pairs` in the simulation, for experiments on locks.

use crate::experiment::Simulated;
use crate::experiment::measured::recording;
use crate::machine::{Seen, Simulation};
use crate::systems;
use anyhow::{Result, ensure};
use twin_protocol::{Scatter, Service};

/// The metric under which the program records the messages of a window.
const MESSAGES: u16 = 1;

/// Messages by which a lone CPU's way into the kernel is found, and the length of their sections.
const ALONE: u64 = 1000;
const LONG: u64 = 1000;

/// A run of it.
pub struct Pairs<'a> {
    /// The locking.
    pub locking: &'a str,
    /// The mean think time, in units of time as all times.
    pub think: u64,
    /// How many CPUs, each with a client and a server.
    pub cpus: usize,
    /// How long a window is; before the first a quarter of that passes.
    pub window: u64,
    /// How many windows.
    pub windows: u64,
    /// How the simulation goes about it.
    pub simulation: &'a Simulation,
}

/// What came of it.
pub struct Passed {
    /// One-way messages of all CPUs in each window.
    pub messages: Vec<u64>,
    /// Units of time in a second.
    pub hertz: u64,
    /// What the simulation has seen, from the beginning on.
    pub seen: Seen,
}

impl Pairs<'_> {
    /// The system, its programs with seeds that follow from this one.
    pub fn system(&self, seed: u64) -> Result<manifest::System> {
        let mut system = systems::pairs(self.cpus as u32)?;
        system.locking = Some(self.locking.to_string());
        let pair = |domain: usize| seed.wrapping_mul(1 << 16) + domain as u64 / 2;
        systems::set_each(&mut system, "seed", &|domain| pair(domain).to_string());
        let arguments = [
            ("think", self.think),
            ("warmup", self.window / 4),
            ("window", self.window),
            ("windows", self.windows),
        ];
        for (name, value) in arguments {
            systems::set(&mut system, name, &value.to_string());
        }
        Ok(system)
    }

    /// Runs it.
    pub fn run(&self, setup: &Simulated, kernel: &str) -> Result<Passed> {
        let system = self.system(setup.asked.seed)?;
        let (outcome, seen) = setup.simulate(&system, kernel, self.simulation.clone())?;
        let (mut messages, mut hertz) = (vec![0; self.windows as usize], 0);
        for memory in system.memories.iter().filter(|memory| memory.host) {
            let recorded = recording(&outcome, &memory.name, kernel)?;
            let own = || recorded.records.iter().filter(|record| record.tag.metric == MESSAGES);
            ensure!(own().count() == messages.len(), "`{}` lacks windows", memory.name);
            messages.iter_mut().zip(own()).for_each(|(all, record)| *all += record.time);
            hertz = recorded.hz;
        }
        Ok(Passed { messages, hertz, seen })
    }
}

/// What a message takes outside the lock: the kernel's entry and the programs' own steps.
pub fn outside(setup: &Simulated, kernel: &str) -> Result<u64> {
    let (mean, window) = (LONG, ALONE * LONG);
    let service = Service { mean, scatter: Scatter::Deterministic, transfers: None };
    let simulation = &Simulation { service: Some(service), ..Simulation::default() };
    let pairs = Pairs { locking: "big", think: 0, cpus: 1, window, windows: 1, simulation };
    Ok((window / pairs.run(setup, kernel)?.messages[0]).saturating_sub(mean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Asked;
    use crate::machine::LARGE;
    use twin_protocol::Transfers;

    /// What two and more pairs share under a locking, in the middle of their messages.
    fn shared(locking: &str, cpus: usize) -> Vec<usize> {
        let observed = Some(1_000_000..3_000_000);
        let simulation = &Simulation { observed, ..Simulation::default() };
        let (window, windows) = (1_000_000, 4);
        let pairs = Pairs { locking, think: 500, cpus, window, windows, simulation };
        let passed = pairs.run(&Simulated::new(Asked::seed(1)), "fastpath").unwrap();
        assert!(passed.messages.iter().all(|messages| *messages > 1000), "{:?}", passed.messages);
        passed.seen.shared
    }

    #[test]
    fn disjoint_messages_share_no_written_line() {
        for cpus in [2, 5] {
            assert_eq!(shared("fine", cpus), [0usize; 0], "fine-grained locks, {cpus} CPUs");
            assert_eq!(shared("elided", cpus), [0usize; 0], "transactions, {cpus} CPUs");
            let lock = shared("big", cpus).len();
            assert_eq!(lock, cpus + 2, "the tail and a node for each CPU and one more");
        }
    }

    #[test]
    fn a_lone_cpu_thinks_and_is_served_for_as_long_as_asked() {
        let service = Some(Service { mean: 358, scatter: Scatter::Exponential, transfers: None });
        let simulation = &Simulation { service, ..Simulation::default() };
        let (window, windows) = (40_000_000, 1);
        let run = |think| {
            let pairs = Pairs { locking: "big", think, cpus: 1, window, windows, simulation };
            let passed = pairs.run(&Simulated::new(Asked::seed(1)), "fastpath").unwrap();
            window as f64 / passed.messages[0] as f64
        };
        let (none, some) = (run(0), run(2000));
        // A section and the way into the kernel, which is short.
        assert!((358.0..358.0 + 100.0).contains(&none), "{none}");
        // Of 16,000 think times the mean has a standard error of 0.8 %.
        assert!(((some - none) / 2000.0 - 1.0).abs() < 0.03, "{some} and {none}");
    }

    #[test]
    fn a_lock_that_comes_from_another_cpu_takes_its_transfers() {
        let transfers = Some(Transfers { topology: LARGE, hundredths: 169 });
        let service = Some(Service { mean: 164, scatter: Scatter::Deterministic, transfers });
        let simulation = &Simulation { service, ..Simulation::default() };
        let (window, windows) = (4_000_000, 1);
        let pass = |cpus| {
            let pairs = Pairs { locking: "big", think: 0, cpus, window, windows, simulation };
            let passed = pairs.run(&Simulated::new(Asked::seed(1)), "fastpath").unwrap();
            window as f64 / passed.messages[0] as f64
        };
        let outside = outside(&Simulated::new(Asked::seed(1)), "fastpath").unwrap() as f64;
        assert!((pass(1) - outside - 164.0).abs() < 2.0, "{} of them {outside} outside", pass(1));
        // Two CPUs take turns: each section waits for 1.69 lines of 115 units.
        assert!((pass(2) - 358.0).abs() < 2.0, "{}", pass(2));
    }
}
