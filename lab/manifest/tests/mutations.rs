//! Whatever a manifest says, the answer is a system or problems, never a crash.

mod support;

use manifest::{Problems, pack, parse};
use proptest::prelude::*;

const SCRAPS: &str = "\" [ ] [[ ]] { } = , \n 0 -1 99999999999999999999 0x8000000000000000 1.5 \
                      true nan ''' [[domain]] [system] name=\"server\" 4G priority ß \u{0}";

/// A place in the text, how much is deleted there, and what is put there: a scrap, any character,
/// or a part of the text.
fn change() -> impl Strategy<Value = (usize, usize, Insert)> {
    let insert = prop_oneof![
        prop::sample::select(SCRAPS.split(' ').collect::<Vec<_>>()).prop_map(Insert::Scrap),
        any::<char>().prop_map(Insert::Char),
        (any::<usize>(), 0usize..200).prop_map(|(at, length)| Insert::Copy(at, length)),
    ];
    (any::<usize>(), 0usize..40, insert)
}

#[derive(Clone, Debug)]
enum Insert {
    Scrap(&'static str),
    Char(char),
    Copy(usize, usize),
}

fn apply(text: &mut Vec<char>, (at, deleted, insert): &(usize, usize, Insert)) {
    let part = |at: usize, length: usize| {
        let at = at % (text.len() + 1);
        at..(at + length).min(text.len())
    };
    let new: Vec<char> = match *insert {
        Insert::Scrap(scrap) => scrap.chars().collect(),
        Insert::Char(char) => vec![char],
        Insert::Copy(at, length) => text[part(at, length)].to_vec(),
    };
    text.splice(part(*at, *deleted), new);
}

/// Each problem is complete, points into the text and fits the screen.
fn are_helpful(problems: &Problems, text: &str) {
    assert!(!problems.0.is_empty());
    for problem in &problems.0 {
        assert!(!problem.message.is_empty() && !problem.help.is_empty());
        let line = text.split('\n').nth(problem.line as usize - 1).expect("the line exists");
        assert!(problem.column as usize <= line.chars().count() + 1, "{problem}\nin {text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn a_changed_manifest_is_a_system_or_problems(
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let mut text: Vec<char> = support::RICH.chars().collect();
        changes.iter().for_each(|change| apply(&mut text, change));
        let text: String = text.into_iter().collect();
        match parse("changed.toml", &text) {
            Ok(system) => {
                pack(&system, &support::program, 0).map_or_else(
                    |problems| are_helpful(&problems, &text),
                    |archive| assert!(!archive.bytes.is_empty()),
                );
                assert!(!system.summary().is_empty());
            }
            Err(problems) => are_helpful(&problems, &text),
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
        if let Err(problems) = pack(&system, &|_| Ok(program.clone()), 0) {
            are_helpful(&problems, support::RICH);
        }
    }
}
