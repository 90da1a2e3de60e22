//! Objects that are made and destroyed as fast as programs can, at their quotas (S4-08).

use super::configuration::Configuration;
use super::findings::Findings;
use super::job::{Class, Job};
use super::suites::{judge, passes};
use crate::machine::{self, MACHINES};
use crate::systems;
use anyhow::Result;
use manifest::{TREE, Target};

/// The system.
const STORM: &str = "allocation-storm";

/// Under the kernel that has reservations, on each machine, alone and on several CPUs.
pub fn jobs() -> Vec<Job> {
    let one = |machine| Configuration { kernel: TREE, ..Configuration::plain(machine, STORM) };
    let alone = MACHINES.map(one).map(|one| one.job(one.to_string(), passes));
    let several = MACHINES.into_iter().flat_map(|machine| {
        ["big", "fine"].map(|locking| {
            let one = Configuration { locking, cpus: 4, ..one(machine) };
            let seldom = locking == "big" && machine.emulator().is_some();
            // No other job takes that image.
            let class = if seldom { Class::Deep } else { Class::Usual };
            one.job(one.to_string(), spread).class(class)
        })
    });
    alone.into_iter().chain(several).collect()
}

/// Each domain of the storm on a CPU of its own, and the one that is to be in time on the first.
fn spread(one: &Configuration, findings: &mut Findings) -> Result<()> {
    let mut system = one.load()?;
    for (domain, cpu) in system.domains.iter_mut().skip(1).zip((1..one.cpus).cycle()) {
        domain.cpu = cpu;
        if let Some(reservation) = domain.reservation {
            system.reservations[reservation].cpu = cpu;
        }
        for capability in &mut domain.caps {
            if let Target::Root(of) = &mut capability.target {
                *of = cpu;
            }
        }
    }
    if one.machine.emulator().is_some() {
        // Its CPUs take turns on one clock: a response has the turns of the others in it.
        systems::set(&mut system, "ratio", "1000");
    }
    let outcome = one.boot(&system, |boot| machine::boot(&boot))?;
    judge(findings, one, &outcome);
    Ok(())
}
