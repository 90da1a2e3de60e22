//! Inheritance together with deadlines, with budgets and on several CPUs: schedules by hand.
//!
//! All are the same story. C locks M at 0 and holds it for 11 units. A, the most urgent, asks for
//! it at 3 and has 2 units of its own behind it. B, of medium urgency, computes for 100 units from
//! 4 on. Where C inherits, A takes the 8 units that C has left and its own 2; else B comes before.
//! Budgets come anew at 0, 100, 200, ..., and pass where their tasks do not use them.

use super::{ran, responses};

/// What is told of A, B and C beside that: keys of the tasks.
fn mutex([a, b, c]: [&str; 3]) -> String {
    format!(
        "duration 400; mutex M;
        task A priority 1 once phase 3 {a} {{ lock(M); fixed(2); unlock(M); }}
        task B priority 2 once phase 4 {b} {{ fixed(100); }}
        task C priority 3 once {c} {{ lock(M); fixed(11); unlock(M); fixed(2); }}"
    )
}

/// The same with a condition that C makes true, of which it is the helper.
fn condition([a, b, c]: [&str; 3]) -> String {
    format!(
        "duration 400; mutex M; condition CV; counter N; helpers CV C;
        task A priority 1 once phase 3 {a} {{
            lock(M); waitc(M, CV, N); dec(N); unlock(M); fixed(2);
        }}
        task B priority 2 once phase 4 {b} {{ fixed(100); }}
        task C priority 3 once {c} {{ fixed(11); lock(M); inc(N); unlock(M); signal(M, CV); }}"
    )
}

/// A's response time, or none if it is not complete.
fn of_a(text: &str, options: &[&str]) -> Option<u64> {
    responses(&ran(text, options).unwrap_or_else(|error| panic!("{error}\n{text}")))[0]
        .first()
        .copied()
}

/// The same without inheritance and with that of mutexes, before further options.
fn both(text: &str, further: &[&str]) -> [Option<u64>; 2] {
    [&[][..], &["--pi"]].map(|own| of_a(text, &[own, further].concat()))
}

/// The same without inheritance, with that of mutexes, and with that of conditions too.
fn each(text: &str, further: &[&str]) -> [Option<u64>; 3] {
    [&[][..], &["--pi"], &["--pi", "--pi-cv"]].map(|own| of_a(text, &[own, further].concat()))
}

const EDF: [&str; 2] = ["--scheduler", "edf"];
const DEADLINES: [&str; 3] = ["deadline 60", "deadline 300", "deadline 390"];

#[test]
fn owners_and_helpers_inherit_deadlines() {
    assert_eq!(both(&mutex(DEADLINES), &EDF), [Some(110), Some(10)]);
    assert_eq!(each(&condition(DEADLINES), &EDF), [Some(110), Some(110), Some(10)]);
}

#[test]
fn where_the_owner_is_due_first_it_keeps_its_own_deadline() {
    // C is due at 40 and A at 63: so its last 2 units go before A's.
    let text = mutex(["deadline 60", "deadline 300", "deadline 40"]);
    assert_eq!(both(&text, &EDF), [Some(12), Some(12)]);
}

#[test]
fn owners_inherit_beside_budgets() {
    let of = |keys| both(&mutex(keys), &[]);
    // Of B's 30 units 4 have gone by before it is released; C goes on behind the others.
    assert_eq!(of(["", "budget 30 100", ""]), [Some(36), Some(10)]);
    // C's own budget ends at 4, and there is more at 100 and 200; but its units from 3 on are A's.
    assert_eq!(of(["", "", "budget 4 100"]), [Some(202), Some(10)]);
    // A's budget is enough for C's 8 units and its own 2.
    assert_eq!(of(["budget 20 100", "", ""]), [Some(110), Some(10)]);
    // It is not: C has 3 units of it, and the rest from 100 on, when one is left for A, whose other
    // one comes at 200. Alone A has waited until then in any case.
    assert_eq!(of(["budget 6 100", "", ""]), [Some(199), Some(198)]);
}

#[test]
fn helpers_inherit_beside_budgets() {
    let text = condition(["", "budget 30 100", "budget 90 100"]);
    assert_eq!(each(&text, &[]), [Some(36), Some(36), Some(10)]);
}

#[test]
fn an_owner_on_another_cpu_inherits() {
    assert_eq!(both(&mutex(["", "cpu 1", "cpu 1"]), &[]), [Some(110), Some(10)]);
    let text = condition(["", "cpu 1", "cpu 1"]);
    assert_eq!(each(&text, &[]), [Some(110), Some(110), Some(10)]);
}

#[test]
fn on_several_cpus_deadlines_are_inherited_within_each() {
    let two = |text: String| text + "\ntask D priority 4 once cpu 1 deadline 399 { fixed(300); }";
    assert_eq!(both(&two(mutex(DEADLINES)), &EDF), [Some(110), Some(10)]);
    assert_eq!(both(&two(mutex(["", "budget 30 100", ""])), &[]), [Some(36), Some(10)]);
}
