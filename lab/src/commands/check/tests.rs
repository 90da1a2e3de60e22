//! Manifests that fit and manifests that do not, and what is said of them.

use super::decided::{Decided, decide};
use super::note::texts;
use super::page::{Page, refused};
use super::{Check, MACHINES, check, latency, notes, overheads};
use crate::failure::{Usage, Verdict};
use crate::{image, systems};
use expect_test::expect_file;
use manifest::System;
use std::path::PathBuf;

impl Decided {
    /// All that is said of it, in lines of any length.
    pub(super) fn text(&self) -> String {
        let reasons = self.reasons();
        let missing = self.missing().unwrap_or_default();
        let parts = [self.says(), self.deadlines(usize::MAX), texts(&reasons).join("\n"), missing];
        parts.join("\n") + &self.tables()
    }
}

/// The manifests of a kind under `tests/check`.
fn manifests(kind: &str) -> Vec<PathBuf> {
    let folder = crate::workspace::root().join("tests/check").join(kind);
    let files = std::fs::read_dir(folder).expect("there are manifests");
    let files = files.map(|file| file.expect("it is readable").path());
    let is_manifest = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
    let mut paths: Vec<PathBuf> = files.filter(is_manifest).collect();
    paths.sort();
    assert!(paths.len() >= 4);
    paths
}

fn decided(path: &std::path::Path) -> (System, Decided) {
    let system = systems::load(path.to_str().expect("a text")).expect("it is right");
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    assert_eq!(Some(system.name.as_str()), stem, "a system is called as its file is");
    let decided = decide(&system, overheads::given(&system)).expect("there is something to decide");
    (system, decided)
}

/// What is said of a system, all of it or a screen, but for its latency.
fn page(system: &System, decided: &Decided, all: bool) -> String {
    let page = Page { system, decided: Some(decided), latency: None, notes: &[] };
    page.verdict(all) + &page.rest(all)
}

/// What is said is kept beside the manifest, and fits the screen.
fn is_kept(path: &std::path::Path) -> Decided {
    let (system, decided) = decided(path);
    let text = page(&system, &decided, true);
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{}: {widest:?}", path.display());
    expect_file![path.with_extension("txt")].assert_eq(&text);
    decided
}

/// Lines of a screen.
const SCREEN: usize = 24;

/// What is said of a system without --verbose.
fn screen(name: &str) -> String {
    let system = systems::load(name).unwrap();
    let decided = decide(&system, overheads::given(&system));
    let latency = latency::latency(&system).unwrap();
    let notes = notes(&system);
    let decided = decided.as_ref();
    let page = Page { system: &system, decided, latency: Some(&latency), notes: &notes };
    page.verdict(false) + &page.rest(false)
}

#[test]
fn each_system_fits_a_screen() {
    for name in systems::names() {
        let text = screen(&name);
        let count = text.lines().count();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{name}: {text}");
        assert!(text.starts_with(&format!("{name} ")), "{text}");
        // This one has eight tasks, four of them late.
        assert!(count <= SCREEN || name == "plugins", "{name}: {count} lines\n{text}");
    }
}

#[test]
fn a_verdict_names_the_line_to_blame() {
    let says = |from: &str, to: &str| {
        let text = "[system]\nname = \"a\"\nmax_latency = \"50us\"\n[[domain]]\nname = \"d\"\n\
                    program = \"busy\"\npriority = 9\nexecution = \"1ms\"\nperiod = \"4ms\"\n";
        let changed = text.replace(from, to);
        assert!(from == to || changed != text, "{from}");
        let system = match manifest::parse("a.toml", &changed) {
            Ok(system) => system,
            Err(problems) => return refused(&problems).0,
        };
        let decided = decide(&system, overheads::given(&system));
        let latency = latency::latency(&system).unwrap();
        let latency = Some(&latency);
        let page = Page { system: &system, decided: decided.as_ref(), latency, notes: &[] };
        page.verdict(false).lines().next().unwrap().to_string()
    };
    assert_eq!(says("", ""), "a fits.");
    assert_eq!(says("\"1ms\"", "\"5ms\""), "a does not fit: see line 6 of a.toml.");
    let late = "a fits; it cannot hold its `max_latency`: see line 1 of a.toml.";
    assert_eq!(says("50us", "1us"), late);
    assert_eq!(says("= 9", "= 900"), "a.toml is refused: see line 7 of it.");
}

#[test]
fn many_deadlines_are_cut_to_the_tightest() {
    let mut text = "[system]\nname = \"a\"\n".to_string();
    for at in 0..9 {
        text += &format!(
            "[[domain]]\nname = \"d{at}\"\nprogram = \"busy\"\npriority = {}\n\
             execution = \"1ms\"\nperiod = \"{}ms\"\n",
            50 - at,
            20 - at
        );
    }
    let system = manifest::parse("a.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let decided = decide(&system, analysis::Overheads::default()).expect("there are tasks");
    let tasks = |most: usize| {
        let text = decided.deadlines(most);
        let rows = text.lines().filter_map(|line| line.strip_prefix(" domain "));
        rows.filter_map(|row| row.split(' ').next()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(tasks(9), "d0 d1 d2 d3 d4 d5 d6 d7 d8");
    assert_eq!(tasks(2), "d8 d7");
    assert!(decided.deadlines(2).ends_with(" 7 more have more slack; 0 of them do not fit.\n"));
}

#[test]
fn what_fits_is_said_with_its_bounds() {
    for path in manifests("good") {
        let decided = is_kept(&path);
        assert!(decided.fits(), "{}", decided.text());
        let document = decided.document();
        assert_eq!(document["fits"], true);
        for cpu in document["cpus"].as_array().expect("a list") {
            assert_eq!(cpu["reasons"], serde_json::json!([]));
            let tasks = cpu["tasks"].as_array().expect("a list").iter();
            assert!(tasks.clone().all(|task| task["slack_ns"].as_i64() >= Some(0)), "{cpu}");
        }
    }
}

#[test]
fn what_does_not_fit_explains_itself() {
    for path in manifests("bad") {
        let decided = is_kept(&path);
        assert!(!decided.fits(), "{}", decided.text());
        let reasons = &decided.document()["cpus"][0]["reasons"];
        assert!(
            reasons.as_array().is_some_and(|reasons| !reasons.is_empty()),
            "{}",
            path.display()
        );
    }
}

#[test]
fn advice_is_good() {
    let path = crate::workspace::root().join("tests/check/bad/tight-budget.toml");
    let (mut system, before) = decided(&path);
    let server = &before.document()["cpus"][0]["servers"][0];
    let smallest = server["nearest_budget_ns"].as_u64().expect("there is a budget that fits");
    let fits = |system: &mut System, budget: u64| {
        let limit = system.reservations[0].limit.as_mut().expect("it has a budget");
        limit.budget = budget;
        decide(system, analysis::Overheads::default()).expect("the same").fits()
    };
    assert!(fits(&mut system, smallest));
    assert!(!fits(&mut system, smallest - 1));
}

/// A budget that is advised is put into the manifest: it is admitted, and what is in the server is
/// in time, and so is what was.
#[test]
fn what_is_advised_can_be_written() {
    let mut advised = 0;
    for path in ["good", "bad"].into_iter().flat_map(manifests) {
        let (system, before) = decided(&path);
        let before = before.document();
        let of = |document: &serde_json::Value, kind: &str| -> Vec<serde_json::Value> {
            let cpus = document["cpus"].as_array().expect("a list").iter();
            cpus.flat_map(|cpu| cpu[kind].as_array().expect("a list").clone()).collect()
        };
        for server in of(&before, "servers") {
            let Some(nearest) = server["nearest_budget_ns"].as_u64() else { continue };
            let (name, mut system) = (server["name"].as_str().expect("a text"), system.clone());
            let node = system.reservations.iter_mut().find(|node| node.name == name);
            let limit = node.expect("it is one").limit.as_mut().expect("it has a budget");
            limit.budget = nearest;
            assert!(nearest.is_multiple_of(1_000) && system.is_promised(), "{name} {nearest}");
            let after = decide(&system, overheads::given(&system)).expect("the same").document();
            let inside = format!("{}/", server["path"].as_str().expect("a text"));
            for (before, after) in of(&before, "tasks").iter().zip(of(&after, "tasks")) {
                let is_inside = after["path"].as_str().is_some_and(|at| at.starts_with(&inside));
                let has_to = is_inside || before["fits"] == true;
                assert!(!has_to || after["fits"] == true, "{}: {name} {after}", path.display());
            }
            advised += 1;
        }
    }
    assert!(advised >= 6, "{advised}");
}

#[test]
fn the_worst_verdict_counts() {
    let [good, bad] =
        ["good/shares", "bad/overload"].map(|name| format!("tests/check/{name}.toml"));
    let verdict = |systems: &[&String]| {
        let systems = systems.iter().map(ToString::to_string).collect();
        check(&Check { systems, overheads: None, verbose: false }, true).expect("they can be read")
    };
    assert_eq!(verdict(&[&good]), Verdict::Held);
    assert_eq!(verdict(&[&good, &bad, &good]), Verdict::Failed);
    let unread = "lab/manifest/tests/wrong/good.toml".to_string();
    assert_eq!(verdict(&[&bad, &unread, &good]), Verdict::Unable);
}

#[test]
fn of_systems_without_reservations_nothing_is_decided() {
    let system = crate::systems::load("hello").unwrap();
    assert!(decide(&system, analysis::Overheads::default()).is_none());
}

#[test]
fn the_kernels_costs_come_off() {
    let path = crate::workspace::root().join("tests/check/good/priorities.toml");
    let (system, free) = decided(&path);
    let costs = analysis::Overheads { release: 1000, context_switch: 2000, timer_interrupt: 3000 };
    let dear = decide(&system, costs).expect("the same");
    let bounds = |decided: &Decided| {
        let tasks = decided.document()["cpus"][0]["tasks"].clone();
        let tasks = tasks.as_array().expect("a list").clone();
        tasks.iter().map(|task| task["bound_ns"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(bounds(&free), [1_000_000, 3_000_000, 10_000_000]);
    assert!(bounds(&free).iter().zip(bounds(&dear)).all(|(free, dear)| *free < dear));
    assert!(dear.text().contains("release 1us"), "{}", dear.text());
}

#[test]
fn what_a_machine_cannot_do_is_noted_and_refused_there() {
    let mut system = systems::load("hello").unwrap();
    for machine in MACHINES {
        system.cpus = machine.most_cpus();
        let about = format!("machine {} ", machine.name());
        assert!(!notes(&system).iter().any(|note| note.text.starts_with(&about)), "{about}");
    }
    let [usual, .., simulation] = MACHINES;
    system.cpus = usual.most_cpus() + 1;
    let said = "machine qemu-x86_64 has at most 8 CPUs; a system of 9 runs with \
                `--machine twin`";
    assert_eq!(texts(&notes(&system)), [said]);
    let refused = image::build_for(usual, &system).err().unwrap();
    assert!(refused.is::<Usage>() && refused.to_string().contains("at most 8 CPUs"));
    assert!(system.cpus <= simulation.most_cpus());
}

/// What need not fit is accepted, and told why it does not all the same.
#[test]
fn bounds_that_are_not_required_fail_nothing() {
    let path = crate::workspace::root().join("tests/check/bad/unlimited.toml");
    let (mut system, asked) = decided(&path);
    system.bounds_required = false;
    let shown = decide(&system, analysis::Overheads::default()).expect("the same");
    assert_eq!((asked.is_accepted(), shown.is_accepted()), (false, true));
    assert_eq!(shown.document()["fits"], false);
    assert!(
        shown.text().starts_with("does not fit, which its `[analysis]` accepts"),
        "{}",
        shown.text()
    );
}

/// Each system that comes along is accepted.
#[test]
fn all_systems_are_accepted() {
    for entry in
        std::fs::read_dir(crate::workspace::root().join("systems")).expect("there are some")
    {
        let path = entry.expect("it is readable").path();
        if path.extension().is_some_and(|end| end == "toml") {
            let system = manifest::load(&path).unwrap_or_else(|problem| panic!("{problem}"));
            if let Some(decided) = decide(&system, overheads::given(&system)) {
                assert!(decided.is_accepted(), "{}: {}", path.display(), decided.text());
            }
        }
    }
}

/// A system of `tests/check/good/sharing.toml` with a change.
fn sharing_with(from: &str, to: &str) -> Decided {
    let path = crate::workspace::root().join("tests/check/good/sharing.toml");
    let text = std::fs::read_to_string(path).expect("it is readable");
    assert_eq!(text.matches(from).count(), 1, "{from:?} has to be there once");
    let system = manifest::parse("sharing.toml", &text.replacen(from, to, 1));
    let system = system.unwrap_or_else(|problem| panic!("{problem}"));
    decide(&system, analysis::Overheads::default()).expect("there is something to decide")
}

#[test]
fn a_server_that_others_may_call_can_take_all_the_time() {
    let other = "[[domain]]\nname = \"other\"\nprogram = \"periodic\"\npriority = 10\n\
                 execution = \"1ms\"\nperiod = \"900ms\"\n\
                 caps = [{ name = \"d\", endpoint = \"disk\", rights = [\"send\"] }]\n";
    let server = "[[domain]]\nname = \"disk\"";
    let decided = sharing_with(server, &format!("{other}{server}"));
    assert!(!decided.fits() && decided.text().contains("`domain disk` is as urgent"));
    let said = "caps = [{ name = \"d\"";
    let section = "sections = [{ endpoint = \"disk\", length = \"1ms\" }]\n";
    let other = other.replace(said, &format!("{section}{said}"));
    let decided = sharing_with(server, &format!("{other}{server}"));
    assert!(decided.fits(), "{}", decided.text());
}

/// A server that is supervised is judged by itself, and not by who holds its capabilities for it.
#[test]
fn a_supervised_server_is_the_server() {
    let disk = |keys: &str| {
        let from = "program = \"periodic\"\npriority = 90\n";
        let keys = format!("program = \"periodic\"\n{keys}restart = \"on-failure\"\n");
        sharing_with(from, &keys)
    };
    let text = disk("priority = 50\n").text();
    assert!(text.contains("`disk` has priority 50, and `logger`, which calls it, 60"), "{text}");
    let blocked =
        |decided: &Decided| decided.document()["cpus"][0]["tasks"][2]["blocking_ns"].clone();
    assert_eq!(blocked(&disk("priority = 90\n")), 0);
}

/// A caller that is answered runs before more urgent threads there.
#[test]
fn a_server_has_no_bound_where_messages_decide_who_runs() {
    for kernel in manifest::KERNELS {
        let decided = sharing_with("\"strict-lazy\"", &format!("\"{kernel}\""));
        let text = decided.text();
        assert_eq!(decided.fits(), kernel.starts_with("strict"), "{kernel}: {text}");
        assert_eq!(decided.fits(), !text.contains("has no bound: kernel"), "{kernel}: {text}");
    }
}

#[test]
fn a_ceiling_above_all_users_delays_more() {
    let blocking = |decided: &Decided| {
        let tasks = decided.document()["cpus"][0]["tasks"].clone();
        let all = tasks.as_array().expect("a list").clone();
        all.iter().map(|task| task["blocking_ns"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let usual = sharing_with("protocol = \"ceiling\"", "protocol = \"ceiling\"\nceiling = 80");
    assert_eq!(blocking(&usual), [500_000, 800_000, 0]);
    let high = sharing_with("protocol = \"ceiling\"", "protocol = \"ceiling\"\nceiling = 100");
    assert_eq!(blocking(&high), [800_000, 800_000, 0]);
    let by = &high.document()["cpus"][0]["tasks"][0]["blocked_by"][0];
    let expected = serde_json::json!({"task": "logger", "mutex": "display", "length_ns": 800_000});
    assert_eq!(*by, expected);
}

#[test]
fn waiting_costs_two_context_switches() {
    let path = crate::workspace::root().join("tests/check/good/sharing.toml");
    let (system, free) = decided(&path);
    let costs = analysis::Overheads { context_switch: 1_000, ..Default::default() };
    let dear = decide(&system, costs).expect("the same");
    // Two switches for its job, and two for its wait.
    assert_eq!(dear.bounds()["control"], free.bounds()["control"] + 4_000);
}

#[test]
fn tasks_of_several_cpus_that_share_have_no_bound() {
    let path = crate::workspace::root().join("tests/check/good/sharing.toml");
    let text = std::fs::read_to_string(path).expect("it is readable");
    let text = text.replace("name = \"sharing\"", "name = \"sharing\"\ncpus = 2");
    let text = format!(
        "{text}\n[[domain]]\nname = \"other\"\nprogram = \"periodic\"\npriority = 60\ncpu = 1\n\
         max_priority = 90\nexecution = \"1ms\"\nperiod = \"900ms\"\n\
         sections = [{{ mutex = \"display\", length = \"1ms\" }}]\n"
    );
    let system = manifest::parse("sharing.toml", &text).unwrap_or_else(|it| panic!("{it}"));
    let decided =
        decide(&system, analysis::Overheads::default()).expect("there is something to decide");
    let fits: Vec<(String, bool)> = decided.document()["cpus"]
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|cpu| cpu["tasks"].as_array().expect("a list").clone())
        .map(|task| (task["name"].as_str().unwrap().to_string(), task["fits"] == true))
        .collect();
    let expected = [("control", true), ("planner", false), ("logger", false)];
    let expected = expected.map(|(name, fits)| (name.to_string(), fits));
    assert_eq!(fits, [&expected[..], &[("domain other".to_string(), false)]].concat());
    assert!(decided.text().contains("tasks of several CPUs share `display`"));
}

/// What comes right below the root of the CPU beside the tasks that share: each task with whether
/// it fits, and how long it is blocked.
fn beside(reservation: &str) -> Vec<(String, bool, u64)> {
    let about = "about = \"Tasks that share mutexes and call a server.\"\n";
    let kernel = format!("kernel = \"strict-lazy\"\n{about}");
    let decided = sharing_with(&kernel, &format!("{about}{reservation}\n"));
    let tasks = decided.document()["cpus"][0]["tasks"].clone();
    let tasks = tasks.as_array().expect("a list").iter();
    let of = |task: &serde_json::Value| {
        let name = task["name"].as_str().expect("a name").to_string();
        (name, task["fits"] == true, task["blocking_ns"].as_u64().expect("a time"))
    };
    let mut all: Vec<_> = tasks.map(of).collect();
    all.sort();
    all
}

#[test]
fn owners_delay_reservations_that_are_less_urgent_than_who_waits() {
    let leaf = |priority: u32| {
        let node = format!(
            "[[reservation]]\nname = \"node\"\npriority = {priority}\nbudget = \"100us\"\n\
             period = \"90ms\"\ndeadline = \"90ms\"\n"
        );
        beside(&node).into_iter().find(|(name, ..)| name == "node").expect("it is there")
    };
    let [above, between, below] = [300, 75, 1].map(leaf);
    assert_eq!([(above.1, above.2), (below.1, below.2)], [(true, 0); 2]);
    assert!(between.1 && between.2 > 0, "{between:?}");
    let class = |priority: u32| {
        let class = format!(
            "[[reservation]]\nname = \"class\"\npolicy = \"edf\"\npriority = {priority}\n\
             budget = \"200us\"\nperiod = \"1ms\"\n\n[[reservation]]\nname = \"node\"\n\
             in = \"class\"\nbudget = \"100us\"\nperiod = \"90ms\"\ndeadline = \"90ms\"\n"
        );
        beside(&class).into_iter().map(|(_, fits, _)| fits).collect::<Vec<_>>()
    };
    assert_eq!(class(300), [true; 4], "above all that share");
    let between = class(75);
    assert_eq!(between.iter().filter(|fits| !**fits).count(), 1, "what is inside has no bound");
}
