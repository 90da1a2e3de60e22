//! What a manifest can say wrong about domains that are supervised.

use super::{Golden, problems};
use expect_test::expect_file;

const PLANT: &str = r#"
[system]
name = "plant"

[[endpoint]]
name = "readings"

[[notification]]
name = "news"

[[domain]]
name = "meter"
program = "meter"
priority = 40
restart = "on-failure"
depends = ["valve"]
caps = [{ name = "readings", endpoint = "readings", rights = ["send"] }]

[[domain]]
name = "valve"
program = "valve"
priority = 20
restart = "always"
at_most = 2
told = { notification = "news", badge = 1 }

[[domain]]
name = "panel"
program = "panel"
priority = 10
caps = [{ name = "supervisor", supervisor = true }]
"#;

/// A change of the manifest, and what it is about.
const CHANGES: [(&str, &str, &str); 22] = [
    ("an unknown way", "on-failure", "on-failing"),
    ("not supervised", "restart = \"always\"\n", ""),
    ("a dependency on what is not supervised", "[\"valve\"]", "[\"panel\"]"),
    ("a dependency that is not there", "[\"valve\"]", "[\"vale\"]"),
    ("a cycle", "at_most = 2", "depends = [\"meter\"]"),
    ("a dependency on itself", "at_most = 2", "depends = [\"valve\"]"),
    ("too many restarts", "at_most = 2", "at_most = 17"),
    ("no window", "at_most = 2", "within = \"0s\""),
    ("a heartbeat too quick", "at_most = 2", "heartbeat = \"10us\""),
    ("a notification that is not there", "notification = \"news\"", "notification = \"new\""),
    ("nothing to tell", "badge = 1", "badge = 0"),
    ("a handler of its own", "at_most = 2", "fault_handler = \"readings\""),
    ("a right that ends objects", "[\"send\"]", "[\"send\", \"destroy\"]"),
    ("too many slots", "at_most = 2", "slots = 65"),
    ("too few slots", "depends = [\"valve\"]", "slots = 2"),
    ("a quota beyond 16 bits", "at_most = 2", "quota = { frames = 65536 }"),
    ("stacks that are too large", "at_most = 2", "stack = \"4M\""),
    ("a capability to a child", "supervisor = true", "domain = \"valve\""),
    ("a client that may receive", "supervisor = true", "supervisor = true, rights = [\"receive\"]"),
    ("a badge of the supervisor's", "true }", "true, badge = 0x8000_0000_0000_0000 }"),
    ("a name that is taken", "name = \"panel\"", "name = \"supervisor\""),
    ("a supervisor too low", "[[endpoint]]", "[supervisor]\npriority = 39\n\n[[endpoint]]"),
];

#[test]
fn the_manifest_is_good_before_it_is_spoilt() {
    manifest::parse("good.toml", PLANT).unwrap_or_else(|problem| panic!("{problem}"));
}

#[test]
fn wrong_supervision_is_answered_as_kept() {
    let mut golden = Golden::default();
    for (title, from, to) in CHANGES {
        assert_eq!(PLANT.matches(from).count(), 1, "{from:?} has to be there once");
        golden.shown(title, &problems(&PLANT.replacen(from, to, 1)));
    }
    let alone = "[system]\nname = \"a\"\n[supervisor]\npriority = 9\n[[domain]]\nname = \"b\"\n\
                 program = \"c\"\npriority = 1\n\
                 caps = [{ name = \"supervisor\", supervisor = true }]\n";
    golden.shown("a supervisor without children", &problems(alone));
    golden.check(expect_file!["golden/supervised.txt"]);
}
