//! Claims about what lockings cost uncontended (S1-E01).

use super::{BASE, ENTRY, METRIC, TRANSACTIONS, case};
use crate::experiment::claim::Ours::{Each, Same};
use crate::experiment::claim::{Setting, Spec, claim, fact, median};
use results::Bound::{Above, AtLeast, AtMost, Within};
use results::{Origin, Report};

/// The kernel that is looked at.
pub const KERNEL: &str = "fastpath";

const SETTING: Setting = &[
    ("processor", "Xeon E5-2683 v3, 2.0 GHz", Each(["", "simulated", "the host's"])),
    ("kernel", "seL4, one CPU busy", Same("fastpath, one CPU")),
    (
        "path",
        "one-way message, trap and page-table load included",
        Each([
            "",
            "one-way message of one word, steps as modelled",
            "one-way message of one word, a call in place of the trap",
        ]),
    ),
    ("unit", "cycles", Each(["", "modelled instructions", "ticks of the host's counter"])),
];

/// Where barriers are dear.
const ARM: Setting = &[
    (
        "processor",
        "Cortex-A9 of an i.MX6Q, 1 GHz",
        Each([
            "",
            "simulated, accesses mapped as for ARMv7",
            "the host's, which orders memory strongly",
        ]),
    ),
    ("kernel", "seL4, one CPU busy", Same("fastpath, one CPU")),
    ("path", "ping-pong on one CPU", Same("ping-pong on one CPU")),
    (
        "barriers of a round trip",
        "6 under the big lock, 16 under fine-grained locks",
        Each(["", "counted", "none"]),
    ),
    (
        "price of a barrier",
        "6 to 19 cycles",
        Each(["", "what the paper's shares of a message would need", "none"]),
    ),
    (
        "added to a message",
        "23 % by the big lock, over 70 % by fine-grained locks",
        Each(["", "the paper's shares, of a message as modelled", "not by barriers"]),
    ),
];

/// S1-C01 in parts, and S1-C02.
pub fn claims() -> Vec<Spec> {
    vec![
        claim("S1-C01a", "A big lock costs a few per cent of a message (the paper: 3)", SETTING)
            .hidden(without_entry)
            .figure("added by the big lock", "ticks", |r| added(r, "big"))
            .lies(Above(0.0), "the ledger: none < big lock")
            .figure("that, of a message with its way into the kernel", "%", |r| {
                let whole = median(r, KERNEL, METRIC, &case(BASE))? + entry(r)?;
                Some(added(r, "big")? / whole * 100.0)
            })
            .lies(AtMost(10.0), "the ledger: below 10 % (the paper: 3 %)"),
        claim("S1-C01b", "Fine-grained locks cost several times as much as the big lock", SETTING)
            .figure("added by fine-grained locks, over that by the big lock", "", |r| {
                over_big(r, "fine")
            })
            .lies(AtLeast(2.0), "choice: several is two and more (the paper: 20 % against 3 %)")
            .remark(in_ticks),
        claim(
            "S1-C01c",
            "Transactions cost several times as much as the big lock, and no more than \
             fine-grained locks",
            SETTING,
        )
        .hidden(without_transactions)
        .figure("added by transactions, over that by the big lock", "", |r| over_big(r, "elided"))
        .lies(AtLeast(2.0), "choice: several is two and more (the paper: 17 % against 3 %)")
        .figure("added by transactions, over that by fine-grained locks", "", |r| {
            Some(added(r, "elided")? / added(r, "fine")?)
        })
        .lies(AtMost(1.0), "the ledger: transactions <= fine-grained locks")
        .remark(in_ticks),
        claim(
            "S1-C02",
            "Where barriers are dear they explain the gap between big lock and \
             fine-grained locks",
            ARM,
        )
        .hidden(without_barriers)
        .figure("barriers under fine-grained locks, over those under the big lock", "", |r| {
            Some(barriers(r, "fine")? / barriers(r, "big")?)
        })
        .lies(Within(2.0, 4.0), "the paper: 16 over 6 is 2.7, 70 % over 23 % is 3")
        .figure("price of one if they alone were the big lock's 23 %", "cycles", |r| {
            price(r, "big", 23.0)
        })
        .lies(Within(6.0, 19.0), "the paper: a barrier costs 6 to 19")
        .figure(
            "least price of one if they alone were fine-grained locks' over 70 %",
            "cycles",
            |r| price(r, "fine", 70.0),
        )
        .lies(AtMost(19.0), "the paper: a barrier costs 6 to 19")
        .remark(|r| {
            let [big, fine] = ["big", "fine"].map(|locking| barriers(r, locking));
            Some(format!("barriers of a round trip: big {}, fine {}", big?, fine?))
        }),
    ]
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
    fact(report, &super::barriers(locking))
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
