use super::kept::Kept;
use super::measure::report;
use super::plan::Plan;
use super::{EXPERIMENT, shards};
use crate::experiment::Asked;
use crate::experiment::parameter::Set;
use acceptance::{Arranged, Tally};
use results::Limit;

const SOURCE: &str = "a state of the source";

fn asked(texts: &[&str]) -> Asked {
    let set = |text: &&str| Set::parse(EXPERIMENT.name, EXPERIMENT.parameters, text).unwrap();
    Asked { set: texts.iter().map(set).collect(), ..Asked::seed(1) }
}

fn small() -> Plan {
    Plan::of(&asked(&["sets=150", "utilisation=70,95", "policy=edf,windows,global-edf"])).unwrap()
}

fn run(plan: &Plan, threads: usize) -> Vec<Tally> {
    let store = tempfile::tempdir().unwrap();
    let kept = Kept::below(store.path(), plan, SOURCE).unwrap();
    let done = shards::run(plan, kept, threads, Arranged::is_accepted, |_| false).unwrap();
    done.expect("nothing stops it").tallies
}

#[test]
fn a_run_is_the_same_with_any_number_of_threads_and_holds() {
    let plan = small();
    let [one, four] = [1, 4].map(|threads| run(&plan, threads));
    assert_eq!(one, four);
    let measured = report(&one, "tree");
    assert!(measured.limits.iter().all(Limit::held), "{:?}", measured.notes);
    let rows = measured.samples.rows();
    assert_eq!(rows.len(), 3 * (2 + 2 + 2), "metrics, and two points of each policy");
    assert_eq!(rows[0].summary.n, 2, "a sample for each shard");
    assert_eq!(measured.curves.len(), 2);
}

#[test]
fn an_interrupted_run_goes_on_where_it_stopped() {
    let (plan, store) = (small(), tempfile::tempdir().unwrap());
    let kept = || Kept::below(store.path(), &plan, SOURCE).unwrap();
    let stop = |fresh| fresh >= 250;
    assert!(shards::run(&plan, kept(), 2, Arranged::is_accepted, stop).unwrap().is_none());
    let finished = kept().load().unwrap().len();
    assert!((3..8).contains(&finished), "{finished}");
    // The last line is cut off, as by an interrupt while it was written.
    let file = walkdir::WalkDir::new(store.path()).into_iter().filter_map(Result::ok);
    let file = file.map(|entry| entry.into_path()).find(|path| path.is_file()).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() - 10]).unwrap();
    let other = Kept::below(store.path(), &plan, "another state").unwrap();
    assert!(other.load().unwrap().is_empty(), "what another state has finished does not count");
    let done = shards::run(&plan, kept(), 2, Arranged::is_accepted, |_| false).unwrap().unwrap();
    assert!(done.fresh <= plan.sets() - 200, "{} were run anew", done.fresh);
    assert_eq!(done.tallies, run(&plan, 2));
    assert!(!file.exists(), "a finished run leaves nothing");
}

#[test]
fn an_unsafe_analysis_fails_the_run() {
    let plan = small();
    let store = tempfile::tempdir().unwrap();
    let kept = Kept::below(store.path(), &plan, SOURCE).unwrap();
    let done = shards::run(&plan, kept, 2, |_| true, |_| false).unwrap().unwrap();
    let measured = report(&done.tallies, "tree");
    assert!(!measured.limits[0].held());
    let note = &measured.notes[0];
    assert!(note.starts_with("COUNTER-EXAMPLE: policy=windows cpus=1 tasks=6"), "{note}");
    assert!(note.contains("is due at") && note.contains("t0 C="), "{note}");
}

#[test]
fn what_cannot_be_run_is_refused() {
    let refused = |texts: &[&str]| Plan::of(&asked(texts)).unwrap_err().to_string();
    assert!(refused(&["shortest=200ms"]).contains("exceeds the longest"));
    assert!(refused(&["cpus=1", "policy=global-edf"]).contains("--set cpus=4"));
}
