use super::{COUNT, CPUS, EXPERIMENT, LATENCY, LOADS, MEAN, POLICIES, WORST, case};
use crate::experiment::measured::recording;
use crate::experiment::{Boots, Emulated, Measured, Simulated};
use crate::image::Locking;
use crate::systems::set;
use abi::boot::ALL_CPUS;
use anyhow::{Context, Result};
use manifest::{Reservation, System};

/// The metric of the recordings.
const EVENTS: u16 = 3;
/// When the first release comes, long after all CPUs have started; what a frame takes, and how long
/// the last one may, in ms.
const BEGIN: u64 = 600;
const FRAME: u64 = 2;
const REST: u64 = 20;

pub fn simulated(setup: &Simulated, kernel: &str) -> Result<Measured> {
    measure(setup, kernel, &|_, _| true)
}

pub fn emulated(setup: &Emulated, kernel: &str) -> Result<Measured> {
    measure(setup, kernel, &|cpus, load| cpus == 1 || load == LOADS[0])
}

/// Measures the cases that a machine can tell.
fn measure(
    setup: &impl Boots,
    kernel: &str,
    tells: &dyn Fn(u64, &str) -> bool,
) -> Result<Measured> {
    let mut measured = Measured::default();
    let numbers = setup.asked.numbers("machine-cpus").unwrap_or(CPUS.to_vec());
    let count = setup.asked.number("frames", COUNT);
    for cpus in numbers {
        for load in LOADS.into_iter().filter(|load| tells(cpus, load)) {
            for policy in POLICIES {
                // With one CPU too: the same kernel.
                let outcome =
                    setup.boot_with(Locking::Big, EXPERIMENT.name, kernel, &mut |system| {
                        lay_out(system, policy, cpus as u32, load, count);
                    })?;
                let mut all = Vec::new();
                for task in 0..cpus {
                    let recording = recording(&outcome, &format!("task-{task}"), kernel)?;
                    let mut delays = results::delays(&recording, EVENTS)?;
                    all.append(&mut delays.remove(&0).context("a task records its releases")?);
                }
                let case = case(policy, cpus, load);
                let mean = all.iter().sum::<u64>() / (all.len() as u64).max(1);
                measured.samples.push(kernel, MEAN, &case, vec![mean]);
                let worst = all.iter().max().copied();
                measured.samples.push(kernel, WORST, &case, worst.into_iter().collect());
                measured.samples.push(kernel, LATENCY, &case, all);
            }
        }
    }
    Ok(measured)
}

/// So many CPUs, each with a task by a policy.
fn lay_out(system: &mut System, policy: &str, cpus: u32, load: &str, count: u64) {
    system.cpus = cpus;
    let is_load = |name: &str| name.starts_with("call");
    system.domains.retain(|it| it.cpu < cpus && (load == LOADS[1] || !is_load(&it.name)));
    let all = std::mem::take(&mut system.reservations);
    let is_left = |node: &Reservation| node.cpu < cpus || node.cpu == ALL_CPUS;
    let place = |old: usize| all[..old].iter().filter(|node| is_left(node)).count();
    let left = all.iter().filter(|node| is_left(node));
    system.reservations =
        left.map(|node| Reservation { class: node.class.map(place), ..node.clone() }).collect();
    for domain in &mut system.domains {
        let Some(number) = domain.name.strip_prefix("task-") else { continue };
        let name = format!("{policy}-{number}");
        domain.reservation = system.reservations.iter().position(|node| node.name == name);
    }
    set(system, "frames", &count.to_string());
    set(system, "begin", &(BEGIN * 1_000_000).to_string());
    set(system, "after", &(BEGIN + FRAME * count + REST).to_string());
}
