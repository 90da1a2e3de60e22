//! Wrong manifests, and what people are told about them.

mod keys;
mod programs;
#[path = "../support/mod.rs"]
mod support;
mod values;
mod whole;

use expect_test::{ExpectFile, expect, expect_file};
use manifest::{Problem, parse};

/// A manifest of which each test spoils one thing.
const GOOD: &str = r#"[system]
name = "good"
memory = "64M"
tick = "1ms"
timeslice = "10ms"

[pools]
threads = 10

[[endpoint]]
name = "greeting"
notification = "keys"

[[notification]]
name = "keys"

[[interrupt]]
name = "uart"
line = 4
notification = "keys"

[[timer]]
name = "alarm"
notification = "keys"
badge = 2

[[memory]]
name = "recording"
size = "4M"

[[domain]]
name = "server"
program = "greeter"
priority = 100
max_priority = 120
slots = 16
stack = "32K"
threads = 2
quota = { threads = 2 }
args = { rounds = 1000 }
fault_handler = "greeting"
fault_badge = 3
maps = [{ memory = "recording", rights = "rw" }]
caps = [
    { name = "greeting", endpoint = "greeting", rights = ["receive"], badge = 7 },
    { name = "console", console = true },
]

[[domain]]
name = "client"
program = "visitor"
priority = 90
"#;

fn problem(from: &str, to: &str) -> Problem {
    assert_eq!(GOOD.matches(from).count(), 1, "{from:?} has to be in the manifest once");
    let text = GOOD.replacen(from, to, 1);
    parse("good.toml", &text).expect_err("the manifest is wrong")
}

/// What is said about a number of mistakes, to be compared with a kept file.
#[derive(Default)]
struct Golden(String);

impl Golden {
    /// Changes one place of the manifest.
    fn says(&mut self, from: &str, to: &str) {
        let title = format!("{from:?} becomes {to:?}");
        self.shown(&title, &problem(from, to));
    }

    /// Adds a problem, which has to fit the screen.
    fn shown(&mut self, title: &str, problem: &Problem) {
        let text = problem.to_string();
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= 100, "{widest} columns:\n{text}");
        assert!(!problem.message.is_empty() && !problem.help.is_empty());
        let title: String = title.chars().take(90).collect();
        self.0 += &format!("# {}\n{text}\n\n", title.trim_end());
    }

    /// Compares all that was said.
    fn check(self, kept: ExpectFile) {
        kept.assert_eq(&self.0);
    }
}

#[test]
fn the_manifest_is_good_before_it_is_spoilt() {
    parse("good.toml", GOOD).unwrap_or_else(|problem| panic!("{problem}"));
}

#[test]
fn files_that_are_not_there() {
    let mut golden = Golden::default();
    let missing = |path: &str| manifest::load(path.as_ref()).expect_err("there is none");
    golden.shown("a folder that does not exist", &missing("no/such.toml"));
    golden.shown("a misspelt file", &missing("tests/ritch.toml"));
    golden.check(expect_file!["golden/files_that_are_not_there.txt"]);
}

#[test]
fn problems_as_json() {
    let json = serde_json::to_string_pretty(&problem("priority = 100", "prioritty = 100"));
    expect![[r#"
        {
          "file": "good.toml",
          "line": 34,
          "column": 1,
          "key": "domain.server.prioritty",
          "message": "`prioritty` is not a key of `domain.server`",
          "help": "did you mean `priority`?"
        }"#]]
    .assert_eq(&json.expect("it serialises"));
}
