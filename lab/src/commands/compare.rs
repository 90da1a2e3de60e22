//! `lab compare`: two kernels, lockings, commits or saved runs, case by case.

mod gather;
mod show;
mod sides;

use super::print_json;
use crate::cli::Compare;
use crate::failure::Verdict;
use crate::{output, workspace};
use anyhow::Result;
use gather::{Gathered, Run};
use results::{Difference, Overall, Pair, Samples, Series};
use serde::Serialize;
use sides::Sides;

/// How differences are judged, for people who read the JSON.
const METHOD: &str = "both sides run under the same seeds; `exact` and `identical` hold for \
                      every seed; an interval is the 95 % confidence interval of the mean \
                      difference over the seeds (paired, Student's t); effect is Cliff's delta \
                      over all samples; spread is the standard deviation of a sample";

/// One case of one metric.
#[derive(Serialize)]
struct Line {
    metric: String,
    case: String,
    #[serde(flatten)]
    difference: Difference,
}

/// What one experiment says about both sides.
#[derive(Serialize)]
struct Compared {
    experiment: String,
    machine: String,
    unit: String,
    a: String,
    b: String,
    commit: String,
    seeds: Vec<u64>,
    method: &'static str,
    lines: Vec<Line>,
    overall: Option<Overall>,
    summary: String,
}

/// Compares what the command line says.
pub fn compare(asked: &Compare, as_json: bool) -> Result<Verdict> {
    let sides = Sides::of(&asked.a, &asked.b)?;
    let mut compared = Vec::new();
    gather::gather(&sides, asked, |gathered| {
        let found = judge(gathered, &asked.a, &asked.b);
        if !as_json {
            output::line(show::text(&found));
        }
        compared.push(found);
    })?;
    match as_json {
        true => print_json(&compared),
        false => output::line(show::key(&compared).trim_end()),
    }
    Ok(Verdict::Held)
}

fn judge(gathered: Gathered, a: &str, b: &str) -> Compared {
    let Gathered { experiment, machine, unit, runs } = gathered;
    let cases = cases(&runs);
    let overall = Overall::of(&cases.iter().map(|case| &*case.pairs).collect::<Vec<_>>());
    let line = |case: Case| {
        let difference = Difference::of(&case.pairs)?;
        Some(Line { metric: case.metric, case: case.case, difference })
    };
    let lines: Vec<Line> = cases.into_iter().filter_map(line).collect();
    let summary = show::summary(&lines, overall.as_ref(), a, b);
    Compared {
        experiment,
        machine,
        unit,
        a: a.to_string(),
        b: b.to_string(),
        commit: workspace::commit(),
        seeds: runs.iter().map(|run| run.seed).collect(),
        method: METHOD,
        lines,
        overall,
        summary,
    }
}

/// A case with the samples of every seed.
struct Case {
    metric: String,
    case: String,
    pairs: Vec<Pair>,
}

/// The cases that both sides measured under every seed, metric by metric.
fn cases(runs: &[Run]) -> Vec<Case> {
    let Some(first) = runs.first() else { return Vec::new() };
    let key = |series: &Series| (series.kernel.clone(), series.metric.clone(), series.case.clone());
    let values = |samples: &Samples, wanted: &Series| {
        let own = samples.series.iter().find(|series| key(series) == key(wanted));
        own.map(|series| series.values.clone())
    };
    let case = |series: &Series| {
        let pair =
            |run: &Run| Some(Pair { a: values(&run.a, series)?, b: values(&run.b, series)? });
        let pairs = runs.iter().map(pair).collect::<Option<_>>()?;
        let metric = format!("{} {}", series.kernel, series.metric).trim_start().to_string();
        Some(Case { metric, case: series.case.clone(), pairs })
    };
    let mut cases: Vec<Case> = first.a.series.iter().filter_map(case).collect();
    let mut metrics: Vec<String> = Vec::new();
    for case in &cases {
        if !metrics.contains(&case.metric) {
            metrics.push(case.metric.clone());
        }
    }
    cases.sort_by_key(|case| metrics.iter().position(|metric| *metric == case.metric));
    cases
}

#[cfg(test)]
mod tests;
