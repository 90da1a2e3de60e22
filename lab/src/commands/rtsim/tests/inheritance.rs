//! Priorities that are inherited (S2G-01 to S2G-03).

use super::{ran, responses};

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

#[test]
fn what_inheritance_cannot_follow_is_told() {
    let mut text = "duration 99; mutex M0, M1, M2, M3, M4, M5, M6, M7, M8, M9;".to_string();
    for (task, phase) in (0..10).zip((0..10).rev()) {
        let nested = if task == 9 { String::new() } else { format!("lock(M{}); ", task + 1) };
        let phase = 2 * phase;
        text += &format!(
            "task T{task} priority {} once phase {phase} {{ lock(M{task}); fixed(1); {nested}}}",
            task + 1
        );
    }
    let text = text.replace("lock(M9); fixed(1); }", "lock(M9); fixed(50); }");
    let error = ran(&text, &["--pi"]).err().expect("ten in a row").to_string();
    assert!(error.contains("more than eight tasks wait in a row"), "{error}");
    assert!(ran(&text, &[]).is_ok());
}
