use super::*;
use crate::experiment::testing::{all_hold, expect, report, verdict};
use results::{Report, Verdict};

const PARTS: [&str; 3] = ["S0-C04b", "S0-C04c", "S0-C04d"];

/// Half of each pair in each case: the paper's, but for some kernels.
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
    let mut rows = Vec::new();
    for (kernel, value) in paper {
        let value = change.iter().find(|(k, _)| *k == kernel).map_or(value, |(_, v)| *v);
        for case in ["across words=0", SERVER_ABOVE, SERVER_BELOW] {
            rows.extend(CALL_REPLY.map(|metric| (kernel, metric, case, value)));
        }
    }
    report(machine, &rows)
}

#[test]
fn the_papers_own_figures_reproduce_its_claims() {
    all_hold(&EXPERIMENT, &made_up("qemu-x86_64", &[]), &[]);
    // The order of strict-lazy and direct-eager does not matter.
    let swapped = made_up("qemu-x86_64", &[("strict-lazy", 374), ("direct-eager", 365)]);
    expect(&EXPERIMENT, &swapped, Verdict::Reproduced, &["S0-C04a"]);
}

#[test]
fn other_figures_contradict_them() {
    let contradicts = |change: &[(&str, u64)], ids: &[&str]| {
        expect(&EXPERIMENT, &made_up("qemu-x86_64", change), Verdict::Contradicted, ids);
    };
    contradicts(&[("direct-lazy", 310)], &["S0-C01", "S0-C04a"]);
    contradicts(&[("ipc-scan", 310)], &["S0-C04a"]);
    contradicts(&[("strict-lazy", 297)], &["S0-C04a"]);
    contradicts(&[("strict-lazy", 305)], &PARTS);
    contradicts(&[("direct-eager", 420), ("strict-eager", 490)], &PARTS);
    contradicts(&[("strict-eager", 420)], &PARTS);
}

#[test]
fn each_priority_is_judged_by_its_own_case() {
    let mut report = made_up("qemu-x86_64", &[]);
    for row in &mut report.rows {
        if row.kernel == "strict-lazy" && row.case == SERVER_ABOVE {
            row.summary.median = 300.into();
        }
    }
    let verdicts = PARTS.map(|id| verdict(&EXPERIMENT, &report, id));
    use Verdict::{Contradicted, Reproduced};
    assert_eq!(verdicts, [Reproduced, Contradicted, Reproduced]);
}

#[test]
fn what_calls_of_functions_cost_cannot_be_seen_in_the_model() {
    expect(&EXPERIMENT, &made_up("twin", &[]), Verdict::NotObservable, &["S0-C01"]);
}

/// A call may cost some more, for what the fast path has looked at before it gives up: not a pair.
#[test]
fn long_messages_cost_no_more_where_a_fast_path_stands_before_them() {
    let golden = include_str!("../../../../tests/golden.toml").parse::<toml::Table>().unwrap();
    let figure = |kernel: &str, metric: &str, case: &str| {
        let key = format!("{kernel} {metric} {case}");
        golden["ping-pong"][&key].as_integer().unwrap_or_else(|| panic!("no figure `{key}`"))
    };
    for (place, words) in
        ["across", "same"].iter().flat_map(|p| WORDS[2..].iter().map(move |w| (p, w)))
    {
        let case = format!("{place} words={words}");
        let pair = |kernel: &str| -> i64 {
            CALL_REPLY.iter().map(|metric| figure(kernel, metric, &case)).sum()
        };
        let (fast, slow) = (pair("fastpath"), pair("slowpath"));
        assert!(fast <= slow, "{case}: {fast} instructions, {slow} without it");
    }
}
