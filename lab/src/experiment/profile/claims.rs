//! Claims about profiles (S0-E11, S0-E12).

use super::{BY_LINE, BY_SYMBOL, CASES, COMBINED, KERNEL, MESSAGE, MIX, PING_PONG, SAMPLES};
use crate::experiment::claim::Ours::Each;
use crate::experiment::claim::{Setting, Spec, claim, cold, fact, kernels, median};
use manifest::TREE;
use results::Bound::{Above, AtLeast, AtMost, Below, Within};
use results::Report;

/// The kernels of the paper's table, in its order.
pub const ORDER: [&str; 6] =
    ["fastpath", "slowpath", "direct-lazy", "strict-lazy", "direct-eager", "strict-eager"];
/// The kernel whose message the paper prices in a load.
pub const PRICED: &str = "slowpath";
/// A lazy kernel and the eager one like it.
const PAIRS: [[&str; 2]; 2] = [["direct-lazy", "direct-eager"], ["strict-lazy", "strict-eager"]];
/// Standard errors from which on two figures differ.
const ERRORS: f64 = 2.0;
/// Standard errors that a mean over all kernels may be off: with two, chance alone would decide now
/// and then.
const ERRORS_OVERALL: f64 = 3.0;

const SETTING: Setting = &[
    (
        "machine",
        "XScale PXA255, 400 MHz",
        Each(["emulated: an instruction is a nanosecond", "", "the host's"]),
    ),
    (
        "load",
        "Re-aim's udpserver on Linux on L4: a message in 9,311 cycles",
        Each([
            "udpserver: 5 clients, a server, a device's server",
            "",
            "a server and 5 clients; 30 % of 9,311 ticks copy 1 KiB at a time within 1 MiB",
        ]),
    ),
    (
        "samples",
        "one in each block of 25 us, or of 1600 us, in the kernel too",
        Each([
            "one in each block of 25 us, or of 1600 us, in the kernel too",
            "",
            "none: each message is timed, by the mean of 100",
        ]),
    ),
    (
        "memory",
        "caches of 32 KiB, a miss 108 cycles",
        Each(["costs nothing", "", "the host's caches"]),
    ),
];

/// All claims.
pub fn claims() -> Vec<Spec> {
    vec![
        claim(
            "S0-C13",
            "Sampling at 25 us and at 1600 us gives the same profile within its noise",
            SETTING,
        )
        .hidden(|r| counted(r).or_else(|| too_few(r)))
        .figure("share furthest apart, mean over kernels, in standard errors", "", |r| {
            shares_apart(r, |apart, error, _| apart.abs() / error)
        })
        .lies(AtMost(ERRORS_OVERALL), "choice: three errors of a mean"),
        claim("S0-C14", "A message in a macro load costs about twice what ping-pong says", SETTING)
            .hidden(cold)
            .figure("a message of slowpath in the load over one in ping-pong", "", |r| {
                let of = |case| median(r, PRICED, MESSAGE, case);
                Some(of(MIX)? / of(PING_PONG)?)
            })
            .lies(Within(1.3, 3.0), "the ledger: 1.3 to 3 (the paper: 561 cycles against 294)"),
        claim(
            "S0-C15a",
            "Messages and scheduler together order the kernels as ping-pong does, up to \
             pairs that the samples cannot tell apart",
            SETTING,
        )
        .hidden(counted)
        .figure("neighbours the other way round, beyond noise", "", |r| Some(neighbours(r)?.0))
        .lies(AtMost(0.0), "the ledger's order")
        .figure("neighbours in this order, beyond noise", "", |r| Some(neighbours(r)?.1))
        .lies(AtLeast(3.0), "choice: most of five")
        .remark(combined),
        split(
            claim(
                "S0-C15b",
                "Eager kernels spend less in the scheduler and more in messages, by symbols as in \
                 the thesis",
                SETTING,
            ),
            BY_SYMBOL,
        ),
        split(
            claim("S0-C15c", "The same by the source line of each instruction", SETTING),
            BY_LINE,
        )
        .remark(|r| {
            let more = eager(r, BY_LINE[1], f64::max)?;
            let why = "queue operations drawn into the message path count for the scheduler \
                       here, since it is their source that decides";
            (more > 0.0).then(|| why.to_string())
        }),
    ]
}

/// What eager kernels shift, by one way to tell messages and scheduler apart.
fn split(claim: Spec, [messages, scheduler]: [&'static str; 2]) -> Spec {
    claim
        .hidden(counted)
        .figure("messages, from lazy to eager in standard errors, pair with least", "", move |r| {
            eager(r, messages, f64::min)
        })
        .lies(Above(ERRORS), "the ledger: more in messages")
        .figure("scheduler, from lazy to eager in standard errors, pair with most", "", move |r| {
            eager(r, scheduler, f64::max)
        })
        .lies(Below(-ERRORS), "the ledger: less in the scheduler")
}

/// Where no samples are taken, claims about profiles have none.
fn counted(report: &Report) -> Option<String> {
    (report.machine == "native").then(|| "no samples are taken on this machine".to_string())
}

/// Where noise would hide that a share is off by a third, nothing is known of shares.
fn too_few(report: &Report) -> Option<String> {
    let noise =
        shares_apart(report, |_, error, share| ERRORS_OVERALL * error / share.max(1.0) * 100.0)?;
    let why = format!("noise of {noise:.0} % of a share hides what the claim is about");
    (noise > 33.0).then_some(why)
}

/// A share, and its standard error, by sampling period.
fn share(report: &Report, kernel: &str, metric: &str, case: &str) -> Option<(f64, f64)> {
    let share = median(report, kernel, metric, case)?;
    let name = format!("{kernel} {case}: {SAMPLES}");
    let samples = fact(report, &name)?;
    let part = share / 1e6;
    Some((share, (part * (1.0 - part) / samples.max(1.0)).sqrt() * 1e6))
}

/// The kernels of a report that papers know the like of: not the one with a scheduling tree.
fn compared(report: &Report) -> impl Iterator<Item = &str> {
    kernels(report).into_iter().filter(|kernel| *kernel != TREE)
}

/// The greatest of a figure over all shares: from by how much both periods are apart in the mean
/// over all kernels, where noise is least, its standard error, and the share itself.
fn shares_apart(report: &Report, figure: fn(f64, f64, f64) -> f64) -> Option<f64> {
    compared(report).next()?;
    let mut greatest = 0.0_f64;
    for metric in [BY_LINE[0], COMBINED, KERNEL] {
        let (mut apart, mut variance, mut whole) = (0.0, 0.0, 0.0);
        for kernel in compared(report) {
            let [fine, coarse] = CASES.map(|case| share(report, kernel, metric, case));
            let ((fine, fine_error), (coarse, coarse_error)) = (fine?, coarse?);
            apart += fine - coarse;
            whole += fine;
            variance += fine_error.powi(2) + coarse_error.powi(2);
        }
        greatest = greatest.max(figure(apart, variance.sqrt(), whole));
    }
    Some(greatest)
}

/// Neighbours of the paper's order whose shares are the other way round, and those whose shares are
/// in this order, beyond noise.
fn neighbours(report: &Report) -> Option<(f64, f64)> {
    let (mut wrong, mut right) = (0.0, 0.0);
    for two in ORDER.windows(2) {
        let [(a, a_error), (b, b_error)] = shares(report, [two[0], two[1]], COMBINED)?;
        let noise = ERRORS * a_error.hypot(b_error);
        wrong += f64::from(u8::from(b < a - noise));
        right += f64::from(u8::from(b >= a + noise));
    }
    Some((wrong, right))
}

fn shares(report: &Report, kernels: [&str; 2], metric: &str) -> Option<[(f64, f64); 2]> {
    let [a, b] = kernels.map(|kernel| share(report, kernel, metric, CASES[0]));
    Some([a?, b?])
}

/// The combined shares, in words.
fn combined(report: &Report) -> Option<String> {
    let spell = |kernel: &&str| {
        let (share, error) = share(report, kernel, COMBINED, CASES[0])?;
        Some(format!("{kernel} {:.2} +- {:.2} %", share / 1e4, error / 1e4))
    };
    Some(ORDER.iter().map(spell).collect::<Option<Vec<_>>>()?.join(", "))
}

/// What a share changes from lazy to eager kernels, in standard errors: of one of both pairs.
fn eager(report: &Report, metric: &str, choose: fn(f64, f64) -> f64) -> Option<f64> {
    let change = |pair| {
        let [(lazy, lazy_error), (eager, eager_error)] = shares(report, pair, metric)?;
        // No samples of either are no change.
        Some((eager - lazy) / lazy_error.hypot(eager_error).max(1.0))
    };
    let [a, b] = PAIRS.map(change);
    Some(choose(a?, b?))
}
