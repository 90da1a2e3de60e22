use super::*;

fn report(machine: &str, verdicts: &[(&str, Verdict)]) -> Report {
    let mut report = crate::experiment::claims_testing::report(machine, &[]);
    report.claims = verdicts
        .iter()
        .map(|(id, verdict)| Claim {
            id: id.to_string(),
            statement: "made up".into(),
            verdict: *verdict,
            evidence: "because".into(),
        })
        .collect();
    report
}

#[test]
fn the_ledger_is_whole() {
    let ledger = ledger();
    assert_eq!(ledger.len(), 81);
    let count = |document: &str| ledger.iter().filter(|(id, _)| id.starts_with(document)).count();
    assert_eq!(
        (count("S0-"), count("S1-"), count("S2"), count("S3-"), count("S4-")),
        (15, 15, 38, 5, 8)
    );
    assert!(ledger.iter().all(|(_, statement)| statement.ends_with('.')));
}

#[test]
fn every_claim_of_an_experiment_is_in_the_ledger() {
    let ledger = ledger();
    for experiment in EXPERIMENTS {
        for claim in experiment.ledger.iter().filter(|entry| entry.contains("-C")) {
            assert!(ledger.iter().any(|(id, _)| id == claim), "{claim} of {}", experiment.name);
        }
    }
}

#[test]
fn what_differs_from_the_record_stands_out() {
    let reports =
        [report("twin", &[("S0-C05a", Verdict::Reproduced), ("S0-C05b", Verdict::Contradicted)])];
    let mut recorded = Recorded::default();
    recorded.record("twin", "S0-C05a", Verdict::Reproduced);
    recorded.record("twin", "S0-C05b", Verdict::Reproduced);
    let entries = entries(&found(&reports), &recorded);
    let of = |id: &str| entries.iter().find(|entry| entry.id == id).expect("it is there");
    assert!(!of("S0-C05a").differs());
    assert!(of("S0-C05b").differs());
    assert!(!of("S4-C08").differs() && of("S4-C08").machine.is_empty());
    // A claim that is new to the record differs too.
    let new = report("twin", &[("S0-C01", Verdict::Reproduced)]);
    let found = found(&[new]);
    let entries = super::entries(&found, &recorded);
    assert!(entries.iter().any(|entry| entry.id == "S0-C01" && entry.differs()));
}

#[test]
fn the_record_reads_what_it_writes() {
    let mut recorded = Recorded::default();
    recorded.record("twin", "S0-C01", Verdict::NotObservable);
    recorded.record("qemu-x86_64", "S0-C07a", Verdict::Contradicted);
    assert_eq!(Recorded::parse(&recorded.spell()).expect("it is well-formed"), recorded);
    assert!(Recorded::load().is_ok());
}
