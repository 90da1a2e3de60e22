//! `lab compare`: two kernels, case by case.

use super::print_json;
use crate::cli::Compare;
use crate::experiment::{self, EXPERIMENTS, Experiment, Setup};
use crate::failure::{Verdict, usage};
use crate::{machine, output};
use anyhow::Result;
use comfy_table::ColumnConstraint;
use results::{Difference, Samples};
use serde::Serialize;

/// One case of one metric.
#[derive(Serialize)]
struct Line {
    metric: String,
    case: String,
    #[serde(flatten)]
    difference: Difference,
    significant: bool,
}

/// What one experiment says about both kernels.
#[derive(Serialize)]
struct Compared {
    experiment: &'static str,
    machine: &'static str,
    unit: &'static str,
    seeds: u64,
    lines: Vec<Line>,
    summary: String,
}

/// Compares what the command line says.
pub fn compare(asked: &Compare, as_json: bool) -> Result<Verdict> {
    let machine = machine::find(&asked.machine).expect("the command line knows the machines");
    let experiments = chosen(asked)?;
    let mut compared = Vec::new();
    for experiment in experiments {
        let found = run(experiment, machine, asked)?;
        if !as_json {
            show(&found, asked);
        }
        compared.push(found);
    }
    if as_json {
        print_json(&compared);
    }
    Ok(Verdict::Held)
}

/// The experiments that were named, or all that compare kernels on the machine.
fn chosen(asked: &Compare) -> Result<Vec<&'static Experiment>> {
    let fits = |experiment: &&Experiment| {
        experiment.machines.contains(&asked.machine.as_str())
            && [&asked.a, &asked.b].iter().all(|k| experiment.kernels.contains(&k.as_str()))
    };
    if asked.experiment.is_empty() {
        return Ok(EXPERIMENTS.into_iter().filter(fits).collect());
    }
    let mut chosen = Vec::new();
    for name in &asked.experiment {
        let experiment = experiment::find(name).expect("the command line knows the experiments");
        if !fits(&experiment) {
            let (a, b, machine) = (&asked.a, &asked.b, &asked.machine);
            return Err(usage(format!("`{name}` does not run on {machine} with {a} and {b}")));
        }
        chosen.push(experiment);
    }
    Ok(chosen)
}

/// Runs both kernels under one seed after the other. A second seed shows whether anything varies;
/// if nothing does, further ones would show nothing more.
fn run(
    experiment: &'static Experiment,
    machine: &'static dyn machine::Machine,
    asked: &Compare,
) -> Result<Compared> {
    let kernels = if asked.a == asked.b { vec![&*asked.a] } else { vec![&*asked.a, &*asked.b] };
    let mut runs: Vec<Samples> = Vec::new();
    for seed in 1..=asked.repeats {
        let setup = Setup::new(machine, seed)?;
        runs.push(experiment::run(experiment, &setup, &kernels)?.1);
        if seed >= 2 && runs.iter().all(|samples| *samples == runs[0]) && steady(&runs[0]) {
            break;
        }
    }
    let lines = lines(&runs, &asked.a, &asked.b);
    let summary = summary(&lines, &asked.a, &asked.b);
    let (experiment, machine, unit) = (experiment.name, machine.name(), machine.unit());
    Ok(Compared { experiment, machine, unit, seeds: runs.len() as u64, lines, summary })
}

/// Whether no case scatters.
fn steady(samples: &Samples) -> bool {
    let level = |values: &[u64]| values.windows(2).all(|two| two[0] == two[1]);
    samples.series.iter().all(|series| level(&series.values))
}

/// Each case with the samples of all runs.
fn lines(runs: &[Samples], a: &str, b: &str) -> Vec<Line> {
    let Some(first) = runs.first() else { return Vec::new() };
    let pooled = |kernel: &str, metric: &str, case: &str| -> Vec<f64> {
        let series = runs.iter().flat_map(|run| &run.series);
        let same = series.filter(|s| (&*s.kernel, &*s.metric, &*s.case) == (kernel, metric, case));
        same.flat_map(|series| series.values.iter().map(|value| *value as f64)).collect()
    };
    let cases = first.series.iter().filter(|series| series.kernel == a);
    cases
        .filter_map(|series| {
            let (metric, case) = (&*series.metric, &*series.case);
            let difference = Difference::of(&pooled(a, metric, case), &pooled(b, metric, case))?;
            let significant = difference.is_significant();
            let (metric, case) = (metric.to_string(), case.to_string());
            Some(Line { metric, case, difference, significant })
        })
        .collect()
}

/// Who is faster, in a sentence.
fn summary(lines: &[Line], a: &str, b: &str) -> String {
    if a == b {
        return format!("{a} is compared with itself: identical by construction");
    }
    let differing = lines.iter().filter(|line| line.significant).count();
    if differing == 0 {
        return format!("no significant difference between {a} and {b} in {} cases", lines.len());
    }
    let ratios: Vec<f64> = lines
        .iter()
        .filter(|line| line.difference.a > 0.0 && line.difference.b > 0.0)
        .map(|line| (line.difference.b / line.difference.a).ln())
        .collect();
    let mean = (ratios.iter().sum::<f64>() / ratios.len().max(1) as f64).exp();
    let percent = (mean - 1.0) * 100.0;
    let cases = lines.len();
    if percent.abs() < 0.05 {
        return format!("{a} and {b} are level on average; {differing} of {cases} cases differ");
    }
    let (more, than) = if percent > 0.0 { (b, a) } else { (a, b) };
    let share = if percent > 0.0 { percent } else { (1.0 / mean - 1.0) * 100.0 };
    format!(
        "{more} takes {share:.1} % more than {than} (geometric mean of {cases} cases, of which \
         {differing} differ)"
    )
}

fn show(compared: &Compared, asked: &Compare) {
    let Compared { experiment, machine, unit, seeds, lines, summary } = compared;
    let seeds = if *seeds == 1 { "one seed".into() } else { format!("{seeds} seeds") };
    output::line(format_args!("{experiment} on {machine}, {unit}, {seeds}"));
    let mut table =
        super::table(&["mean", &asked.a, &asked.b, "more", "%", "95 % interval", "effect"]);
    for line in lines {
        let difference = &line.difference;
        let percent = difference.percent.map_or("-".into(), |percent| format!("{percent:+.1}"));
        let (low, high) = difference.interval;
        let (interval, effect) = if difference.exact {
            ("exact".to_string(), String::new())
        } else if line.significant {
            let effect = format!("{} ({:+.2})", difference.size(), difference.effect);
            (format!("{low:+.1} to {high:+.1}"), effect)
        } else {
            (format!("{low:+.1} to {high:+.1}"), "not significant".to_string())
        };
        table.add_row([
            format!("{} {}", line.metric, line.case),
            spell(difference.a),
            spell(difference.b),
            if difference.more == 0.0 { "=".into() } else { format!("{:+.1}", difference.more) },
            percent,
            interval,
            effect,
        ]);
    }
    if let Some(first) = table.column_mut(0) {
        first.set_constraint(ColumnConstraint::ContentWidth);
    }
    output::line(table.trim_fmt());
    output::line(format_args!("{summary}\n"));
}

/// A mean, without a fraction where it has none.
fn spell(mean: f64) -> String {
    if mean.fract() == 0.0 { format!("{mean}") } else { format!("{mean:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(rows: &[(&str, &str, &[u64])]) -> Samples {
        let mut samples = Samples::default();
        for (kernel, case, values) in rows {
            samples.push(kernel, "call", case, values.to_vec());
        }
        samples
    }

    #[test]
    fn exact_and_scattered_cases_stand_side_by_side() {
        let runs = [
            samples(&[
                ("a", "x", &[100, 100]),
                ("b", "x", &[150, 150]),
                ("a", "y", &[9, 11]),
                ("b", "y", &[10, 10]),
            ]),
            samples(&[
                ("a", "x", &[100, 100]),
                ("b", "x", &[150, 150]),
                ("a", "y", &[8, 12]),
                ("b", "y", &[11, 9]),
            ]),
        ];
        let lines = lines(&runs, "a", "b");
        assert!(lines[0].difference.exact && lines[0].significant);
        assert!(!lines[1].difference.exact && !lines[1].significant);
        let summary = summary(&lines, "a", "b");
        assert!(summary.starts_with("b takes 22.5 % more than a"), "{summary}");
        assert!(!steady(&runs[0]));
    }

    #[test]
    fn a_kernel_is_identical_to_itself() {
        let runs = [samples(&[("a", "x", &[5])])];
        let lines = lines(&runs, "a", "a");
        assert!(!lines[0].significant);
        assert!(summary(&lines, "a", "a").contains("identical"));
        let level = [samples(&[("a", "x", &[5]), ("b", "x", &[5])])];
        let summary = summary(&super::lines(&level, "a", "b"), "a", "b");
        assert!(summary.starts_with("no significant difference"), "{summary}");
    }
}
