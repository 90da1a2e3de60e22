//! `lab compare`: two kernels, case by case.

mod show;

use super::print_json;
use crate::cli::Compare;
use crate::experiment::{self, Asked, EXPERIMENTS, Experiment, Listed, Session};
use crate::failure::{Verdict, usage};
use crate::machine::Platform;
use crate::workspace;
use anyhow::Result;
use results::{Difference, Overall, Pair, Samples};
use serde::Serialize;

/// How differences are judged, for people who read the JSON.
const METHOD: &str = "both kernels run under the same seeds; `exact` and `identical` hold for \
                      every seed; an interval is the 95 % confidence interval of the mean \
                      difference over the seeds (paired, Student's t); effect is Cliff's delta \
                      over all samples";

/// One case of one metric.
#[derive(Serialize)]
struct Line {
    metric: String,
    case: String,
    #[serde(flatten)]
    difference: Difference,
}

/// What one experiment says about both kernels.
#[derive(Serialize)]
struct Compared {
    experiment: &'static str,
    machine: &'static str,
    unit: &'static str,
    a: String,
    b: String,
    commit: String,
    seeds: Vec<u64>,
    method: &'static str,
    lines: Vec<Line>,
    overall: Option<Overall>,
    summary: String,
}

/// What both kernels gave under one seed.
struct Run {
    a: Samples,
    b: Samples,
}

/// Compares what the command line says.
pub fn compare(asked: &Compare, as_json: bool) -> Result<Verdict> {
    let mut compared = Vec::new();
    for experiment in chosen(asked)? {
        let found = measure(experiment.on(&asked.machine)?, asked)?;
        if !as_json {
            show::experiment(&found);
        }
        compared.push(found);
    }
    match as_json {
        true => print_json(&compared),
        false => show::key(&compared),
    }
    Ok(Verdict::Held)
}

/// The experiments that were named, or all that compare both kernels on the machine.
fn chosen(asked: &Compare) -> Result<Vec<&'static Experiment>> {
    let fits = |experiment: &&Experiment| {
        experiment.runs_on(&asked.machine)
            && [&asked.a, &asked.b].iter().all(|k| experiment.kernels.contains(&k.as_str()))
    };
    let Compare { a, b, machine, .. } = asked;
    let all: Vec<&Experiment> = EXPERIMENTS.into_iter().filter(fits).collect();
    if asked.experiment.is_empty() {
        return match all.is_empty() {
            true => Err(usage(format!("no experiment runs on {machine} with {a} and {b}"))),
            false => Ok(all),
        };
    }
    let mut chosen = Vec::new();
    for name in &asked.experiment {
        let experiment = experiment::find(name).expect("the command line knows the experiments");
        if !fits(&experiment) {
            let others: Vec<&str> = all.iter().map(|experiment| experiment.name).collect();
            let others = others.join(", ");
            return Err(usage(format!(
                "`{name}` does not run on {machine} with {a} and {b}; these do: {others}"
            )));
        }
        chosen.push(experiment);
    }
    Ok(chosen)
}

/// Runs both kernels under one seed after the other. A second seed shows whether anything varies;
/// if nothing does, further ones would show nothing more.
fn measure(listed: Listed, asked: &Compare) -> Result<Compared> {
    let mut runs: Vec<Run> = Vec::new();
    for seed in 1..=asked.repeats {
        let session = Session::new(Asked::seed(seed));
        let run =
            |kernel: &str| Ok::<_, anyhow::Error>(experiment::run(listed, &session, &[kernel])?.1);
        // Each side is a run of its own, also when a kernel is compared with itself.
        runs.push(Run { a: run(&asked.a)?, b: run(&asked.b)? });
        if seed >= 2 && runs.windows(2).all(|two| two[0].a == two[1].a && two[0].b == two[1].b) {
            break;
        }
    }
    Ok(judge(listed.experiment().name, listed.platform(), asked, &runs))
}

fn judge(
    experiment: &'static str,
    machine: &'static dyn Platform,
    asked: &Compare,
    runs: &[Run],
) -> Compared {
    let cases = cases(runs);
    let overall = Overall::of(&cases.iter().map(|case| &*case.pairs).collect::<Vec<_>>());
    let line = |case: Case| {
        let difference = Difference::of(&case.pairs)?;
        Some(Line { metric: case.metric, case: case.case, difference })
    };
    let lines: Vec<Line> = cases.into_iter().filter_map(line).collect();
    let summary = show::summary(&lines, overall.as_ref(), &asked.a, &asked.b);
    Compared {
        experiment,
        machine: machine.name(),
        unit: machine.unit(),
        a: asked.a.clone(),
        b: asked.b.clone(),
        commit: workspace::commit(),
        seeds: (1..=runs.len() as u64).collect(),
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
    let samples = |samples: &Samples, metric: &str, case: &str| {
        let same = |series: &&results::Series| (&*series.metric, &*series.case) == (metric, case);
        samples.series.iter().find(same).map(|series| series.values.clone())
    };
    let case = |series: &results::Series| {
        let (metric, case) = (&*series.metric, &*series.case);
        let pair = |run: &Run| {
            let (a, b) = (samples(&run.a, metric, case)?, samples(&run.b, metric, case)?);
            Some(Pair { a, b })
        };
        let pairs = runs.iter().map(pair).collect::<Option<_>>()?;
        Some(Case { metric: metric.to_string(), case: case.to_string(), pairs })
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
