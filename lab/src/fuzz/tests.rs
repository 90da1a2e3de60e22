use super::*;
use abi::call::Call;

/// Steps that the test command takes.
const ENOUGH: u64 = 400_000;
/// Steps after which what was not reached cannot be reached.
const MOST: u64 = 10 * ENOUGH;

/// Runs under the scheduling tree.
const TREE_RUNS: usize = 12;
/// Calls that the tree alone has.
const RESERVING: [Call; 5] = [
    Call::ReservationCreate,
    Call::ReservationSet,
    Call::ReservationJoin,
    Call::Reserve,
    Call::ReservationInspect,
];

/// Seeds that have found something.
const KEPT: [u64; 0] = [];
/// Seeds that reach what few do: after these, fewer of the others reach all.
const FAR: [u64; 15] = [46, 317, 186, 319, 36, 26, 261, 67, 124, 61, 23, 31, 38, 57, 70];
/// Seeds that are run beside those that reach all: a test has a minute at most.
const BESIDE: std::ops::Range<u64> = 12..23;

/// A log, none of which is spelled out.
const LOGGED: Option<Spelled> = Some(Spelled(0));

fn plan(seed: u64, cpus: u32, locking: Option<&str>) -> Plan {
    Plan::of(seed, cpus, locking).expect("the twin says which kernels it has")
}

#[test]
fn every_invariant_holds_after_many_steps() {
    let mut reach = Reach::default();
    for seed in KEPT {
        if let Err(failure) = run(&plan(seed, 1, None), &mut reach) {
            panic!("kept seed {seed:#x}: {failure}");
        }
    }
    let others = (1..).filter(|seed| !FAR.contains(seed) && !BESIDE.contains(seed));
    for seed in FAR.into_iter().chain(others) {
        if let Err(failure) = run(&plan(seed, 1, None), &mut reach) {
            panic!("seed {seed:#x}: {failure}");
        }
        if reach.steps >= MOST || (reach.steps >= ENOUGH && reach.missing().is_empty()) {
            break;
        }
    }
    let missing = reach.missing();
    assert!(missing.is_empty(), "not reached: {missing:#?}\n{}", reach.summary());
}

#[test]
fn every_invariant_holds_after_further_steps() {
    let mut reach = Reach::default();
    for seed in BESIDE {
        assert_eq!(run(&plan(seed, 1, None), &mut reach), Ok(()), "seed {seed:#x}");
    }
    assert!(reach.steps >= ENOUGH / 4, "only {} steps", reach.steps);
}

#[test]
fn every_invariant_holds_on_several_cpus() {
    let lockings = &manifest::LOCKINGS[1..];
    let each = lockings.iter().flat_map(|locking| [1, 2, 4, 8].map(|cpus| (*locking, cpus)));
    for (seed, (locking, cpus)) in (1..).zip(each.chain([("fine", 64)])) {
        let plan = plan(seed, cpus, Some(locking));
        let mut reach = Reach::default();
        assert_eq!(run(&plan, &mut reach), Ok(()), "{plan}");
        assert!(reach.steps > 1000, "{plan}: only {} steps", reach.steps);
    }
}

#[test]
fn every_invariant_holds_under_the_scheduling_tree() {
    let mut reach = Reach::default();
    let lockings = [(1, NO_LOCKING), (2, LOCKINGS[1]), (4, LOCKINGS[2]), (8, LOCKINGS[3])];
    for (seed, (cpus, locking)) in (1..).zip(lockings.into_iter().cycle()).take(TREE_RUNS) {
        let plan = Plan { kernel: manifest::TREE, ..plan(seed, cpus, Some(locking)) };
        assert_eq!(run(&plan, &mut reach), Ok(()), "{plan}");
    }
    for call in RESERVING {
        assert!(reach.has(call, None), "{call:?} never succeeds\n{}", reach.summary());
    }
}

#[test]
fn what_cpus_do_to_each_other_holds_under_every_locking() {
    for locking in &manifest::LOCKINGS[1..] {
        for (cpus, chaos) in [(4, 0), (4, 10)] {
            let outcome = stress(locking, cpus, chaos);
            let plan = format!("locks {locking}, {cpus} CPUs, chaos {chaos}");
            assert_eq!(outcome.end, End::Done(0), "{plan}:\n{}", outcome.console);
            assert!(!outcome.console.contains("FAILED"), "{plan}:\n{}", outcome.console);
        }
    }
}

/// Runs the program that checks itself, and every invariant with it.
fn stress(locking: &str, cpus: u32, chaos: u64) -> Outcome {
    let mut system = systems::load("stress").expect("it exists");
    (system.cpus, system.locking) = (cpus, Some(locking.to_string()));
    let packed = pack(&system, &system.kernel, &|_| ()).expect("it is a system");
    let options = Options {
        kernel: system.kernel.clone(),
        locking: Some(locking.to_string()),
        chaos,
        memory: system.memory,
        check: true,
        ..Options::default()
    };
    machine::run(packed.run(options)).expect("the twin runs")
}

#[test]
fn a_seed_says_everything_on_several_cpus() {
    let run = || {
        let outcome = outcome(&plan(5, 4, Some("fine")), LOGGED).expect("the system is there");
        (outcome.log, outcome.time, outcome.console)
    };
    assert_eq!(run(), run());
}

#[test]
fn a_seed_says_everything() {
    let log = |seed: u64| {
        let outcome = outcome(&plan(seed, 1, None), LOGGED).expect("the system is there");
        (outcome.log, outcome.time, outcome.console)
    };
    let first = log(5);
    assert!(first.0.len() > 1000, "a run takes steps: {}", first.0.len());
    assert_eq!(first, log(5), "the same seed, the same run");
}

#[test]
fn another_seed_interleaves_otherwise() {
    // The same programs with the same arguments: only what is injected differs.
    let log = |seed: u64| {
        let plan = plan(7, 1, None);
        let system = systems::load(SYSTEM).expect("it exists");
        let packed = pack(&system, plan.kernel, &|_| ()).expect("it is a system");
        let options = Options {
            kernel: plan.kernel.to_string(),
            seed,
            chaos: 5,
            memory: system.memory,
            limit: 5_000,
            check: true,
            log: true,
            ..Options::default()
        };
        let outcome = machine::run(packed.run(options)).expect("the twin runs");
        assert_eq!(judge(&outcome.end), Ok(()));
        outcome.log
    };
    assert_ne!(fingerprint(&log(1)), fingerprint(&log(2)));
    assert_eq!(fingerprint(&log(1)), fingerprint(&log(1)));
}
