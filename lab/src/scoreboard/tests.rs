use super::*;
use crate::experiment::Experiment;
use results::Claim;

fn report(machine: &str, verdicts: &[(&str, Verdict)]) -> Report {
    let mut report = crate::experiment::testing::report(machine, &[]);
    report.claims = verdicts
        .iter()
        .map(|(id, verdict)| Claim {
            id: id.to_string(),
            statement: "made up".into(),
            verdict: *verdict,
            evidence: "because".into(),
            judged: Vec::new(),
        })
        .collect();
    report
}

fn line<'a>(board: &'a [Line], id: &str) -> &'a Line {
    board.iter().find(|line| line.claim.id == id).expect("the ledger has it")
}

#[test]
fn the_ledger_is_whole() {
    let ledger = ledger();
    assert_eq!(ledger.len(), 81);
    let count =
        |document: &str| ledger.iter().filter(|claim| claim.id.starts_with(document)).count();
    assert_eq!(
        (count("S0-"), count("S1-"), count("S2"), count("S3-"), count("S4-")),
        (15, 15, 38, 5, 8)
    );
    for claim in ledger {
        assert!(claim.statement.ends_with('.'), "{}", claim.id);
        assert!(claim.statement.len() <= 90, "{} does not fit a line", claim.id);
        let document = claim.id.split('-').next();
        assert_eq!(claim.from.split('-').next(), document, "{}", claim.id);
    }
}

#[test]
fn every_claim_of_an_experiment_and_of_the_record_is_in_the_ledger() {
    let ledger = ledger();
    let known = |id: &str| ledger.iter().any(|claim| claim.id == claim_of(id));
    for experiment in EXPERIMENTS {
        for claim in experiment.decides() {
            assert!(known(claim), "{claim} of {}", experiment.name);
        }
    }
    let recorded = Recorded::load().expect("it is well-formed");
    for machine in MEASURED {
        let mut ids = recorded.ids(machine.name()).peekable();
        assert!(ids.peek().is_some(), "nothing is recorded of {}", machine.name());
        assert!(ids.all(known), "the record of {} names a claim that is none", machine.name());
    }
}

#[test]
fn verdicts_are_recorded_of_machines_that_their_experiments_list() {
    let recorded = Recorded::load().expect("it is well-formed");
    let decides = |experiment: &Experiment, id: &str| {
        (experiment.claims)().iter().any(|claim| claim.id == id)
    };
    for machine in MEASURED.map(|machine| machine.name()) {
        for id in recorded.ids(machine) {
            let mut deciding = EXPERIMENTS.into_iter().filter(|e| decides(e, id));
            assert!(deciding.any(|e| e.runs_on(machine)), "{id} on {machine}");
        }
    }
}

#[test]
fn what_a_machine_cannot_have_measured_is_not_recorded() {
    let mut recorded = Recorded::default();
    let mut made_up = report("qemu-x86_64", &[("S1-C01a", Verdict::Reproduced)]);
    made_up.experiment = "lock-cost".to_string();
    recorded.update(&made_up);
    assert_eq!(recorded, Recorded::default());
    made_up.machine = "native".to_string();
    recorded.update(&made_up);
    assert_eq!(recorded.verdict("native", "S1-C01a"), Some(Verdict::Reproduced));
}

#[test]
fn what_differs_from_the_record_stands_out() {
    let mut recorded = Recorded::default();
    recorded.record("twin", "S0-C05a", Verdict::Reproduced);
    recorded.record("twin", "S0-C05b", Verdict::Reproduced);
    let reports =
        [report("twin", &[("S0-C05a", Verdict::Reproduced), ("S0-C05b", Verdict::Contradicted)])];
    let judged = board(&reports, &recorded);
    let parts: Vec<bool> = line(&judged, "S0-C05").on("twin").map(Standing::differs).collect();
    assert_eq!(parts, [false, true]);
    assert!(line(&judged, "S4-C08").claim.machines.is_empty());
    // A claim that is new to the record differs too, and one without a result does not.
    let judged = board(&[report("twin", &[("S0-C01", Verdict::Reproduced)])], &recorded);
    assert!(line(&judged, "S0-C01").on("twin").all(Standing::differs));
    assert!(!line(&judged, "S0-C05").on("twin").any(Standing::differs));
    assert_eq!(line(&judged, "S0-C05").verdicts("twin"), [Verdict::Reproduced; 2]);
}

#[test]
fn a_claim_is_what_its_parts_are() {
    use Verdict::{Contradicted, NotObservable, Reproduced};
    assert_eq!(combined(&[]), None);
    assert_eq!(combined(&[NotObservable; 2]), Some(NotObservable));
    assert_eq!(combined(&[NotObservable, Reproduced]), Some(Reproduced));
    assert_eq!(combined(&[Reproduced, Contradicted, NotObservable]), Some(Contradicted));
    let mut recorded = Recorded::default();
    recorded.record("qemu-x86_64", "S0-C07b", Reproduced);
    let reports = [report("twin", &[("S0-C07a", NotObservable), ("S0-C07b", Contradicted)])];
    let judged = board(&reports, &recorded);
    let line = line(&judged, "S0-C07");
    let ids: Vec<&str> = line.parts.iter().map(|part| part.id.as_str()).collect();
    assert_eq!(ids, ["S0-C07a", "S0-C07b"]);
    let whole: Vec<_> = line.claim.machines.iter().map(|s| (&*s.machine, s.verdict())).collect();
    assert_eq!(whole, [("qemu-x86_64", Some(Reproduced)), ("twin", Some(Contradicted))]);
    // Of two recorded parts one was measured: the whole is not found.
    recorded.record("twin", "S0-C04a", Contradicted);
    recorded.record("twin", "S0-C04b", Reproduced);
    let judged = board(&[report("twin", &[("S0-C04b", Reproduced)])], &recorded);
    let whole = &self::line(&judged, "S0-C04").claim.machines[0];
    assert_eq!((whole.found, whole.verdict()), (None, Some(Contradicted)));
}

#[test]
fn the_later_report_counts() {
    let reports = [Verdict::Contradicted, Verdict::Reproduced]
        .map(|verdict| report("twin", &[("S0-C01", verdict)]));
    let judged = board(&reports, &Recorded::default());
    assert_eq!(line(&judged, "S0-C01").verdicts("twin"), [Verdict::Reproduced]);
    // One that did not judge the claim does not.
    let reports = [Verdict::Contradicted, Verdict::NotJudged]
        .map(|verdict| report("twin", &[("S0-C01", verdict)]));
    let judged = board(&reports, &Recorded::default());
    assert_eq!(line(&judged, "S0-C01").verdicts("twin"), [Verdict::Contradicted]);
}

#[test]
fn recording_keeps_what_was_not_measured() {
    let mut recorded = Recorded::default();
    recorded.record("qemu-x86_64", "S0-C01", Verdict::Reproduced);
    recorded.record("twin", "S0-C07a", Verdict::Reproduced);
    recorded.record("twin", "S0-C07x", Verdict::Reproduced);
    let mut measured = report("twin", &[("S0-C07a", Verdict::Contradicted)]);
    measured.experiment = "ipc-queueing".to_string();
    recorded.update(&measured);
    assert_eq!(recorded.verdict("qemu-x86_64", "S0-C01"), Some(Verdict::Reproduced));
    assert_eq!(recorded.verdict("twin", "S0-C07a"), Some(Verdict::Contradicted));
    // A part that a claim no longer has is forgotten.
    assert_eq!(recorded.verdict("twin", "S0-C07x"), None);
    // What a run did not judge stays as it is recorded.
    recorded.update(&report("twin", &[("S0-C07a", Verdict::NotJudged)]));
    assert_eq!(recorded.verdict("twin", "S0-C07a"), Some(Verdict::Contradicted));
}

#[test]
fn the_record_reads_what_it_writes() {
    let mut recorded = Recorded::default();
    recorded.record("twin", "S0-C01", Verdict::NotObservable);
    recorded.record("qemu-x86_64", "S0-C07a", Verdict::Contradicted);
    assert_eq!(Recorded::parse(&recorded.spell()).expect("it is well-formed"), recorded);
}

#[test]
fn verdicts_are_compared_both_ways() {
    use Verdict::{Contradicted, NotObservable, Reproduced};
    let mut recorded = Recorded::default();
    recorded.record("twin", "S1-C01a", Reproduced);
    recorded.record("twin", "S1-C02", Contradicted);
    recorded.record("twin", "S1-C03", Reproduced);
    let of = |machine: &str, verdicts: &[(&str, Verdict)]| {
        let mut report = report(machine, verdicts);
        report.experiment = "lock-cost".to_string();
        report
    };
    let same = [("S1-C01a", Reproduced), ("S1-C02", Contradicted)];
    assert_eq!(recorded.differences(&of("twin", &same)), [""; 0]);
    let other = [("S1-C01a", Contradicted), ("S1-C01b", Reproduced)];
    assert_eq!(
        recorded.differences(&of("twin", &other)),
        [
            "S1-C01a is now contradicted, recorded is reproduced: because",
            "S1-C01b is now reproduced, recorded is nothing: because",
            "S1-C02 is recorded, and was not judged",
        ]
    );
    // What another host cannot see is no difference; what it sees otherwise is.
    recorded.record("native", "S1-C01a", NotObservable);
    recorded.record("native", "S1-C01b", Reproduced);
    assert!(recorded.decides("native", "lock-cost"));
    assert!(!recorded.decides("native", "lock-scaling"));
    for (found, differences) in [(NotObservable, 0), (Reproduced, 0), (Contradicted, 1)] {
        let mut host = of("native", &[("S1-C01a", Reproduced), ("S1-C01b", found)]);
        host.origin = results::Origin::HARDWARE;
        assert_eq!(recorded.differences(&host).len(), differences, "{found:?}");
    }
}
