//! Claims about one message between two threads (S0-E04).

use super::{judged, median, percent_above, unobservable};
use results::{Claim, PAIR, Report};

const CASE: &str = "across words=0";

/// What the interface may cost, in percent: the ledger says about 1, the build allows 2.
const INTERFACE: f64 = 2.0;

/// S0-C04's groups, cheapest first, and whether costs within a group are about equal. The order of
/// strict-lazy and direct-eager is no part of the claim.
const ORDER: [(&[&str], bool); 4] = [
    (&["fastpath"], true),
    (&["slowpath", "direct-lazy", "ipc-scan", "ipc-ordered", "ipc-heap"], true),
    (&["strict-lazy", "direct-eager"], false),
    (&["strict-eager"], true),
];
const NAMES: &str = "fastpath < slowpath ~ direct-lazy ~ ipc-* < strict-lazy and direct-eager < \
                     strict-eager";
/// What counts as about equal, in percent.
const EQUAL: f64 = 3.0;
/// What counts as roughly a quarter of a message, in percent.
const QUARTER: std::ops::RangeInclusive<f64> = 15.0..=35.0;
/// By how much both together may fall short of their sum, in percent of a message.
const SHORT: f64 = 5.0;

/// Why strict order is cheap between two threads.
const BOUND: &str = "; an upper bound on the highest ready priority (S0-24) tells strict-lazy \
                     without a look-up that neither of two threads of one priority is \
                     outranked; the thesis describes such a bound too, but not when its \
                     kernel still searches";

/// Both claims.
pub fn all(report: &Report) -> Vec<Claim> {
    vec![interface(report), order(report), worth(report)]
}

fn pair(report: &Report, kernel: &str) -> Option<f64> {
    median(report, kernel, PAIR, CASE)
}

fn interface(report: &Report) -> Claim {
    let id = "S0-C01";
    let statement = "The scheduling interface costs about 1 %: direct-lazy against slowpath in \
                     ping-pong";
    if report.machine == "twin" {
        return unobservable(id, statement, "calls cost nothing in the model, only steps do");
    }
    let found = || {
        let (direct, slow) = (pair(report, "direct-lazy")?, pair(report, "slowpath")?);
        let more = percent_above(direct, slow);
        let evidence = format!("direct-lazy {direct}, slowpath {slow}: {more:+.1} %");
        Some((more <= INTERFACE, evidence))
    };
    judged(id, statement, found())
}

fn order(report: &Report) -> Claim {
    let found = || {
        let mut groups = Vec::new();
        let mut level = true;
        for (group, alike) in ORDER {
            let pairs: Option<Vec<f64>> = group.iter().map(|k| pair(report, k)).collect();
            let pairs = pairs?;
            let low = pairs.iter().copied().fold(f64::INFINITY, f64::min);
            let high = pairs.iter().copied().fold(0.0, f64::max);
            level &= !alike || percent_above(high, low) <= EQUAL;
            groups.push((low, high));
        }
        let rising = groups.windows(2).all(|two| two[0].1 < two[1].0);
        let range = |(low, high): &(f64, f64)| {
            if low == high { format!("{low}") } else { format!("{low}..{high}") }
        };
        let spelled: Vec<String> = groups.iter().map(range).collect();
        let operator = if rising { " < " } else { ", " };
        let mut evidence = format!("{NAMES}: {} a pair", spelled.join(operator));
        if groups[2].0 <= groups[1].1 {
            evidence += BOUND;
        }
        Some((rising && level, evidence))
    };
    let statement = &format!("Order of cost: {NAMES}");
    judged("S0-C04a", statement, found())
}

fn worth(report: &Report) -> Claim {
    let found = || {
        let base = pair(report, "direct-lazy")?;
        let more = |kernel| Some(percent_above(pair(report, kernel)?, base));
        let (strict, eager) = (more("strict-lazy")?, more("direct-eager")?);
        let both = more("strict-eager")?;
        let single = QUARTER.contains(&strict) && QUARTER.contains(&eager);
        let held = single && both >= strict + eager - SHORT;
        let mut evidence = format!(
            "without direct switching {strict:+.0} %, without lazy queueing {eager:+.0} %, \
             without both {both:+.0} %"
        );
        if strict < *QUARTER.start() {
            evidence += BOUND;
        }
        Some((held, evidence))
    };
    let statement = "Direct switching and lazy queueing are each worth roughly a quarter of a \
                     message, and together at least their sum";
    judged("S0-C04b", statement, found())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, verdict};
    use super::*;
    use results::Verdict;

    /// Half of each pair.
    fn made_up(machine: &str, change: &[(&str, u64)]) -> Report {
        let paper = [
            ("fastpath", 173),
            ("slowpath", 294),
            ("direct-lazy", 297),
            ("strict-lazy", 365),
            ("direct-eager", 374),
            ("strict-eager", 452),
            ("ipc-scan", 296),
            ("ipc-ordered", 301),
            ("ipc-heap", 297),
        ];
        let value = |(kernel, value): (&'static str, u64)| {
            change.iter().find(|(k, _)| *k == kernel).map_or((kernel, value), |(_, v)| (kernel, *v))
        };
        let rows: Vec<_> = paper
            .into_iter()
            .map(value)
            .flat_map(|(k, v)| [(k, "call", CASE, v), (k, "reply-wait", CASE, v)])
            .collect();
        report(machine, &rows)
    }

    #[test]
    fn the_papers_own_figures_reproduce_its_claims() {
        let claims = all(&made_up("qemu-x86_64", &[]));
        for id in ["S0-C01", "S0-C04a", "S0-C04b"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}");
        }
    }

    #[test]
    fn other_figures_contradict_them() {
        let claims = |change: &[(&str, u64)]| all(&made_up("qemu-x86_64", change));
        let dear = claims(&[("direct-lazy", 310)]);
        assert_eq!(verdict(&dear, "S0-C01"), Verdict::Contradicted);
        assert_eq!(verdict(&dear, "S0-C04a"), Verdict::Contradicted);
        let uneven = claims(&[("ipc-scan", 310)]);
        assert_eq!(verdict(&uneven, "S0-C04a"), Verdict::Contradicted);
        let level = claims(&[("strict-lazy", 297)]);
        assert_eq!(verdict(&level, "S0-C04a"), Verdict::Contradicted);
        let cheap = claims(&[("strict-lazy", 305)]);
        assert_eq!(verdict(&cheap, "S0-C04b"), Verdict::Contradicted);
        let overlapping = claims(&[("strict-eager", 420)]);
        assert_eq!(verdict(&overlapping, "S0-C04b"), Verdict::Contradicted);
    }

    #[test]
    fn the_order_of_strict_lazy_and_direct_eager_does_not_matter() {
        let swapped = all(&made_up("qemu-x86_64", &[("strict-lazy", 374), ("direct-eager", 365)]));
        assert_eq!(verdict(&swapped, "S0-C04a"), Verdict::Reproduced);
    }

    #[test]
    fn what_cannot_be_seen_is_not_judged() {
        assert_eq!(verdict(&all(&made_up("twin", &[])), "S0-C01"), Verdict::NotObservable);
        for id in ["S0-C01", "S0-C04a", "S0-C04b"] {
            assert_eq!(verdict(&all(&report("x", &[])), id), Verdict::NotObservable, "{id}");
        }
    }
}
