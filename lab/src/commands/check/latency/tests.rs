//! Bounds by hand, what decides about them, and that none is below a recorded figure.

use super::recorded::Recorded;
use super::{Latency, with};
use crate::systems;
use manifest::{ALL_KERNELS, System, TREE};
use results::Golden;

/// Figures that are easy to add.
const MADE_UP: &str = r#"
[limits.sections]
"strict-eager load plain" = 700
"strict-eager longest any" = 1000
"strict-eager longest null" = 50
"strict-eager longest fault-unhandled" = 3000
"strict-eager path plain" = 400
"strict-eager path any" = 2000
"tree load plain" = 1500
"tree load fixed-priority" = 3000
"tree load edf" = 4000
"tree load partitions" = 3500
"tree load service-curves levels=2" = 5000
"tree load service-curves levels=4" = 6000
"tree load service-curves levels=6" = 7000
"tree longest any" = 7500
"tree longest null" = 60
"tree lending any" = 9000
"tree path plain" = 900
"tree path any" = 1900

[cross-cpu-ipc]
"strict-eager call-reply 1 CPU, no lock words=64" = 500
"strict-eager call-reply 1 CPU, big lock words=64" = 600
"#;

fn made_up() -> Recorded {
    Recorded::of(Golden::parse(MADE_UP).unwrap())
}

/// A controller with a thread of its own, and what else the text has.
fn system(general: &str, further: &str) -> System {
    let text = format!(
        "[system]\nname = \"s\"\n{general}\n\n[[domain]]\nname = \"control\"\nprogram = \"hello\"\n\
         priority = 200\n{further}"
    );
    manifest::parse("s.toml", &text).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

fn known(general: &str, further: &str) -> Latency {
    with(&system(general, further), &made_up())
}

/// The bound of a section, and of the wake-up on CPU 0.
fn bounds(general: &str, further: &str) -> [u64; 2] {
    let bound = known(general, further).into_bound().unwrap();
    [bound.section(), bound.wake_up(&bound.cpus[0])]
}

const NINE: &str = "kernel = \"strict-eager\"";
const WITH_TREE: &str = "kernel = \"tree\"";

/// A further domain.
fn other(keys: &str) -> String {
    format!("\n[[domain]]\nname = \"other\"\nprogram = \"hello\"\npriority = 10\n{keys}")
}

#[test]
fn a_bound_is_the_sum_of_its_terms() {
    // Section 700, entries 2 x 50, path 400.
    assert_eq!(bounds(NINE, ""), [700, 1_200]);
    // Another domain's threads may share mutexes: its sections are longer, not control's path.
    assert_eq!(bounds(NINE, &other("threads = 2")), [1_000, 1_500]);
    // And control's own.
    assert_eq!(bounds(NINE, "threads = 2"), [1_000, 3_100]);
    // The lock takes 100, and one other CPU has 12 parts of a section: in both sections.
    let two = "kernel = \"strict-eager\"\ncpus = 2";
    assert_eq!(bounds(two, ""), [700 + 100 + 8_400, 2 * (700 + 100 + 8_400) + 100 + 400 - 700]);
    // A fault that is no failure prints a line.
    assert_eq!(bounds(NINE, &other("may_fault = true"))[0], 3_000);
}

#[test]
fn rights_and_quotas_decide() {
    let section = |general: &str, further: &str| bounds(general, further)[0];
    for sharing in ["threads = 2", "quota = { threads = 1 }", "quota = { trains = 1 }"] {
        assert_eq!(section(NINE, &other(sharing)), 1_000, "{sharing}");
    }
    let cap =
        |right: &str| format!("caps = [{{ name = \"e\", endpoint = \"e\", rights = [{right}] }}]");
    let ends = |one: &str, other_end: &str| {
        let text = format!("{}\n{}", cap(one), other(&cap(other_end)));
        section(NINE, &format!("{text}\n[[endpoint]]\nname = \"e\""))
    };
    assert_eq!(ends("\"send\"", "\"receive\""), 1_000);
    assert_eq!(ends("\"send\"", "\"send\""), 700);
    let map = |rights: &str| format!("maps = [{{ memory = \"m\", rights = {rights:?} }}]");
    let maps = |one: &str, two: &str| {
        let memory = "\n[[memory]]\nname = \"m\"\nsize = \"4K\"";
        section(NINE, &format!("{}\n{}{memory}", map(one), other(&map(two))))
    };
    assert_eq!(maps("rw", "rw"), 1_000);
    assert_eq!(maps("rw", "r"), 700);
}

/// Classes of a policy in each other, and a leaf, with what these have in their class.
fn nested(policy: &str, share: &str, levels: usize) -> String {
    let class = |level: usize| {
        let place = match level {
            0 => "priority = 300".to_string(),
            _ => format!("in = \"c{}\"\n{share}", level - 1),
        };
        format!("\n[[reservation]]\nname = \"c{level}\"\npolicy = {policy:?}\n{place}\n")
    };
    let classes: String = (0..levels).map(class).collect();
    let leaf = format!("\n[[reservation]]\nname = \"leaf\"\nin = \"c{}\"\n{share}\n", levels - 1);
    format!("reservation = \"leaf\"\n{classes}{leaf}")
}

#[test]
fn policies_and_depth_decide_under_the_tree() {
    assert_eq!(bounds(WITH_TREE, ""), [1_500, 1_500 + 120 + 900]);
    // One job of the leaf: a step for its instant.
    let fixed = nested("fixed-priority", "priority = 5", 2);
    assert_eq!(bounds(WITH_TREE, &fixed), [3_000, 3_000 + 120 + 1_900 + 3_000]);
    let edf = nested("edf", "budget = \"1ms\"\nperiod = \"10ms\"", 1);
    // A budget as well.
    assert_eq!(bounds(WITH_TREE, &edf), [4_000, 4_000 + 120 + 1_900 + 2 * 4_000]);
    let curves = |levels| bounds(WITH_TREE, &nested("service-curves", "curve = \"20%\"", levels));
    assert_eq!(curves(2), [5_000, 5_000 + 120 + 1_900 + 5_000]);
    assert_eq!([curves(3)[0], curves(4)[0], curves(5)[0]], [6_000, 6_000, 7_000]);
    // EDF in EDF is no load of its own.
    let deep = nested("edf", "budget = \"1ms\"\nperiod = \"10ms\"", 2);
    assert_eq!(bounds(WITH_TREE, &deep)[0], 7_500);
}

#[test]
fn who_may_change_the_tree_has_its_longest_section() {
    let root =
        other("caps = [{ name = \"root\", reservation = \"cpu0\" }]\nquota = { reservations = 3 }");
    // Three leaves with curves may come at one instant.
    assert_eq!(bounds(WITH_TREE, &root), [7_500, 7_500 + 120 + 1_900 + 3 * 7_500]);
    let many = other(
        "caps = [{ name = \"root\", reservation = \"cpu0\" }]\nquota = { reservations = 99 }",
    );
    let why = known(WITH_TREE, &many).into_bound().err().unwrap();
    assert!(why.contains("the 99 reservations that `other` may make"), "{why}");
    let shares = |inheritance: &str| {
        let general = format!("{WITH_TREE}\ninheritance = {inheritance:?}");
        let leaf = nested("fixed-priority", "priority = 5", 1);
        bounds(&general, &format!("{leaf}{}", other("threads = 2")))[0]
    };
    assert_eq!([shares("charged"), shares("none")], [9_000, 7_500]);
}

#[test]
fn what_was_not_measured_has_no_bound() {
    let why = |general: &str| known(general, "").into_bound().err().unwrap();
    assert!(why("kernel = \"ipc-heap\"").contains("kernel `ipc-heap`"));
    assert!(why("kernel = \"strict-lazy\"\nlazy_dequeues = 0").contains("lazy_dequeues = 0"));
    assert!(why("kernel = \"strict-eager\"\npreempt_chains = false").contains("preempt_chains"));
    let fine = "kernel = \"strict-eager\"\ncpus = 2\nlocking = \"fine\"";
    assert!(why(fine).contains("locking `big` alone"));
}

#[test]
fn what_cannot_be_held_is_refused_with_the_line_that_is_to_blame() {
    let said = |general: &str, further: &str| {
        let known = known(general, further);
        known.problem().map(|problem| (problem.line, problem.message.clone()))
    };
    let asks = |most: &str| format!("{NINE}\nmax_latency = {most:?}");
    assert_eq!(said(&asks("1.2us"), ""), None);
    let (line, message) = said(&asks("1199ns"), "").unwrap();
    assert_eq!(line, 3, "the kernel: {message}");
    assert!(message.contains("1199ns cannot be held: `control` on CPU 0 may wake after 1,200"));
    let (line, message) = said(&asks("1200ns"), &other("threads = 2")).unwrap();
    assert_eq!(line, 13, "the other domain: {message}");
    assert!(message.contains("most of them, 1,000, by threads of `other`"), "{message}");
    let two = format!("{}\ncpus = 2", asks("2us"));
    let (line, message) = said(&two, "").unwrap();
    assert_eq!(line, 5, "the CPUs: {message}");
    let curves = nested("service-curves", "curve = \"20%\"", 2);
    let (line, message) = said(&format!("{WITH_TREE}\nmax_latency = \"2us\""), &curves).unwrap();
    assert!(message.contains("by reservation `leaf`"), "{line}: {message}");
}

#[test]
fn no_bound_is_below_a_recorded_figure() {
    let golden = Golden::load(&crate::commands::lab::golden_path()).unwrap();
    let recorded = Recorded::of(golden.clone());
    let real = |name: &str, kernel: &str| {
        let mut system = systems::load(name).unwrap();
        system.kernel = kernel.to_string();
        let bound = with(&system, &recorded).into_bound().ok()?;
        Some([bound.section(), bound.wake_up(&bound.cpus[0])])
    };
    let limits = |experiment: &str| golden.limits(experiment);
    let mut compared = 0;
    for kernel in ALL_KERNELS {
        for (system, experiment, metric) in [
            ("latency", "latency", "wake-up-worst"),
            ("herd", "herd", "delay-worst event=timer"),
            ("herd", "herd", "delay-worst event=timeout"),
        ] {
            let Some([_, wake_up]) = real(system, kernel) else { continue };
            let begins = format!("{kernel} {metric} ");
            for (key, limit) in limits(experiment).iter().filter(|it| it.0.starts_with(&begins)) {
                assert!(wake_up as f64 >= limit.as_f64(), "{system}: {key}: {wake_up}");
                compared += 1;
            }
        }
        let loads = match kernel {
            TREE => &["worst-tree", "selftest"][..],
            _ => &["worst-train", "selftest"],
        };
        let longest: Vec<_> = loads.iter().filter_map(|load| real(load, kernel)).collect();
        for (key, limit) in limits("sections") {
            let is_load = key.starts_with(&format!("{kernel} longest "));
            if !is_load || key.ends_with("fault-unhandled") {
                continue;
            }
            for [section, _] in &longest {
                assert!(*section as f64 >= limit.as_f64(), "{key}: {section}");
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared}");
}
