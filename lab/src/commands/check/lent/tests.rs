//! What has a bound among tasks on reservations that share, and what has none.

use crate::commands::check::decided::decide;
use analysis::Overheads;

/// Two tasks on leaves of a class that share, and one above them; with a change.
fn with(from: &str, to: &str) -> Vec<(String, Option<u64>)> {
    let text = "[system]\nname = \"a\"\n[[mutex]]\nname = \"m\"\n\
        [[endpoint]]\nname = \"e\"\nserves = true\n\
        [[reservation]]\nname = \"class\"\npolicy = \"edf\"\npriority = 300\n\
        [[reservation]]\nname = \"one\"\nin = \"class\"\nperiod = \"10ms\"\n\
        [[reservation]]\nname = \"two\"\nin = \"class\"\nperiod = \"40ms\"\n\
        [[reservation]]\nname = \"above\"\npriority = 301\nexecution = \"1ms\"\n\
        period = \"8ms\"\ndeadline = \"8ms\"\n\
        [[domain]]\nname = \"d\"\nprogram = \"busy\"\npriority = 9\nthreads = 2\n\
        caps = [{ name = \"e\", endpoint = \"e\", rights = [\"send\"] }]\n\
        [[domain.task]]\nname = \"t1\"\npriority = 9\nreservation = \"one\"\n\
        execution = \"2ms\"\nperiod = \"10ms\"\nsections = [{ mutex = \"m\", length = \"1ms\" }]\n\
        [[domain.task]]\nname = \"t2\"\npriority = 9\nreservation = \"two\"\n\
        execution = \"4ms\"\nperiod = \"40ms\"\nsections = [{ mutex = \"m\", length = \"3ms\" }]\n\
        [[domain]]\nname = \"server\"\nprogram = \"busy\"\npriority = 5\n\
        caps = [{ name = \"e\", endpoint = \"e\", rights = [\"receive\"] }]\n";
    assert!(text.contains(from), "{from}");
    let text = text.replace(from, to);
    let system = manifest::parse("a.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let document = decide(&system, Overheads::default()).expect("there are tasks").document();
    let tasks = document["cpus"][0]["tasks"].as_array().expect("tasks").iter();
    let row = |task: &serde_json::Value| {
        (task["name"].as_str().expect("a name").to_string(), task["bound_ns"].as_u64())
    };
    tasks.map(row).collect()
}

fn bounds(from: &str, to: &str) -> [Option<u64>; 3] {
    let all = with(from, to);
    ["one", "two", "above"].map(|name| {
        let own = all.iter().find(|(other, _)| other == name);
        own.and_then(|(_, bound)| *bound).map(|bound| bound / 1_000)
    })
}

#[test]
fn what_others_execute_counts_as_its_own() {
    // 1 + 2 + 3, and 1 + (2 + 3) + (4 + 1) that are interrupted once more.
    assert_eq!(bounds("above", "above"), [Some(6_000), Some(18_000), Some(1_000)]);
    let sections = "sections = [{ mutex = \"m\", length = \"3ms\" }]\n";
    assert_eq!(bounds(sections, "sections = []\n"), [Some(3_000), Some(7_000), Some(1_000)]);
    // Calls to a server that serves count alike.
    assert_eq!(bounds("mutex = \"m\", l", "endpoint = \"e\", l")[0], Some(6_000));
}

#[test]
fn what_lends_nothing_has_no_bound() {
    let none = [None, None, Some(1_000)];
    let mutex = "[[mutex]]\nname = \"m\"\n";
    for protocol in ["ceiling", "none"] {
        let other = format!("{mutex}protocol = \"{protocol}\"\n");
        assert_eq!(bounds(mutex, &other), none, "{protocol}");
    }
    assert_eq!(bounds("name = \"a\"\n", "name = \"a\"\ninheritance = \"none\"\n"), none);
    let budget = "period = \"40ms\"\ndeadline = \"40ms\"\nbudget = \"20ms\"\n";
    let leaf = "name = \"two\"\nin = \"class\"\nperiod = \"40ms\"\n";
    let of = |keys: &str| format!("name = \"two\"\n{keys}");
    assert_eq!(bounds(leaf, &of(&format!("in = \"class\"\n{budget}"))), none);
    let elsewhere = "priority = 290\nperiod = \"40ms\"\ndeadline = \"40ms\"\n";
    assert_eq!(bounds(leaf, &of(elsewhere)), none);
    // A server that lets those wait that are in its queue.
    let text = with("serves = true\n", "");
    assert!(text.iter().all(|(_, bound)| bound.is_some()), "no task calls: {text:?}");
}
