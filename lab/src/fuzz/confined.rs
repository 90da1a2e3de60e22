//! A CPU that the domains of a system may not use: none of their calls interrupts it.

use super::{Plan, SYSTEM, judge, reserved, run_of};
use crate::systems;
use abi::call::Call;
use manifest::{LOCKINGS, System, TREE};
use std::collections::BTreeSet;

/// Sets of CPUs.
const SECOND: u64 = 0b10;
const BOTH: u64 = 0b11;
/// The system that is fuzzed on the second of two CPUs; its domains may use these. On the first
/// one a program computes for ever, which none of them has a capability to.
fn system(kernel: &str, cpus: u64) -> System {
    let system = match kernel {
        TREE => reserved::with(reserved::SECOND, 1, 2),
        _ => systems::load(SYSTEM),
    };
    let mut system = system.expect("it is a system");
    system.cpus = 2;
    system.interrupts.iter_mut().for_each(|interrupt| interrupt.cpu = 1);
    for domain in &mut system.domains {
        if domain.program == SYSTEM {
            (domain.cpu, domain.cpus) = (1, Some(cpus));
        } else {
            domain.program = "runaway".into();
            (domain.cpu, domain.args, domain.caps) = (0, Vec::new(), Vec::new());
        }
    }
    system
}

/// How often the first CPU is interrupted by the second one in a run. The calls that were made.
fn interrupts(plan: &Plan, cpus: u64, made: &mut BTreeSet<u8>) -> u64 {
    let ran = run_of(&system(plan.kernel, cpus), plan, false, None).expect("it runs");
    assert_eq!(judge(&ran.end), Ok(()), "{plan}");
    made.extend(ran.calls.iter().map(|(call, ..)| call));
    ran.ipis[0]
}

#[test]
fn no_call_interrupts_a_cpu_that_is_out_of_reach() {
    let known = &crate::machine::about().expect("it says which it has").locked_kernels;
    let kernels =
        manifest::ALL_KERNELS.into_iter().filter(|name| known.iter().any(|it| it == name));
    let (mut made, mut reached) = (BTreeSet::new(), 0);
    for (seed, kernel) in (1..).zip(kernels) {
        for locking in &LOCKINGS[1..] {
            let usual = Plan::of(seed, 2, Some(locking)).expect("it is a locking");
            let plan = Plan { kernel, scarce: false, ..usual };
            assert_eq!(interrupts(&plan, SECOND, &mut made), 0, "{plan}");
        }
        let usual = Plan::of(seed, 2, None).expect("there are lockings");
        let plan = Plan { kernel, scarce: false, ..usual };
        reached += interrupts(&plan, BOTH, &mut BTreeSet::new());
    }
    let left: Vec<_> =
        Call::ALL.into_iter().filter(|call| !made.contains(&(*call as u8))).collect();
    assert!(left.is_empty(), "never called: {left:?}");
    assert!(reached > 0, "a CPU within reach is interrupted");
}
