use super::picture::distribution;
use super::*;
use crate::cli::{Cli, Lab};
use crate::commands::Command;
use crate::machine::Twin;
use analysis::Random;
use clap::Parser;
use manifest::Source;
use rtsim::Jobs;
use std::fmt::Write;
use std::sync::OnceLock;

mod inheritance;
mod reference;
mod together;

/// Runs a text on the twin, by the options of a command line.
fn ran(text: &str, options: &[&str]) -> Result<Ran> {
    let words = ["giusto", "lab", "rtsim", "test.rts", "--size", "4"].iter().chain(options);
    let Command::Lab(Lab::Rtsim(asked)) = Cli::try_parse_from(words)?.command else {
        bail!("the words are another command's")
    };
    let source = Source { name: "test.rts".into(), text: text.into() };
    let set = rtsim::parse(&source).map_err(Problems::from)?;
    let run = way(&asked);
    let system = system(&set, run, asked.size << 20)?;
    // What the simulation is built of does not depend on the system.
    static IMAGES: OnceLock<Images> = OnceLock::new();
    let build = || image::build_for(&Twin, &system).expect("the simulation is built");
    carry_out(&asked, (set, run), &system, IMAGES.get_or_init(build))
}

/// The response times of each task, in whole units: less than one of them is the kernel's.
fn responses(ran: &Ran) -> Vec<Vec<u64>> {
    let whole = |jobs: &Jobs| jobs.responses().iter().map(|time| time / ran.run.unit).collect();
    ran.jobs.iter().map(whole).collect()
}

#[test]
fn a_distribution_rises_by_a_step_at_each_value() {
    let corners = distribution(vec![5, 3, 5, 9]);
    assert_eq!(corners, [(3, 0.0), (3, 0.25), (5, 0.25), (5, 0.75), (9, 0.75), (9, 1.0)]);
    assert!(distribution(Vec::new()).is_empty());
}

#[test]
fn response_times_are_those_that_a_hand_computes() {
    let periodic = ran(include_str!("../../../../tests/rtsim/periodic.rts"), &[]).unwrap();
    let expected = [vec![2; 12], [6, 4].repeat(4), vec![14, 14, 8]];
    assert_eq!(responses(&periodic), expected);
    // C locks at 0, A waits from 3 on, B runs from 4 to 104; C has 7 left, A 2.
    let mutex = ran(include_str!("../../../../tests/rtsim/mutex.rts"), &[]).unwrap();
    assert_eq!(responses(&mutex), [[111], [100], [113]]);
    // C has 6 left when B is done, and signals; A ends before C does.
    let condition = ran(include_str!("../../../../tests/rtsim/condition.rts"), &[]).unwrap();
    assert_eq!(responses(&condition), [[110], [100], [112]]);
}

#[test]
fn cpu_time_is_what_the_tasks_compute() {
    let ran = ran(include_str!("../../../../tests/rtsim/periodic.rts"), &[]).unwrap();
    assert_eq!(ran.lost, 0);
    for (index, (priority, units)) in [(1, 24), (2, 32), (3, 18)].into_iter().enumerate() {
        let times = ran.picture.ran_at(index);
        let times: Vec<_> = times.into_iter().map(|(at, ns)| (at, ns / ran.run.unit)).collect();
        assert_eq!(times, [(priority, units)]);
    }
}

#[test]
fn clients_and_a_server_have_the_response_times_of_the_model() {
    let ran = ran(include_str!("../../../../tests/rtsim/client-server.rts"), &[]).unwrap();
    let all = responses(&ran);
    let of = |task: usize| {
        let own = &all[task];
        (own.len(), own.iter().min().copied(), own.iter().max().copied())
    };
    // The ledger's model, whose jobs are in the same places but for a few.
    assert_eq!(of(0), (296, Some(91), Some(210)));
    assert_eq!(of(1), (293, Some(91), Some(243)));
    assert_eq!(of(2), (291, Some(91), Some(276)));
    assert!(all[3].is_empty() && ran.jobs[3].count == 880);
}

#[test]
fn what_goes_wrong_in_a_job_is_told() {
    for (code, what) in [
        ("dec(N);", "task A, job 1, step 1: a counter would be below 0"),
        ("inc(N); pop(Q);", "task A, job 1, step 2: a message is taken from an empty queue"),
        ("unlock(M);", "step 1: a mutex is unlocked that the task does not own"),
        ("lock(M); lock(M);", "step 2: a task waits for itself: it owns the mutex"),
        ("lock(*P);", "step 1: a pointer is used that refers to nothing"),
        ("waitc(M, C, N);", "step 1: a task waits with a mutex that it does not own"),
    ] {
        let objects = "duration 9; mutex M; condition C; counter N; queue Q; pointer P;";
        let text = format!("{objects} task A priority 1 once {{ {code} }}");
        let error = ran(&text, &[]).err().expect(code).to_string();
        assert!(error.contains(what), "{code}: {error}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let text = "duration 9; task A priority 1 once { fixed(1); }";
    let error = ran(text, &["--scheduler", "edf"]).err().expect("it needs deadlines").to_string();
    assert!(error.contains("task A has no deadline"), "{error}");
}

#[test]
fn by_deadlines_all_jobs_are_in_time() {
    let text = include_str!("../../../../tests/rtsim/edf.rts");
    let late = |options: &[&str]| {
        let all = responses(&ran(text, options).unwrap());
        all[1].iter().filter(|time| **time >= 70).count()
    };
    assert!(late(&[]) > 0);
    assert_eq!(late(&["--scheduler", "edf"]), 0);
}

/// A task set without jobs that end when others are released: lengths and periods are multiples of
/// 10, phases are not.
fn random_set(seed: u64) -> String {
    let mut random = Random::of(seed);
    let mut below = |most: u64| random.below(most);
    let mut text = "duration 9000; mutex M, N;\n".to_string();
    for task in 0..4 {
        let (phase, period) = (10 * below(9) + 1 + 2 * task, 10 * (20 + below(30)));
        let mut length = || 10 * (1 + below(3));
        let [alone, outer, inner, rest] = [length(), length(), length(), length()];
        let nested = match below(3) {
            0 => format!("fixed({inner});"),
            1 => format!("lock(N); fixed({inner}); unlock(N);"),
            _ => String::new(),
        };
        let code = match below(4) {
            0 => format!("fixed({alone});"),
            1 => format!("lock(N); fixed({outer}); unlock(N); fixed({rest});"),
            _ => format!(
                "fixed({alone}); lock(M); fixed({outer}); {nested} unlock(M); fixed({rest});"
            ),
        };
        let priority = task + 1;
        let _ = writeln!(
            text,
            "task T{task} priority {priority} period {period} phase {phase} {{ {code} }}"
        );
    }
    text
}

/// Checks that response times are those of the plain simulator; how many were compared.
fn compare(ran: &Ran, what: &str) -> usize {
    let expected = reference::play(&ran.set, ran.run.inheritance).responses;
    let mut compared = 0;
    for (task, (own, expected)) in responses(ran).iter().zip(&expected).enumerate() {
        // What a task that runs for ever does has no response times, and the last job may end just
        // behind the end of the run.
        if ran.jobs[task].released {
            assert!(expected.len() - own.len() <= 1, "{what}, task {task}");
            assert_eq!(own[..], expected[..own.len()], "{what}, task {task}");
            compared += own.len();
        }
    }
    compared
}

#[test]
fn random_sets_follow_a_plain_simulator() {
    for options in [&[][..], &["--pi"]] {
        let mut compared = 0;
        for seed in 1..=8 {
            let text = random_set(seed);
            let ran = ran(&text, options).unwrap();
            compared += compare(&ran, &format!("seed {seed}, {options:?}\n{text}"));
        }
        assert!(compared > 300, "{compared}");
    }
}
