//! Claims about what lockings cost uncontended (S1-E01).

use super::{judged, median, unobservable};
use crate::experiment::lock_cost::{BASE, METRIC, TRANSACTIONS, TRAP_AND_SWITCH, case};
use results::{Claim, Origin, Report};

/// The kernel that is looked at.
const KERNEL: &str = "fastpath";
/// Percent below which a lock costs little; the paper's figure is 3, and 17 for the next.
const LITTLE: f64 = 10.0;
/// How many times as much is several times.
const SEVERAL: f64 = 2.0;

/// S1-C01 in parts, and S1-C02.
pub fn all(report: &Report) -> Vec<Claim> {
    vec![big(report), fine(report), transactions(report), barriers()]
}

/// What a locking adds to a message.
fn added(report: &Report, locking: &str) -> Option<f64> {
    let of = |locking| median(report, KERNEL, METRIC, &case(locking));
    Some(of(locking)? - of(BASE)?)
}

/// What that is of a message with a trap and a page-table switch.
fn percent(report: &Report, added: f64) -> Option<f64> {
    Some(added / (median(report, KERNEL, METRIC, &case(BASE))? + TRAP_AND_SWITCH) * 100.0)
}

fn big(report: &Report) -> Claim {
    let found = || {
        let added = added(report, "big")?;
        let percent = percent(report, added)?;
        let evidence = format!(
            "{added} ticks more than without a lock, {percent:.1} % of a message with \
             {TRAP_AND_SWITCH} ticks for trap and page-table switch"
        );
        Some((added > 0.0 && percent <= LITTLE, evidence))
    };
    judged("S1-C01a", "A big lock costs a few per cent of a message (the paper: 3)", found())
}

fn fine(report: &Report) -> Claim {
    let found = || {
        let (big, fine) = (added(report, "big")?, added(report, "fine")?);
        Some((fine >= SEVERAL * big, format!("added ticks: big {big}, fine-grained {fine}")))
    };
    judged("S1-C01b", "Fine-grained locks cost several times as much as the big lock", found())
}

fn transactions(report: &Report) -> Claim {
    let statement = "Transactions cost several times as much as the big lock, and no more than \
                     fine-grained locks";
    let usable = report.facts.iter().find(|fact| fact.name == TRANSACTIONS);
    if usable.is_some_and(|fact| fact.value == 0) {
        let why = "this processor has no transactions: the kernel ran on the fall-back";
        return unobservable("S1-C01c", statement, why);
    }
    if report.origin == Origin::SIMULATED {
        let why = "what a transaction takes is a figure of the simulation's table, and no finding";
        return unobservable("S1-C01c", statement, why);
    }
    let found = || {
        let [big, elided, fine] = ["big", "elided", "fine"].map(|name| added(report, name));
        let (big, elided, fine) = (big?, elided?, fine?);
        let evidence =
            format!("added ticks: big {big}, transactions {elided}, fine-grained {fine}");
        Some((elided >= SEVERAL * big && elided <= fine, evidence))
    };
    judged("S1-C01c", statement, found())
}

fn barriers() -> Claim {
    let statement = "Where barriers are dear they explain the gap between big lock and \
                     fine-grained locks";
    let why = "on this kind of processor only atomic exchanges order memory, and none is a barrier \
               by itself";
    unobservable("S1-C02", statement, why)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, verdict};
    use super::*;
    use results::{Fact, Verdict};

    fn claims(ticks: &[(&str, u64)], transactions: Option<u64>) -> Vec<Claim> {
        let cases: Vec<String> = ticks.iter().map(|(locking, _)| case(locking)).collect();
        let rows: Vec<_> = ticks
            .iter()
            .zip(&cases)
            .map(|((_, value), case)| (KERNEL, METRIC, case.as_str(), *value))
            .collect();
        let mut report = report("made up", &rows);
        report.facts.extend(transactions.map(|value| Fact {
            name: TRANSACTIONS.into(),
            value,
            unit: String::new(),
            note: String::new(),
        }));
        all(&report)
    }

    #[test]
    fn the_papers_costs_reproduce() {
        let claims =
            claims(&[("none", 100), ("big", 115), ("elided", 185), ("fine", 200)], Some(1));
        for id in ["S1-C01a", "S1-C01b", "S1-C01c"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}: {claims:?}");
        }
        assert_eq!(verdict(&claims, "S1-C02"), Verdict::NotObservable);
    }

    #[test]
    fn other_costs_contradict() {
        let of = |big, elided, fine| {
            claims(&[("none", 100), ("big", big), ("elided", elided), ("fine", fine)], Some(1))
        };
        assert_eq!(verdict(&of(155, 185, 200), "S1-C01a"), Verdict::Contradicted);
        assert_eq!(verdict(&of(100, 185, 200), "S1-C01a"), Verdict::Contradicted);
        assert_eq!(verdict(&of(115, 185, 120), "S1-C01b"), Verdict::Contradicted);
        assert_eq!(verdict(&of(115, 201, 200), "S1-C01c"), Verdict::Contradicted);
        assert_eq!(verdict(&of(115, 120, 200), "S1-C01c"), Verdict::Contradicted);
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        let claims = claims(&[("none", 100), ("big", 115), ("elided", 116)], Some(0));
        assert_eq!(verdict(&claims, "S1-C01a"), Verdict::Reproduced);
        assert_eq!(verdict(&claims, "S1-C01b"), Verdict::NotObservable);
        assert_eq!(verdict(&claims, "S1-C01c"), Verdict::NotObservable);
    }
}
