//! Priorities that are inherited (S2G-01 to S2G-03).

use super::{compare, ran, reference, responses};
use manifest::Source;
use rtsim::Inheritance::{Conditions, Mutexes};

const SERVER: &str = include_str!("../../../../../tests/rtsim/client-server.rts");
const PIPELINE: &str = include_str!("../../../../../tests/rtsim/pipeline.rts");
const MUTEX: &str = include_str!("../../../../../tests/rtsim/mutex.rts");
const CONDITION: &str = include_str!("../../../../../tests/rtsim/condition.rts");

/// The response time of the most urgent task of three, where the one of medium urgency computes for
/// so long.
fn of_a(text: &str, length: u64, options: &[&str]) -> u64 {
    let medium = format!("fixed({length}); }}");
    assert!(text.contains("fixed(100); }"));
    let text = text.replace("duration 200", "duration 900").replace("fixed(100); }", &medium);
    responses(&ran(&text, options).unwrap())[0][0]
}

#[test]
fn an_owner_that_inherits_is_delayed_by_no_other_task() {
    // A waits from 3 on; C has 8 left then, and A 2.
    for length in [1, 100, 700] {
        assert_eq!(of_a(MUTEX, length, &["--pi"]), 11, "{length}");
        assert_eq!(of_a(MUTEX, length, &[]), 11 + length, "{length}");
    }
}

#[test]
fn a_helper_that_inherits_is_delayed_by_no_other_task() {
    // A waits from 2 on; C has 8 left then, and A 2. Mutexes alone do not help: C owns none.
    for length in [1, 100, 700] {
        assert_eq!(of_a(CONDITION, length, &["--pi", "--pi-cv"]), 10, "{length}");
        assert_eq!(of_a(CONDITION, length, &["--pi"]), 10 + length, "{length}");
        assert_eq!(of_a(CONDITION, length, &[]), 10 + length, "{length}");
    }
}

#[test]
fn a_priority_goes_along_a_pipeline() {
    // A waits from 4 on; C has 6 left then, B 5 and A 2.
    for length in [1, 100, 700] {
        assert_eq!(of_a(PIPELINE, length, &["--pi", "--pi-cv"]), 13, "{length}");
        assert_eq!(of_a(PIPELINE, length, &["--pi"]), 13 + length, "{length}");
    }
    let ran = ran(PIPELINE, &["--pi", "--pi-cv"]).unwrap();
    assert_eq!(compare(&ran, "pipeline"), 4);
    let inherited: Vec<u64> = ran.picture.inherited(3, 4).map(|(_, priority)| priority).collect();
    assert_eq!(inherited, [3, 1], "C has the priority of B and then of A");
}

#[test]
fn time_at_each_priority_is_that_of_the_waits() {
    let ran = ran(MUTEX, &["--pi"]).unwrap();
    let whole = |times: std::collections::BTreeMap<u64, u64>| {
        let times = times.into_iter().map(|(priority, ns)| (priority, ns / ran.run.unit));
        times.collect::<Vec<_>>()
    };
    // C has the priority of A from 3 to 11, and runs all the time then.
    assert_eq!(whole(ran.picture.had(2)), [(1, 8), (3, 191)]);
    assert_eq!(whole(ran.picture.ran_at(2)), [(1, 8), (3, 2)]);
    assert_eq!(whole(ran.picture.had(0)), [(1, 200)]);
    let inherited: Vec<_> = ran.picture.inherited(2, 3).collect();
    assert!(matches!(inherited[..], [(_, 1)]), "{inherited:?}");
}

/// The paper's clients and server with these phases, for a tenth of the time.
fn with_phases(phases: [u64; 3]) -> String {
    let mut text = SERVER.replace("duration 200000", "duration 20000");
    for (period, phase) in ["period 676", "period 683", "period 687"].iter().zip(phases) {
        assert!(text.contains(period));
        text = text.replace(period, &format!("{period} phase {phase}"));
    }
    text
}

#[test]
fn clients_and_a_server_follow_the_plain_simulator_whatever_their_phases() {
    let mut state = 7u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % n
    };
    let mut compared = 0;
    for _ in 0..4 {
        let phases = [676, 683, 687].map(&mut below);
        let text = with_phases(phases);
        for options in [&["--pi"][..], &["--pi", "--pi-cv"]] {
            let ran = ran(&text, options).unwrap();
            let what = format!("phases {phases:?}, {options:?}");
            compared += compare(&ran, &what);
            let server = &reference::play(&ran.set, ran.run.inheritance).had[3];
            for priority in 1..=4 {
                let own = ran.picture.had(3).get(&priority).copied().unwrap_or(0) / ran.run.unit;
                let model = server.get(&priority).copied().unwrap_or(0);
                // What the kernel takes while a client waits is in its time, and not the model's.
                assert!(own.abs_diff(model) <= 10, "{what}: {own}, {model} at {priority}");
            }
        }
    }
    assert!(compared > 600, "{compared}");
}

#[test]
fn the_plain_simulator_has_the_figures_of_the_ledger() {
    for (inheritance, clients, server) in [
        (Mutexes, [(117.7, 210), (123.0, 243), (125.8, 276)], [30, 153, 204]),
        (Conditions, [(92.9, 122), (110.9, 184), (129.0, 276)], [9150, 9211, 9294]),
    ] {
        let source = Source { name: "test.rts".into(), text: SERVER.into() };
        let played = reference::play(&rtsim::parse(&source).unwrap(), inheritance);
        for (own, (mean, most)) in played.responses.iter().zip(clients) {
            let sum: u64 = own.iter().sum();
            assert!((sum as f64 / own.len() as f64 - mean).abs() < 0.1, "{inheritance:?}");
            assert_eq!(own.iter().max(), Some(&most), "{inheritance:?}");
        }
        for (priority, time) in (1..).zip(server) {
            // Its signals wait for the mutex, which the ledger's do not.
            let own = played.had[3].get(&priority).copied().unwrap_or(0);
            assert!(own.abs_diff(time) <= 10, "{inheritance:?}: {own} at {priority}");
        }
    }
}

#[test]
fn as_many_tasks_as_a_file_may_have_can_inherit() {
    let names: Vec<String> = (0..64).map(|task| format!("ATaskWithALongName{task}")).collect();
    let mut text =
        format!("duration 200; mutex M; condition CV; helpers CV {};", names[60..].join(", "));
    for (number, name) in (1..).zip(&names) {
        let code = "lock(M); fixed(1); unlock(M);";
        text += &format!("task {name} priority {number} once phase {number} {{ {code} }}");
    }
    let all = responses(&ran(&text, &["--pi", "--pi-cv"]).unwrap());
    assert!(all.len() == 64 && all.iter().all(|own| own.len() == 1), "{all:?}");
}

/// A row of tasks each of which waits for a mutex of the next one: the last one has the priority of
/// the first, whatever the length of the row, and none of medium urgency delays it.
#[test]
fn a_priority_goes_along_a_row_of_any_length() {
    for tasks in [3, 9, 10, 24] {
        let mutexes: Vec<String> = (0..tasks).map(|task| format!("M{task}")).collect();
        let mut text = format!("duration 900; mutex {};", mutexes.join(", "));
        for task in 0..tasks {
            let phase = 2 * (tasks - 1 - task);
            let work = match task + 1 == tasks {
                true => "fixed(150);".to_string(),
                false => format!("fixed(1); lock(M{0}); unlock(M{0});", task + 1),
            };
            let code = format!("lock(M{task}); {work} unlock(M{task});");
            let priority = if task == 0 { 1 } else { task + 2 };
            text += &format!("task T{task} priority {priority} once phase {phase} {{ {code} }}");
        }
        let phase = 2 * tasks;
        text += &format!("task Medium priority 2 once phase {phase} {{ fixed(300); }}");
        let ran = ran(&text, &["--pi"]).unwrap();
        assert!(compare(&ran, &format!("a row of {tasks}")) >= tasks, "{tasks}");
        assert!(responses(&ran)[0][0] < 200, "the first of {tasks} waits for the medium one");
    }
}
