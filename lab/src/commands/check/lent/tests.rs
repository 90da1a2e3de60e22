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
    assert_eq!(bounds(mutex, &format!("{mutex}protocol = \"none\"\n")), none);
    assert_eq!(bounds("name = \"a\"\n", "name = \"a\"\ninheritance = \"none\"\n"), none);
    let budget = "period = \"40ms\"\ndeadline = \"40ms\"\nbudget = \"20ms\"\n";
    let leaf = "name = \"two\"\nin = \"class\"\nperiod = \"40ms\"\n";
    let of = |keys: &str| format!("name = \"two\"\n{keys}");
    assert_eq!(bounds(leaf, &of(&format!("in = \"class\"\n{budget}"))), none);
    // A server that lets those wait that are in its queue.
    let text = with("serves = true\n", "");
    assert!(text.iter().all(|(_, bound)| bound.is_some()), "no task calls: {text:?}");
}

/// Bounds in us by leaf, of leaves of one class of priorities that begin with these keys: a name,
/// times in ms, others, and what its task does for 1 ms of it, in us.
fn of(policy: &str, leaves: &[(&str, [u64; 2], &str, &str)]) -> Vec<Option<u64>> {
    let mut text = format!(
        "[system]\nname = \"a\"\n[[mutex]]\nname = \"m\"\n[[mutex]]\nname = \"n\"\n\
         [[reservation]]\nname = \"class\"\npolicy = \"{policy}\"\npriority = 300\n\
         [[reservation]]\nname = \"other\"\npolicy = \"fixed-priority\"\npriority = 290\n"
    );
    let mut tasks = String::new();
    for (name, [execution, period], keys, sections) in leaves {
        let times = format!("period = \"{period}ms\"\ndeadline = \"{period}ms\"\n");
        text += &format!("[[reservation]]\nname = \"{name}\"\n{times}{keys}");
        tasks += &format!(
            "[[domain.task]]\nname = \"task-{name}\"\npriority = 9\nreservation = \"{name}\"\n\
             execution = \"{execution}ms\"\n{times}sections = [{sections}]\n"
        );
    }
    let threads = leaves.len();
    text += &format!(
        "[[domain]]\nname = \"d\"\nprogram = \"busy\"\npriority = 9\nthreads = {threads}\n{tasks}"
    );
    let system = manifest::parse("a.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let bounds = decide(&system, Overheads::default()).expect("there are tasks").bounds();
    leaves.iter().map(|(name, ..)| bounds.get(*name).map(|bound| bound / 1_000)).collect()
}

const LONG: &str = "{ mutex = \"m\", length = \"1ms\" }";
const SHORT: &str = "{ mutex = \"m\", length = \"200us\" }";

#[test]
fn a_budget_of_its_own_holds_two_jobs_with_what_others_execute() {
    let with = |[one, two]: [u64; 2], server: &str, sections: &str| {
        let keys = |priority: u64, budget: u64| {
            format!("in = \"class\"\npriority = {priority}\nbudget = \"{budget}us\"\n{server}")
        };
        let (one, two) = (keys(2, one), keys(1, two));
        of("fixed-priority", &[("one", [1, 10], &one, sections), ("two", [2, 40], &two, LONG)])
    };
    // 1 + 1 twice, and 2 + 0.2 twice, each with the least that is served.
    assert_eq!(with([4_001, 4_401], "", SHORT), [Some(2_000), Some(2_200 + 4_001)]);
    assert_eq!(with([4_000, 4_401], "", SHORT), [None, None]);
    assert_eq!(with([4_001, 4_400], "", SHORT), [None, None]);
    // What shares nothing needs room for a job.
    assert_eq!(with([1_000, 2_000], "", ""), [Some(1_000), Some(3_000)]);
    assert_eq!(with([4_001, 4_401], "server = \"periodic\"\n", SHORT), [None, None]);
}

#[test]
fn parts_that_come_back_are_counted() {
    let with = |sections: &str| {
        let keys = |priority| format!("in = \"class\"\npriority = {priority}\nbudget = \"9ms\"\n");
        let [one, two, three] = [3, 2, 1].map(keys);
        let (long, short) = ([1, 90], "{ mutex = \"m\", length = \"100us\" }");
        let others = [("two", long, &two[..], short), ("three", long, &three, short)];
        of("fixed-priority", &[&[("one", [1, 80], &one[..], sections)], &others[..]].concat())
    };
    // At the release, to each of two others, and behind one wait: twice that are eight.
    assert!(with(SHORT)[0].is_some());
    assert_eq!(with(&format!("{SHORT}, {SHORT}")), [None; 3]);
}

#[test]
fn by_deadlines_a_budget_of_its_own_has_no_bound() {
    let keys = "in = \"class\"\nbudget = \"4500us\"\n";
    let leaves = [("one", [1, 10], keys, SHORT), ("two", [2, 40], keys, LONG)];
    assert_eq!(of("edf", &leaves), [None, None]);
}

#[test]
fn tasks_of_different_classes_share_where_none_has_a_budget() {
    let [here, there] = ["in = \"class\"\n", "in = \"other\"\npriority = 1\n"];
    let leaves = |there| [("one", [1, 10], here, SHORT), ("two", [2, 40], there, LONG)];
    assert_eq!(of("edf", &leaves(there)), [Some(2_000), Some(4_200)]);
    assert_eq!(of("edf", &leaves("priority = 290\n")), [Some(2_000), Some(4_200)]);
    let budget = "priority = 290\nbudget = \"9ms\"\n";
    assert_eq!(of("edf", &leaves(budget)), [Some(2_000), Some(4_200)]);
    let limited = "fixed-priority\"\nbudget = \"9ms\"\nperiod = \"10ms";
    let [one, two] = ["class", "other"].map(|class| format!("in = \"{class}\"\npriority = 1\n"));
    let leaves = [("one", [1, 20], &one[..], SHORT), ("two", [2, 40], &two, LONG)];
    assert!(of("fixed-priority", &leaves).iter().all(Option::is_some));
    assert_eq!(of(limited, &leaves), [None, None]);
}

#[test]
fn what_is_held_together_is_waited_for_together() {
    let in_class = "in = \"class\"\n";
    let nested = "{ mutexes = [\"m\", \"n\"], length = \"700us\" }";
    let inner = "{ mutex = \"n\", length = \"600us\" }";
    let leaves = |nested| {
        let three = ("three", [1, 90], in_class, inner);
        [("one", [1, 10], in_class, SHORT), ("two", [1, 80], in_class, nested), three]
    };
    assert_eq!(of("edf", &leaves(nested))[0], Some(1_000 + 700 + 600));
    assert_eq!(of("edf", &leaves(LONG))[0], Some(1_000 + 1_000));
}

#[test]
fn more_that_wait_than_are_compared_have_no_bound() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let with = |count: usize, sections: &str| {
        let leaf = |name| (name, [1, 100], "in = \"class\"\n", sections.to_string());
        let all: Vec<_> = names.into_iter().take(count).map(leaf).collect();
        let all: Vec<_> = all.iter().map(|(n, t, k, s)| (*n, *t, *k, &s[..])).collect();
        of("edf", &all)[0].is_some()
    };
    assert_eq!([with(5, SHORT), with(6, SHORT)], [true, false]);
}
