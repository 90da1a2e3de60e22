//! `futex-across`: what an attack from another CPU does to calls on futexes, under each locking
//! (S2H-C03). In the simulation: the emulator's CPUs take turns, and one count of instructions is
//! of all of them.

use super::claims::{SETTING, worst};
use super::{ATTACKED, EXPERIMENT as ALONE, KERNELS, RECORDED, attacked, cases};
use crate::experiment::claim::Ours::Same;
use crate::experiment::claim::{Setting, Spec, claim, most};
use crate::experiment::measured::{recording, spans};
use crate::experiment::parameter::Parameter;
use crate::experiment::{Boots, Experiment, Measure, Measured};
use anyhow::Result;
use manifest::{LOCKINGS, NO_LOCKING, System};
use results::Bound::AtMost;
use results::Report;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "futex-across",
    about: "What calls on futexes cost beside an attack from another CPU, by locking",
    ledger: &["S2H-E01", "S2H-C03"],
    machines: &[Measure::Simulated(measure)],
    kernels: &KERNELS,
    metrics: &ATTACKED,
    cases: &[],
    parameters: &[Parameter::count("rounds", [4, 64], &[16], "of each operation of a case")],
    conditions: &[
        ("waiters, futexes", "as in `futex-cost`, on CPU 0 of two"),
        ("attack", "on CPU 1: seven threads of another domain make every call on their own words"),
        ("locking", "what guards the kernel where several CPUs are in it"),
    ],
    claims,
    deep: true,
    ..Experiment::USUAL
};

/// The attacker, by the name of its domain.
const ATTACKER: &str = "attacker";
/// Rounds of each operation, unless it is said.
const ROUNDS: u64 = 16;

/// Measures beside nothing and beside the attack, under each locking.
pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let rounds = setup.asked.number("rounds", ROUNDS);
    for locking in LOCKINGS.into_iter().filter(|locking| *locking != NO_LOCKING) {
        for system in [ALONE.name, "futex-attack"] {
            let outcome = setup.boot_changed(system, kernel, &mut |system: &mut System| {
                (system.cpus, system.locking) = (2, Some(locking.to_string()));
                let attacker = system.domains.iter_mut().find(|one| one.name == ATTACKER);
                attacker.into_iter().for_each(|attacker| attacker.cpu = 1);
                crate::systems::set(system, "rounds", &rounds.to_string());
            })?;
            let recorded = recording(&outcome, "recording", kernel)?;
            let beside = system != ALONE.name;
            let named = |case: &String| {
                let case = if beside { attacked(case) } else { case.clone() };
                under(&case, locking)
            };
            let cases: Vec<String> = cases().iter().map(named).collect();
            for (number, metric) in (1..).zip(&RECORDED) {
                if ATTACKED.contains(metric) {
                    measured.push(kernel, metric, &cases, spans(&recorded, number)?)?;
                }
            }
        }
    }
    Ok(measured)
}

/// A case under a locking.
fn under(case: &str, locking: &str) -> String {
    format!("{case} locking={locking}")
}

const ACROSS: Setting = &[
    SETTING[0],
    SETTING[1],
    (
        "attack",
        "on process-local locks; no more is stated",
        Same("7 threads of another domain on the other of two CPUs: every call on their words"),
    ),
    ("kernel's lock", "none is stated", Same("`big`, `fine` and `elided`, each for itself")),
    SETTING[2],
];

/// The worst of a call beside the attack over that without, of the call that suffers most.
fn suffers(report: &Report, locking: &str) -> Option<f64> {
    let of = |metric: &str| {
        let ratio = |case: &String| {
            let [with, without] = [&attacked(case), case].map(|case| under(case, locking));
            worst(report, metric, &with, &without)
        };
        most(cases().iter().map(ratio))
    };
    most(ATTACKED.map(of))
}

fn claims() -> Vec<Spec> {
    const SAME: &str = "the ledger: no change; choice: within 2 %";
    let [_, big, fine, elided] = LOCKINGS;
    let limit = AtMost(super::claims::SAME);
    vec![
        claim("S2H-C03b", "nor does one from another CPU, under any locking", ACROSS)
            .figure("the worst beside by that without, `big`", "times", |r| suffers(r, big))
            .lies(limit, SAME)
            .figure("`fine`", "times", |r| suffers(r, fine))
            .lies(limit, SAME)
            .figure("`elided`", "times", |r| suffers(r, elided))
            .lies(limit, SAME)
            .remark(|_| {
                let why = "calls on futexes take the whole kernel under each locking, so that \
                           each may wait for a call of the other CPU to end";
                Some(why.to_string())
            }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::testing::{all_hold, expect, report};
    use results::Verdict;

    /// A run in which the attack makes calls so long under the first locking.
    fn run(beside: u64) -> Report {
        let mut rows = Vec::new();
        for locking in LOCKINGS.into_iter().skip(1) {
            for case in cases() {
                let beside = if locking == LOCKINGS[1] { beside } else { 400 };
                rows.push((under(&case, locking), 400));
                rows.push((under(&attacked(&case), locking), beside));
            }
        }
        let all = KERNELS.into_iter().flat_map(|kernel| ATTACKED.map(|metric| (kernel, metric)));
        let rows: Vec<_> = all
            .flat_map(|(kernel, metric)| {
                rows.iter().map(move |(case, value)| (kernel, metric, case.as_str(), *value))
            })
            .collect();
        report("twin", &rows)
    }

    #[test]
    fn one_locking_under_which_it_disturbs_contradicts() {
        all_hold(&EXPERIMENT, &run(404), &[]);
        expect(&EXPERIMENT, &run(480), Verdict::Contradicted, &["S2H-C03b"]);
    }
}
