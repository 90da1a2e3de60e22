//! Whatever somebody writes, the answer is a system or a problem, never a crash.

mod support;

use manifest::{Problem, pack, parse};
use proptest::prelude::*;

/// One change to a text.
#[derive(Clone, Debug)]
enum Change {
    Delete { at: usize, length: usize },
    Insert { at: usize, what: &'static str },
    Repeat { at: usize, length: usize, to: usize },
    Replace { at: usize, with: char },
}

const SCRAPS: [&str; 24] = [
    "\"",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ",",
    "\n",
    "0",
    "-1",
    "99999999999999999999",
    "0x8000000000000000",
    "1.5",
    "true",
    "nan",
    "'''",
    "name = \"server\"\n",
    "[[domain]]\n",
    "4G",
    "priority",
    "ß",
    "\u{0}",
];

fn change() -> impl Strategy<Value = Change> {
    let at = || any::<usize>();
    prop_oneof![
        (at(), 1usize..40).prop_map(|(at, length)| Change::Delete { at, length }),
        (at(), prop::sample::select(&SCRAPS[..]))
            .prop_map(|(at, what)| Change::Insert { at, what }),
        (at(), 1usize..200, at()).prop_map(|(at, length, to)| Change::Repeat { at, length, to }),
        (at(), any::<char>()).prop_map(|(at, with)| Change::Replace { at, with }),
    ]
}

fn apply(text: &mut Vec<char>, change: &Change) {
    let place = |at: usize| at % (text.len() + 1);
    let end = |at: usize, length: usize| (place(at) + length).min(text.len());
    match *change {
        Change::Delete { at, length } => {
            text.drain(place(at)..end(at, length));
        }
        Change::Insert { at, what } => {
            let at = place(at);
            text.splice(at..at, what.chars());
        }
        Change::Repeat { at, length, to } => {
            let copy = text[place(at)..end(at, length)].to_vec();
            let to = place(to);
            text.splice(to..to, copy);
        }
        Change::Replace { at, with } => {
            let (from, to) = (place(at), end(at, 1));
            text.splice(from..to, [with]);
        }
    }
}

/// A problem is complete and points into the text.
fn is_helpful(problem: &Problem, text: &str) {
    assert!(!problem.message.is_empty() && !problem.help.is_empty());
    let line = text.split('\n').nth(problem.line as usize - 1).expect("the line exists");
    assert!(problem.column as usize <= line.chars().count() + 1, "{problem}\nin {text}");
    for shown in problem.to_string().lines() {
        assert!(shown.chars().count() <= 100, "{problem}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn a_changed_manifest_is_a_system_or_a_problem(
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let mut text: Vec<char> = support::RICH.chars().collect();
        changes.iter().for_each(|change| apply(&mut text, change));
        let text: String = text.into_iter().collect();
        match parse("changed.toml", &text) {
            Ok(system) => {
                pack(&system, &support::program, 0).map_or_else(
                    |problem| is_helpful(&problem, &text),
                    |archive| assert!(!archive.bytes.is_empty()),
                );
                assert!(!system.summary().is_empty());
            }
            Err(problem) => is_helpful(&problem, &text),
        }
    }

    #[test]
    fn a_changed_program_is_packed_or_refused(
        changes in prop::collection::vec((0usize..300, any::<u8>()), 1..8),
    ) {
        let system = parse("rich.toml", support::RICH).expect("the rich manifest is right");
        let mut program = support::program("any").expect("it exists");
        for (at, byte) in changes {
            program[at] = byte;
        }
        if let Err(problem) = pack(&system, &|_| Ok(program.clone()), 0) {
            is_helpful(&problem, support::RICH);
        }
    }
}
