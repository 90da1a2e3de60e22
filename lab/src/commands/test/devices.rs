//! Devices to control: each kind does what the manual says, and programs notice what fails.

use super::configuration::Configuration;
use super::findings::Findings;
use super::job::Job;
use super::verdict;
use crate::machine::{self, Exit, MACHINES};
use crate::systems;
use anyhow::{Result, ensure};
use manifest::{NO_LOCKING, TREE};

/// The system that checks each kind, and its checks.
const KINDS: (&str, usize) = ("instruments", 8);
/// Kernels, what guards them, CPUs, and in how many places something is injected once.
const WAYS: [(&str, &str, u32, u64); 4] = [
    ("fastpath", NO_LOCKING, 1, 0),
    (TREE, NO_LOCKING, 1, 10),
    ("strict-eager", "fine", 4, 0),
    ("fastpath", "big", 4, 10),
];

/// The system that turns a shaft. With this fault it prints this, and ends with this status.
const MOTOR: &str = "motor";
const FAULTS: [(&str, &str, u32); 6] = [
    ("", "5 revolutions in ", 0),
    ("shaft=stuck after 50ms", "the encoder is stuck at ", 2),
    ("shaft=stuck", "the encoder is stuck at ", 2),
    ("shaft=late 2ms", "5 revolutions in ", 0),
    ("shaft=noisy 0.01", "not there after 2000 ms", 3),
    ("drive=stuck after 0ms", "the encoder is stuck at 0", 2),
];
/// The same beyond the end switch, whose interrupt may be lost.
const BEYOND: [(&str, &str, u32); 2] =
    [("", "the end switch is pressed", 4), ("switch=lost 1", "30 revolutions in ", 0)];

/// A job for each way to check the kinds, and one for the motor.
pub fn jobs() -> Vec<Job> {
    let twin = MACHINES.into_iter().find(|machine| machine.emulator().is_none());
    let twin = twin.expect("one machine is a simulation");
    let kinds = WAYS.map(|(kernel, locking, cpus, chaos)| {
        let plain = Configuration::plain(twin, KINDS.0);
        let one = Configuration { kernel, locking, cpus, chaos, seed: 3, ..plain };
        one.job(one.to_string(), kinds)
    });
    let motor = Configuration::plain(twin, MOTOR);
    let motor = motor.job("a motor whose devices fail is stopped, on twin", |one, findings| {
        let tries = FAULTS.iter().map(|fault| (fault, "5"));
        for ((fault, said, status), turns) in tries.chain(BEYOND.iter().map(|it| (it, "30"))) {
            let name = format!("{turns} revolutions with `{fault}`");
            findings.record(name, turn(one, fault, turns, (said, *status)));
        }
        Ok(())
    });
    kinds.into_iter().chain([motor]).collect()
}

fn kinds(one: &Configuration, findings: &mut Findings) -> Result<()> {
    let outcome = one.run(&one.load()?)?;
    let checks: Vec<_> = outcome.console.lines().filter_map(verdict::of).collect();
    ensure!(checks.len() == KINDS.1, "{} checks, not {}", checks.len(), KINDS.1);
    for (check, held) in checks {
        let result = if held { Ok(()) } else { Err("the system reports a failure".to_string()) };
        findings.record(check, result);
    }
    Ok(())
}

fn turn(
    one: &Configuration,
    fault: &str,
    turns: &str,
    (said, status): (&str, u32),
) -> Result<(), String> {
    let run = || -> Result<(Exit, String)> {
        let mut system = one.load()?;
        systems::set(&mut system, "turns", turns);
        if !fault.is_empty() {
            systems::set_fault(&mut system, fault)?;
        }
        let outcome = one.boot(&system, |boot| machine::boot(&boot))?;
        Ok((outcome.exit, outcome.console))
    };
    let (exit, console) = run().map_err(|error| format!("{error:#}"))?;
    match exit {
        Exit::Done(ended) if ended == status && console.contains(said) => Ok(()),
        _ => Err(format!("it does not say `{said}` and end with status {status}:\n{console}")),
    }
}
