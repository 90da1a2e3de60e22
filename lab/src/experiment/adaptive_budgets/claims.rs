//! Claims about budgets that follow demand (S2B-C01 to S2B-C05), in the paper's case study.

use super::{
    ADAPTATION, BUDGETS, CALLS, ENDS, HARD_MISSED, HELD, HOLDS, LATE, MISSED, PEAK, REPORTING,
    SCHEDULING, SERVERS, case, load_of,
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
    (
        "a level of the load lasts",
        "not stated",
        Each(["1 s in the mean", "from 0.3 s in the mean to 10 s, each end judged for itself", ""]),
    ),
    ("late jobs", "not stated what follows", Same("releases during a late job are skipped")),
    ("time", "60 s", Each(["10 s of one load", "60 s of each of 5 loads", ""])),
    ("control period, history", "not stated", Same("S2 50, others 100, 200, 150 ms; 16")),
];

const OVERHEAD: Setting = &[
    SETTING[0],
    SETTING[1],
    SETTING[2],
    (
        "scheduling",
        "time in timer handlers and at ends of jobs, without the host's switches",
        Same("all time in the kernel, switches and its trace too, and in the controller"),
    ),
    (
        "adaptation",
        "a part of the kernel module; no more is stated",
        Same("a program: all that it executes and its calls, which count twice in scheduling"),
    ),
    ("time", "60 s", Same("5 s of one load")),
    SETTING[7],
];

/// A ratio in percent.
fn missed(report: &Report, hold: u64, budgets: &str, server: &str) -> Option<f64> {
    Some(median(report, manifest::TREE, MISSED, &case(hold, budgets, server))? / PERCENT)
}

/// How many times as many jobs are late, summed over servers, with fixed budgets as with adaptive
/// ones.
fn times(report: &Report, hold: u64) -> Option<f64> {
    let sum = |budgets| missed(report, hold, budgets, "sum");
    Some(sum(BUDGETS[0])? / sum(BUDGETS[2])?)
}

/// The lowest ratio of the less important servers by that of the most important one.
fn most_important(report: &Report, hold: u64) -> Option<f64> {
    let of = |server| missed(report, hold, BUDGETS[2], server);
    Some(least(SERVERS[1..].iter().map(|server| of(server)))? / of(SERVERS[0])?)
}

fn share(report: &Report, metric: &str) -> Option<f64> {
    Some(median(report, manifest::TREE, metric, BUDGETS[2])? / PERCENT)
}

/// Fewer late jobs than these say more of chance than of budgets.
const ENOUGH: f64 = 100.0;

/// Why ratios say nothing, if the runs were too short.
fn too_few(report: &Report) -> Option<String> {
    let fixed = report.rows.iter().filter(|row| row.metric == LATE);
    let fixed = fixed.filter(|row| row.case.ends_with(BUDGETS[0]));
    let late = fixed.map(|row| row.summary.median.as_f64()).reduce(f64::min)?;
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
fn table(report: &Report, hold: u64) -> Option<String> {
    let of = |budgets: &str| {
        let ratios = SERVERS.map(|server| missed(report, hold, budgets, server));
        let ratios = ratios.into_iter().map(|ratio| Some(format!("{:.2}", ratio?)));
        Some(format!("{budgets} {}", ratios.collect::<Option<Vec<_>>>()?.join(", ")))
    };
    let ours = [of(BUDGETS[0])?, of(BUDGETS[2])?].join("; ");
    let paper = "fixed 3.36, 27.28, 2.19; adaptive 1.11, 6.49, 4.69";
    let held = median(report, manifest::TREE, HELD, &super::of(hold, BUDGETS[2]))? / PERCENT;
    Some(format!(
        "S3, S4, S5 in %: the paper {paper}; here {ours}; the class has {held:.1} % in the mean, \
         of 60"
    ))
}

/// Where the controller's time goes.
fn cause(report: &Report) -> Option<String> {
    let [calls, all] = [share(report, CALLS)?, share(report, ADAPTATION)?];
    let reporting = share(report, REPORTING)?;
    Some(format!(
        "the controller is a program, where the paper's is a part of its kernel module: {:.0} % \
         of its time are calls that look at reservations and set them; tasks that look at the \
         clock: {reporting:.4} %",
        100.0 * calls / all
    ))
}

/// All claims.
pub fn claims() -> Vec<Spec> {
    let mut claims = ratios();
    claims.extend(others());
    claims
}

/// Those about late jobs, at both ends of what the paper leaves open.
fn ratios() -> Vec<Spec> {
    const HALF: &str = "section W: a factor of 2 at least; the paper has 32.83 by 12.29 %";
    const ONE: &str = "S2B-C02: 1.11 %, within a factor of 2 (section W)";
    let [short, long] = ENDS;
    let fewer = |id, statement, hold| {
        claim(id, statement, SETTING)
            .hidden(too_few)
            .figure("summed ratio, fixed by adaptive", "times", move |r| times(r, hold))
            .lies(AtLeast(2.0), HALF)
            .remark(move |r| table(r, hold))
    };
    let one = |id, statement, hold| {
        claim(id, statement, SETTING)
            .hidden(too_few)
            .figure("S3, adaptive", "%", move |r| missed(r, hold, BUDGETS[2], SERVERS[0]))
            .lies(AtMost(2.22), ONE)
    };
    vec![
        fewer("S2B-C01a", "adaptive budgets miss half as many deadlines, levels of 10 s", long),
        fewer("S2B-C01b", "so they do where levels last 0.3 s, a few control periods", short),
        claim("S2B-C02a", "the most important server has the lowest ratio", SETTING)
            .hidden(too_few)
            .figure("the lower one of S4 and S5 by S3, levels of 10 s", "times", move |r| {
                most_important(r, long)
            })
            .lies(Above(1.0), "S2B-C02")
            .figure("the same, levels of 0.3 s", "times", move |r| most_important(r, short))
            .lies(Above(1.0), "S2B-C02"),
        one("S2B-C02b", "the most important server misses about 1 %, levels of 10 s", long),
        one("S2B-C02c", "so it does where levels last 0.3 s", short),
    ]
}

fn others() -> Vec<Spec> {
    vec![
        claim("S2B-C03", "budgets for the most that is asked for do not fit", SETTING)
            .figure("peaks together", "% of the CPU", |r| {
                let peak =
                    |server: &str, hold| median(r, manifest::TREE, PEAK, &load_of(hold, server));
                let all = |hold| SERVERS.map(|server| peak(server, hold)).into_iter().sum();
                let sum: Option<f64> = HOLDS.into_iter().find_map(all);
                Some(sum? / PERCENT)
            })
            .lies(Above(61.0), "S2B-C03: 158 %, and the class has 61"),
        claim("S2B-C04", "hard tasks miss nothing", SETTING)
            .figure("late hard jobs, budgets with most", "", |r| {
                let all = r.rows.iter().filter(|row| row.metric == HARD_MISSED);
                most(all.map(|row| Some(row.summary.median.as_f64())))
            })
            .lies(AtMost(0.0), "S2B-C04"),
        claim("S2B-C05a", "adaptation is a small part of what scheduling takes", OVERHEAD)
            .hidden(simulated)
            .figure("adaptation by scheduling", "%", |r| {
                Some(100.0 * share(r, ADAPTATION)? / share(r, SCHEDULING)?)
            })
            .lies(AtMost(20.0), "S2B-C05: below 10 %, about 8 of 122 ms; by a factor of 2")
            .remark(cause),
        claim("S2B-C05b", "scheduling takes little of the CPU", OVERHEAD)
            .hidden(simulated)
            .figure("scheduling", "%", |r| share(r, SCHEDULING))
            .lies(Below(0.2), "S2B-E03"),
    ]
}
