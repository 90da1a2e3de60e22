//! Claims about what lockings cost uncontended (S1-E01).

use super::median;
use super::spec::{self, Band, Setting, Spec, silent, visible};
use crate::experiment::lock_cost::{self, BASE, ENTRY, METRIC, TRANSACTIONS, case};
use results::{Bound, Claim, Origin, Report};

/// The kernel that is looked at.
const KERNEL: &str = "fastpath";

/// What the paper measured.
const PAPER: Setting = &[
    ("processor", "Xeon E5-2683 v3, 2.0 GHz"),
    ("kernel", "seL4, one CPU busy"),
    ("path", "one-way message, trap and page-table load included"),
    ("unit", "cycles"),
];

/// What we measure.
const OURS: &[(&str, Setting)] = &[
    (
        "native",
        &[
            ("processor", "the host's"),
            ("kernel", "fastpath, one CPU"),
            ("path", "one-way message of one word, a call in place of the trap"),
            ("unit", "ticks of the host's counter"),
        ],
    ),
    (
        "twin",
        &[
            ("processor", "simulated"),
            ("kernel", "fastpath, one CPU"),
            ("path", "one-way message of one word, steps as modelled"),
            ("unit", "modelled instructions"),
        ],
    ),
];

/// What the paper measured where barriers are dear.
const PAPER_ARM: Setting = &[
    ("processor", "Cortex-A9 of an i.MX6Q, 1 GHz"),
    ("kernel", "seL4, one CPU busy"),
    ("path", "ping-pong on one CPU"),
    ("barriers of a round trip", "6 under the big lock, 16 under fine-grained locks"),
    ("price of a barrier", "6 to 19 cycles"),
    ("added to a message", "23 % by the big lock, over 70 % by fine-grained locks"),
];

/// What we count.
const OURS_ARM: &[(&str, Setting)] = &[
    (
        "native",
        &[
            ("processor", "the host's, which orders memory strongly"),
            ("kernel", "fastpath, one CPU"),
            ("path", "ping-pong on one CPU"),
            ("barriers of a round trip", "none"),
            ("price of a barrier", "none"),
            ("added to a message", "not by barriers"),
        ],
    ),
    (
        "twin",
        &[
            ("processor", "simulated, accesses mapped as for ARMv7"),
            ("kernel", "fastpath, one CPU"),
            ("path", "ping-pong on one CPU"),
            ("barriers of a round trip", "counted"),
            ("price of a barrier", "what the paper's shares of a message would need"),
            ("added to a message", "the paper's shares, of a message as modelled"),
        ],
    ),
];

/// S1-C01 in parts, and S1-C02.
pub static CLAIMS: [Spec; 4] = [
    Spec {
        id: "S1-C01a",
        statement: "A big lock costs a few per cent of a message (the paper: 3)",
        paper: PAPER,
        ours: OURS,
        hidden: without_entry,
        bands: &[
            Band {
                quantity: "added by the big lock",
                unit: "ticks",
                bound: Bound::Above(0.0),
                from: "the ledger: none < big lock",
                figure: |report| added(report, "big"),
            },
            Band {
                quantity: "that, of a message with its way into the kernel",
                unit: "%",
                bound: Bound::AtMost(10.0),
                from: "the ledger: below 10 % (the paper: 3 %)",
                figure: |report| {
                    let whole = median(report, KERNEL, METRIC, &case(BASE))? + entry(report)?;
                    Some(added(report, "big")? / whole * 100.0)
                },
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S1-C01b",
        statement: "Fine-grained locks cost several times as much as the big lock",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[Band {
            quantity: "added by fine-grained locks, over that by the big lock",
            unit: "",
            bound: Bound::AtLeast(2.0),
            from: "choice: several is two and more (the paper: 20 % against 3 %)",
            figure: |report| over_big(report, "fine"),
        }],
        remark: in_ticks,
    },
    Spec {
        id: "S1-C01c",
        statement: "Transactions cost several times as much as the big lock, and no more than \
                    fine-grained locks",
        paper: PAPER,
        ours: OURS,
        hidden: without_transactions,
        bands: &[
            Band {
                quantity: "added by transactions, over that by the big lock",
                unit: "",
                bound: Bound::AtLeast(2.0),
                from: "choice: several is two and more (the paper: 17 % against 3 %)",
                figure: |report| over_big(report, "elided"),
            },
            Band {
                quantity: "added by transactions, over that by fine-grained locks",
                unit: "",
                bound: Bound::AtMost(1.0),
                from: "the ledger: transactions <= fine-grained locks",
                figure: |report| Some(added(report, "elided")? / added(report, "fine")?),
            },
        ],
        remark: in_ticks,
    },
    Spec {
        id: "S1-C02",
        statement: "Where barriers are dear they explain the gap between big lock and \
                    fine-grained locks",
        paper: PAPER_ARM,
        ours: OURS_ARM,
        hidden: without_barriers,
        bands: &[
            Band {
                quantity: "barriers under fine-grained locks, over those under the big lock",
                unit: "",
                bound: Bound::Within(2.0, 4.0),
                from: "the paper: 16 over 6 is 2.7, 70 % over 23 % is 3",
                figure: |report| Some(barriers(report, "fine")? / barriers(report, "big")?),
            },
            Band {
                quantity: "price of one if they alone were the big lock's 23 %",
                unit: "cycles",
                bound: Bound::Within(6.0, 19.0),
                from: "the paper: a barrier costs 6 to 19",
                figure: |report| price(report, "big", 23.0),
            },
            Band {
                quantity: "least price of one if they alone were fine-grained locks' over 70 %",
                unit: "cycles",
                bound: Bound::AtMost(19.0),
                from: "the paper: a barrier costs 6 to 19",
                figure: |report| price(report, "fine", 70.0),
            },
        ],
        remark: |report| {
            let [big, fine] = ["big", "fine"].map(|locking| barriers(report, locking));
            Some(format!("barriers of a round trip: big {}, fine {}", big?, fine?))
        },
    },
];

/// S1-C01 in parts, and S1-C02.
pub fn all(report: &Report) -> Vec<Claim> {
    spec::judge(&CLAIMS, report)
}

/// What a locking adds to a message.
fn added(report: &Report, locking: &str) -> Option<f64> {
    let of = |locking| median(report, KERNEL, METRIC, &case(locking));
    Some(of(locking)? - of(BASE)?)
}

/// How many times as much as the big lock.
fn over_big(report: &Report, locking: &str) -> Option<f64> {
    Some(added(report, locking)? / added(report, "big")?)
}

/// Memory barriers of a round trip.
fn barriers(report: &Report, locking: &str) -> Option<f64> {
    fact(report, &lock_cost::barriers(locking))
}

/// What a barrier costs if those of a locking alone add this share of a message.
fn price(report: &Report, locking: &str, percent: f64) -> Option<f64> {
    let trip = 2.0 * median(report, KERNEL, METRIC, &case(BASE))?;
    Some(trip * percent / 100.0 / barriers(report, locking)?)
}

fn without_barriers(report: &Report) -> Option<String> {
    barriers(report, "big").is_none().then(|| {
        "on this kind of processor only atomic exchanges order memory, and none is a barrier by \
         itself"
            .to_string()
    })
}

fn fact(report: &Report, name: &str) -> Option<f64> {
    report.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value as f64)
}

/// Trap, return and page-table load of a message.
fn entry(report: &Report) -> Option<f64> {
    fact(report, ENTRY)
}

fn without_entry(report: &Report) -> Option<String> {
    entry(report).is_none().then(|| {
        "the claim is a share of a whole message, and this machine has neither the trap nor the \
         page-table load that are part of one"
            .to_string()
    })
}

fn without_transactions(report: &Report) -> Option<String> {
    if fact(report, TRANSACTIONS) == Some(0.0) {
        return Some("this processor has no transactions: the kernel ran on the fall-back".into());
    }
    (report.origin == Origin::SIMULATED).then(|| {
        "what a transaction takes is a figure of the simulation's table, and no finding".into()
    })
}

/// What each locking adds.
fn in_ticks(report: &Report) -> Option<String> {
    let of = |name| Some(format!("{name} {}", added(report, name)?));
    let all: Vec<String> = ["big", "elided", "fine"].into_iter().filter_map(of).collect();
    Some(format!("added ticks: {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, verdict};
    use super::*;
    use results::{Fact, Verdict};

    /// A trap and a page-table load of 400 ticks, and whether there are transactions.
    fn claims(ticks: &[(&str, u64)], transactions: Option<u64>) -> Vec<Claim> {
        judged(ticks, transactions, Some(400))
    }

    fn judged(ticks: &[(&str, u64)], transactions: Option<u64>, entry: Option<u64>) -> Vec<Claim> {
        let cases: Vec<String> = ticks.iter().map(|(locking, _)| case(locking)).collect();
        let rows: Vec<_> = ticks
            .iter()
            .zip(&cases)
            .map(|((_, value), case)| (KERNEL, METRIC, case.as_str(), *value))
            .collect();
        let mut report = report("made up", &rows);
        for (name, value) in [(TRANSACTIONS, transactions), (ENTRY, entry)] {
            report.facts.extend(value.map(|value| Fact {
                name: name.into(),
                value,
                unit: String::new(),
                note: String::new(),
            }));
        }
        all(&report)
    }

    #[test]
    fn the_papers_costs_reproduce() {
        let claims =
            claims(&[("none", 100), ("big", 115), ("elided", 185), ("fine", 200)], Some(1));
        for id in ["S1-C01a", "S1-C01b", "S1-C01c"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}: {claims:?}");
        }
        assert_eq!(verdict(&claims, "S1-C02"), Verdict::NotObservable, "none were counted");
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
    fn a_share_of_a_message_needs_the_whole_message() {
        let ticks = [("none", 100), ("big", 115), ("elided", 185), ("fine", 200)];
        let claims = judged(&ticks, Some(1), None);
        assert_eq!(verdict(&claims, "S1-C01a"), Verdict::NotObservable);
        assert_eq!(verdict(&claims, "S1-C01b"), Verdict::Reproduced);
    }

    #[test]
    fn barriers_explain_or_not() {
        let judge = |message: u64, big: u64, fine: u64| {
            let case = case(BASE);
            let mut report = report("made up", &[(KERNEL, METRIC, case.as_str(), message)]);
            for (locking, value) in [("big", big), ("fine", fine)] {
                let (name, unit) = (lock_cost::barriers(locking), String::new());
                report.facts.push(Fact { name, value, unit, note: String::new() });
            }
            verdict(&all(&report), "S1-C02")
        };
        // At 12 cycles each 6 are 23 % of a round trip of 313, and 16 are 61 %.
        assert_eq!(judge(157, 6, 16), Verdict::Reproduced);
        assert_eq!(judge(157, 6, 6), Verdict::Contradicted, "as many");
        assert_eq!(judge(1000, 6, 16), Verdict::Contradicted, "too few for so long a message");
        assert_eq!(judge(50, 6, 16), Verdict::Contradicted, "too many");
        assert_eq!(judge(157, 6, 60), Verdict::Contradicted, "out of proportion");
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        let claims = claims(&[("none", 100), ("big", 115), ("elided", 116)], Some(0));
        assert_eq!(verdict(&claims, "S1-C01a"), Verdict::Reproduced);
        assert_eq!(verdict(&claims, "S1-C01b"), Verdict::NotObservable);
        assert_eq!(verdict(&claims, "S1-C01c"), Verdict::NotObservable);
    }
}
