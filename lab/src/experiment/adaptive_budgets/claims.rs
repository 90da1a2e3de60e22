//! Claims about budgets that follow demand (S2B-C01 to S2B-C05), in the paper's case study.

use super::{
    ADAPTATION, BUDGETS, HARD_MISSED, HELD, LATE, MISSED, PEAK, REPORTING, SCHEDULING, SERVERS,
    case,
};
use crate::experiment::claim::Ours::{Each, Same};
use crate::experiment::claim::{Setting, Spec, claim, least, median, most};
use results::Bound::{Above, AtLeast, AtMost, Below};
use results::{Origin, Report};

/// A percent in millionths.
const PERCENT: f64 = 10_000.0;

const SETTING: Setting = &[
    (
        "machine",
        "a core of an i5-2540M, Linux 3.8.2, 1 ms resolution",
        Each(["emulated: an instruction is a nanosecond", "simulated: work takes its time", ""]),
    ),
    (
        "hierarchy",
        "S1 hard, P 100 B 39; S2 soft, EDF, P 10, in it S3, S4, S5, P 20, 100, 75 ms",
        Same("the same; S2 has priority, and at most 60 %: 0.1 in 10 ms are the controller's"),
    ),
    ("tasks", "media player, image processing, loops", Same("synthetic jobs by seed, 4 levels")),
    (
        "load, mean and most",
        "13.35/60, 12.36/54, 11.98/44 % of the CPU",
        Same("the same nominally; the report has what was asked for"),
    ),
    ("late jobs", "not stated what follows", Same("releases during a late job are skipped")),
    ("time", "60 s", Each(["10 s of one load", "60 s of each of 5 loads", ""])),
    ("control period, history", "not stated", Same("S2 50, others 100, 200, 150 ms; 16")),
];

/// A ratio in percent.
fn missed(report: &Report, budgets: &str, server: &str) -> Option<f64> {
    Some(median(report, manifest::TREE, MISSED, &case(budgets, server))? / PERCENT)
}

/// How many times as many jobs are late, summed over servers, with the first as with the second.
fn times(report: &Report, worse: &str, better: &str) -> Option<f64> {
    Some(missed(report, worse, "sum")? / missed(report, better, "sum")?)
}

fn lowest_of_others(report: &Report, budgets: &str) -> Option<f64> {
    least(SERVERS[1..].iter().map(|server| missed(report, budgets, server)))
}

fn share(report: &Report, metric: &str) -> Option<f64> {
    Some(median(report, manifest::TREE, metric, BUDGETS[2])? / PERCENT)
}

/// Fewer late jobs than these say more of chance than of budgets.
const ENOUGH: f64 = 100.0;

/// Why ratios say nothing, if the runs were too short.
fn too_few(report: &Report) -> Option<String> {
    let late = median(report, manifest::TREE, LATE, &format!("budgets={}", BUDGETS[0]))?;
    let why =
        format!("{late} late jobs of fixed budgets are too few: `--set time=...`, `loads=...`");
    (late < ENOUGH).then_some(why)
}

/// Why the simulation does not tell what a program takes.
fn simulated(report: &Report) -> Option<String> {
    let why = "what programs compute takes no time in the simulation, and the controller is one";
    (report.origin == Origin::SIMULATED).then(|| why.to_string())
}

/// The paper's table beside ours.
fn table(report: &Report) -> Option<String> {
    let of = |budgets: &str| {
        let ratios = SERVERS.map(|server| missed(report, budgets, server));
        let ratios = ratios.into_iter().map(|ratio| Some(format!("{:.2}", ratio?)));
        Some(format!("{budgets} {}", ratios.collect::<Option<Vec<_>>>()?.join(", ")))
    };
    let ours = BUDGETS.map(of).into_iter().collect::<Option<Vec<_>>>()?.join("; ");
    let paper = "fixed 3.36, 27.28, 2.19; adaptive 1.11, 6.49, 4.69";
    Some(format!("S3, S4, S5 in %: the paper {paper}; here {ours}"))
}

/// What the class holds of the CPU.
fn held(report: &Report) -> Option<String> {
    let mean = median(report, manifest::TREE, HELD, &format!("budgets={}", BUDGETS[2]))? / PERCENT;
    Some(format!("the class has {mean:.1} % in the mean, of 60"))
}

/// All claims.
pub fn claims() -> Vec<Spec> {
    let [fixed, filled, adaptive, kept, flat] = BUDGETS;
    vec![
        claim("S2B-C01a", "adaptive budgets miss far fewer deadlines than the means", SETTING)
            .hidden(too_few)
            .figure("summed ratio, fixed by adaptive", "times", move |r| times(r, fixed, adaptive))
            .lies(AtLeast(2.5), "S2B-C01: 32.83 by 12.29 %")
            .remark(table),
        claim("S2B-C01b", "so they do if they never fall below the means", SETTING)
            .hidden(too_few)
            .figure("summed ratio, fixed by kept", "times", move |r| times(r, fixed, kept))
            .lies(AtLeast(2.0), "the claim index"),
        claim("S2B-C01c", "they miss fewer than fixed ones that leave nothing over", SETTING)
            .hidden(too_few)
            .figure("summed ratio, filled by kept", "times", move |r| times(r, filled, kept))
            .lies(Above(1.0), "choice: the fixed budgets that an engineer would take instead"),
        claim(
            "S2B-C01d",
            "a class that follows its servers misses hardly more than a full one",
            SETTING,
        )
        .hidden(too_few)
        .figure("summed ratio, adaptive by flat", "times", move |r| times(r, adaptive, flat))
        .lies(AtMost(1.1), "choice: S2B-12 on one level and on two")
        .remark(held),
        claim("S2B-C02a", "the most important server has the lowest ratio", SETTING)
            .hidden(too_few)
            .figure("of S4 and S5, the lower one by S3", "times", move |r| {
                Some(lowest_of_others(r, adaptive)? / missed(r, adaptive, SERVERS[0])?)
            })
            .lies(Above(1.0), "S2B-C02"),
        claim("S2B-C02b", "the most important server misses about 1 %", SETTING)
            .hidden(too_few)
            .figure("S3, adaptive", "%", move |r| missed(r, adaptive, SERVERS[0]))
            .lies(AtMost(2.0), "S2B-C02: 1.11 %"),
        claim("S2B-C03", "budgets for the most that is asked for do not fit", SETTING)
            .figure("peaks together", "% of the CPU", |r| {
                let peaks = SERVERS
                    .map(|server| median(r, manifest::TREE, PEAK, &format!("server={server}")));
                Some(peaks.into_iter().sum::<Option<f64>>()? / PERCENT)
            })
            .lies(Above(61.0), "S2B-C03: 158 %, and the class has 61"),
        claim("S2B-C04", "hard tasks miss nothing", SETTING)
            .figure("late hard jobs, budgets with most", "", |r| {
                most(BUDGETS.map(|budgets| {
                    median(r, manifest::TREE, HARD_MISSED, &format!("budgets={budgets}"))
                }))
            })
            .lies(AtMost(0.0), "S2B-C04"),
        claim("S2B-C05a", "adaptation is a small part of what scheduling takes", SETTING)
            .hidden(simulated)
            .figure("adaptation by scheduling", "%", |r| {
                Some(100.0 * share(r, ADAPTATION)? / share(r, SCHEDULING)?)
            })
            .lies(Below(10.0), "S2B-C05: about 8 of 122 ms")
            .remark(|r| {
                Some(format!("tasks that look at the clock: {:.4} %", share(r, REPORTING)?))
            }),
        claim("S2B-C05b", "scheduling takes little of the CPU", SETTING)
            .hidden(simulated)
            .figure("scheduling", "%", |r| share(r, SCHEDULING))
            .lies(Below(0.2), "S2B-E03"),
    ]
}
