//! Wrong manifests, and what people are told about them.

mod programs;
mod supervised;
#[path = "../support/mod.rs"]
mod support;

use expect_test::{ExpectFile, expect, expect_file};
use manifest::{Problems, parse};

/// A manifest of which each case spoils one thing.
const GOOD: &str = include_str!("good.toml");

/// What each manifest begins with.
const SYSTEM: &str = "[system]\nname = \"good\"\n";

fn problems(text: &str) -> Problems {
    parse("good.toml", text).expect_err("the manifest is wrong")
}

/// What is said about a number of mistakes, to be compared with a kept file.
#[derive(Default)]
struct Golden(String);

impl Golden {
    /// Adds what is said, which has to fit the screen.
    fn shown(&mut self, title: &str, said: &Problems) {
        let text = said.to_string();
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= 80, "{widest} columns:\n{text}");
        assert!(said.0.iter().all(|one| !one.message.is_empty() && !one.help.is_empty()));
        self.0 += &format!("# {title}\n{text}\n\n");
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

/// A kept file begins each of its cases with a change of a manifest, `# "FROM" becomes "TO"`.
fn answered_as_kept(folder: &str, good: &str, least: usize) {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says");
    let folder = format!("{own}/tests/wrong/{folder}");
    let files = std::fs::read_dir(folder).expect("there are cases");
    let paths: Vec<_> = files.map(|file| file.expect("it is readable").path()).collect();
    assert!(paths.len() >= least);
    for path in paths {
        let kept = std::fs::read_to_string(&path).expect("it is readable");
        let mut golden = Golden::default();
        for title in kept.lines().filter_map(|line| line.strip_prefix("# ")) {
            let (from, to) = title.split_once(" becomes ").expect("a change");
            let [from, to]: [String; 2] =
                [from, to].map(|quoted| serde_json::from_str(quoted).expect("a quoted text"));
            assert_eq!(good.matches(&from).count(), 1, "{from:?} has to be there once");
            golden.shown(title, &problems(&good.replacen(&from, &to, 1)));
        }
        golden.check(expect_file![path]);
    }
}

#[test]
fn changes_are_answered_as_kept() {
    answered_as_kept("cases", GOOD, 18);
}

#[test]
fn changes_of_reservations_are_answered_as_kept() {
    let good = include_str!("reservations.toml");
    parse("good.toml", good).unwrap_or_else(|problem| panic!("{problem}"));
    answered_as_kept("reservations", good, 8);
}

#[test]
fn changes_of_budgets_that_follow_demand_are_answered_as_kept() {
    let good = include_str!("adaptive.toml");
    parse("good.toml", good).unwrap_or_else(|problem| panic!("{problem}"));
    answered_as_kept("adaptive", good, 2);
}

#[test]
fn changes_of_what_tasks_share_are_answered_as_kept() {
    let good = include_str!("sharing.toml");
    parse("good.toml", good).unwrap_or_else(|problem| panic!("{problem}"));
    answered_as_kept("sharing", good, 6);
}

#[test]
fn changes_of_tasks_on_reservations_are_answered_as_kept() {
    let good = include_str!("seated.toml");
    parse("good.toml", good).unwrap_or_else(|problem| panic!("{problem}"));
    answered_as_kept("seated", good, 1);
}

#[test]
fn all_problems_are_told_at_once_in_the_order_of_the_text() {
    let text = GOOD.replace("badge = 2", "badge = 0").replace("\"32K\"", "\"5K\"");
    let said = problems(&text.replace("irq = 4", "irq = 24"));
    let lines: Vec<u32> = said.0.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [19, 25, 37], "{said}");
}

#[test]
fn wrong_keys_and_types_are_told_at_once_in_the_order_of_the_text() {
    let changes = [
        ("name = \"good\"", "naem = \"good\"\nnew = 1"),
        ("irq = 4", "irq = \"4\"\nline = 4"),
        ("size = \"4M\"", "size = 4"),
        ("program = \"greeter\"", "colour = \"red\""),
        ("priority = 100", "prioritty = \"high\""),
    ];
    let text = changes.iter().fold(GOOD.to_string(), |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "{from:?} has to be there once");
        text.replacen(from, to, 1)
    });
    let mut golden = Golden::default();
    golden.shown("several keys and types", &problems(&text));
    golden.shown("two keys, and a table of which all is missing", &problems("a = 1\nb = 2\n"));
    golden.shown("a list of wrong things", &problems(&format!("domain = [1, {{}}]\n{SYSTEM}")));
    golden.check(expect_file!["golden/wrong_keys_and_types.txt"]);
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
fn systems_without_substance() {
    let mut golden = Golden::default();
    let no_domain = &GOOD[..GOOD.find("[[domain]]").expect("there are domains")];
    golden.shown("no domain", &problems(no_domain));
    let no_system = &GOOD[GOOD.find("[pools]").expect("there are pools")..];
    golden.shown("no system", &problems(no_system));
    golden.shown("nothing", &problems(""));
    golden.check(expect_file!["golden/systems_without_substance.txt"]);
}

#[test]
fn problems_as_json() {
    let said = problems(&GOOD.replace("priority = 100", "prioritty = 100"));
    expect![[r#"
        [
          {
            "file": "good.toml",
            "line": 34,
            "column": 1,
            "key": "domain.server.prioritty",
            "message": "`prioritty` is not a key here",
            "help": "did you mean `priority`?"
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&said).expect("it serialises"));
}

#[test]
fn a_controller_has_only_so_many_budgets_that_follow_demand() {
    let class = "[[reservation]]\nname = \"class\"\npolicy = \"edf\"\npriority = 9\n\
                 budget = \"5ms\"\nperiod = \"10ms\"\n";
    let child = |child: usize| {
        format!(
            "[[reservation]]\nname = \"child{child}\"\nin = \"class\"\nbudget = \"1ms\"\n\
             period = \"100ms\"\nadaptive = {{ importance = 1 }}\n"
        )
    };
    let cap = |child: usize| {
        format!(
            "[[domain.caps]]\nname = \"child{child}\"\nreservation = \"child{child}\"\n\
             rights = [\"control\"]\n"
        )
    };
    let system = |children: usize| {
        let [all, caps]: [String; 2] =
            [(0..children).map(child).collect(), (0..children).map(cap).collect()];
        let domain = "[[domain]]\nname = \"one\"\nprogram = \"one\"\npriority = 1\n";
        format!("{SYSTEM}{class}{all}{domain}{caps}")
    };
    parse("good.toml", &system(16)).unwrap_or_else(|problem| panic!("{problem}"));
    let said = problems(&system(17));
    assert_eq!(said.0[0].message, "`one` controls 17 budgets that follow demand");
}

#[test]
fn all_that_is_wrong_with_a_domain_is_told() {
    let text = format!(
        "{SYSTEM}\n[[domain]]\nname = \"a\"\nprogram = \"echo\"\npriority = 300\nthreads = 0\n\
         maps = [{{ memory = \"none\", rights = \"r\" }}, {{ memory = \"nor\", rights = \"r\" }}]\n\
         caps = [{{ name = \"x\", endpoint = \"nowhere\" }}]\nstack = \"17\"\n\
         args = {{ a = 1.5, \"b c\" = 1, d = [1] }}\n"
    );
    let places: Vec<_> = problems(&text).0.iter().map(|one| (one.line, one.column)).collect();
    let mut sorted = places.clone();
    sorted.sort_unstable();
    assert_eq!(places, sorted, "in the order of the text");
    let lines: Vec<_> = places.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [7, 8, 9, 9, 10, 11, 12, 12, 12]);
}

#[test]
fn the_default_classes_are_like_others() {
    let begin = "[system]\nname = \"good\"\ndefault_classes = true\n[[reservation]]\n";
    let end = "[[domain]]\nname = \"one\"\nprogram = \"idle\"\npriority = 1\n";
    let mut golden = Golden::default();
    let big = format!("{begin}name = \"big\"\nin = \"C1\"\ncurve = \"11%\"\n{end}");
    golden.shown("more than there is in C1", &problems(&big));
    let twice = format!("{begin}name = \"C0\"\npriority = 3\n{end}");
    golden.shown("a name of theirs", &problems(&twice));
    golden.check(expect_file!["golden/default_classes.txt"]);
}

/// The kernel refuses a budget that is longer than the deadline of its jobs, below EDF: it would
/// panic when it boots. So no manifest is right with one.
#[test]
fn a_budget_above_its_deadline_below_edf_is_wrong() {
    let edf = "[[reservation]]\nname = \"edf\"\npolicy = \"edf\"\npriority = 20\n";
    for (system, class, place) in [("", edf, "edf"), ("shared_priority = 200\n", "", "cpus")] {
        let text = |deadline: &str| {
            format!(
                "{SYSTEM}kernel = \"tree\"\ncpus = 2\n{system}{class}\
                 [[reservation]]\nname = \"leaf\"\nin = \"{place}\"\n\
                 budget = \"8ms\"\nperiod = \"20ms\"\ndeadline = \"{deadline}\"\n\
                 [[domain]]\nname = \"only\"\nprogram = \"idle\"\npriority = 1\n\
                 reservation = \"leaf\"\n"
            )
        };
        parse("late.toml", &text("8ms")).unwrap_or_else(|problem| panic!("{problem}"));
        assert!(parse("late.toml", &text("4ms")).is_err(), "8ms in 4ms, in {place}");
    }
}
