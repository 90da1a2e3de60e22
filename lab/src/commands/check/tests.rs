//! Manifests that fit and manifests that do not, and what is said of them.

use super::decided::{Decided, decide};
use super::{Check, MACHINES, check, notes, overheads};
use crate::failure::{Usage, Verdict};
use crate::{image, systems};
use expect_test::expect_file;
use manifest::System;
use std::path::PathBuf;

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
    let system = manifest::load(path).unwrap_or_else(|problem| panic!("{problem}"));
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    assert_eq!(Some(system.name.as_str()), stem, "a system is called as its file is");
    let decided = decide(&system, overheads::given(&system)).expect("there is something to decide");
    (system, decided)
}

/// What is said is kept beside the manifest, and fits the screen.
fn is_kept(path: &std::path::Path) -> Decided {
    let (system, decided) = decided(path);
    let text = format!("{}{}", system.summary(), decided.text());
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{}: {widest:?}", path.display());
    expect_file![path.with_extension("txt")].assert_eq(&text);
    decided
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
        decide(system, Default::default()).expect("the same").fits()
    };
    assert!(fits(&mut system, smallest));
    assert!(!fits(&mut system, smallest - 1));
}

#[test]
fn the_worst_verdict_counts() {
    let [good, bad] =
        ["good/shares", "bad/overload"].map(|name| format!("tests/check/{name}.toml"));
    let verdict = |systems: &[&String]| {
        let systems = systems.iter().map(ToString::to_string).collect();
        check(&Check { systems, overheads: None }, true).expect("they can be read")
    };
    assert_eq!(verdict(&[&good]), Verdict::Held);
    assert_eq!(verdict(&[&good, &bad, &good]), Verdict::Failed);
    let unread = "lab/manifest/tests/wrong/good.toml".to_string();
    assert_eq!(verdict(&[&bad, &unread, &good]), Verdict::Unable);
}

#[test]
fn of_systems_without_reservations_nothing_is_decided() {
    let system = crate::systems::load("hello").unwrap();
    assert!(decide(&system, Default::default()).is_none());
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
        assert!(!notes(&system).iter().any(|note| note.starts_with(&about)), "{about}");
    }
    let [usual, .., simulation] = MACHINES;
    system.cpus = usual.most_cpus() + 1;
    let said = "machine qemu-x86_64 has at most 8 CPUs; a system of 9 runs with \
                `--machine twin`";
    assert_eq!(notes(&system), [said]);
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
    let shown = decide(&system, Default::default()).expect("the same");
    assert_eq!((asked.is_accepted(), shown.is_accepted()), (false, true));
    assert_eq!(shown.document()["fits"], false);
    assert!(shown.text().contains("CPU 0 does not fit."), "{}", shown.text());
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
