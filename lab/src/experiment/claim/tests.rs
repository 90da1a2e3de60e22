use super::*;
use crate::experiment::testing::report;
use results::Bound::{Above, AtMost};

fn judge(message: u64, other: u64) -> Claim {
    let rows = [("fastpath", "message", "", message), ("fastpath", "other", "", other)];
    spec().judge(&report("twin", &rows))
}

fn spec() -> Spec {
    claim("S9-C01", "A message takes its time", &[])
        .hidden(|r| (r.unit != "instructions").then(|| "no instructions".to_string()))
        .figure("a message", "instructions", |r| median(r, "fastpath", "message", ""))
        .lies(AtMost(100.0), "this test")
        .figure("1 / the other", "", |r| Some(1.0 / median(r, "fastpath", "other", "")?))
        .lies(Above(0.1), "this test")
        .remark(|r| (r.seed == 1).then(|| "of seed 1".to_string()))
}

#[test]
fn a_claim_holds_if_each_figure_lies_within_its_band() {
    let claim = judge(100, 4);
    assert_eq!(claim.verdict, Verdict::Reproduced);
    let evidence = "a message: 100 instructions (at most 100); 1 / the other: 0.250 (above 0.1); \
                    of seed 1";
    assert_eq!(claim.evidence, evidence);
    for (message, other, holds) in [(101, 4, [false, true]), (100, 20, [true, false])] {
        let claim = judge(message, other);
        assert_eq!(claim.verdict, Verdict::Contradicted);
        assert_eq!([claim.judged[0].holds(), claim.judged[1].holds()], holds);
    }
}

#[test]
fn what_has_no_figure_is_not_judged() {
    let missing = judge(100, 0);
    assert_eq!(missing.verdict, Verdict::NotJudged);
    assert_eq!(missing.evidence, "the run does not tell: 1 / the other");
    let mut report = report("twin", &[("fastpath", "message", "", 1)]);
    assert_eq!(spec().judge(&report).verdict, Verdict::NotJudged);
    report.unit = "ticks".into();
    let hidden = spec().judge(&report);
    assert_eq!((hidden.verdict, &*hidden.evidence), (Verdict::NotObservable, "no instructions"));
    let bare = claim("S9-C01", "A message takes its time", &[]).judge(&report);
    assert_eq!(bare.evidence, "no band is stated");
}

#[test]
fn a_line_fits_what_is_straight() {
    let points = |y: fn(f64) -> f64| [50.0, 100.0, 150.0, 250.0].map(|x| (x, y(x)));
    let straight = Line::through(&points(|x| 500.0 + 50.0 * x));
    assert!((straight.slope - 50.0).abs() < 1e-6 && straight.r2 > 0.9999);
    let flat = Line::through(&points(|_| 700.0));
    assert!(flat.slope == 0.0 && flat.r2 == 0.0);
    assert!(Line::through(&points(|x| (x - 150.0).powi(2))).r2 < 0.5);
}

#[test]
fn every_machine_has_a_value_of_every_aspect() {
    for experiment in EXPERIMENTS {
        for spec in (experiment.claims)() {
            assert!(!spec.setting.is_empty() && !spec.bands.is_empty(), "{}", spec.id);
            let claim = crate::scoreboard::claim_of(spec.id);
            assert!(experiment.ledger.contains(&claim), "{} is not of its ledger", spec.id);
            for machine in experiment.platforms() {
                for (aspect, paper, ours) in spec.setting {
                    let both = [paper.to_string(), ours.on(machine)];
                    assert!(both.iter().all(|v| !v.is_empty()), "{} {aspect}", spec.id);
                }
            }
        }
    }
}

#[test]
fn without_rows_nothing_is_decided() {
    for experiment in EXPERIMENTS {
        for machine in experiment.platforms() {
            for claim in experiment.judge(&report(machine, &[])) {
                let verdict = claim.verdict;
                let open = [Verdict::NotObservable, Verdict::NotJudged].contains(&verdict);
                assert!(open, "{} on {machine}: {verdict:?}", claim.id);
            }
        }
    }
}
