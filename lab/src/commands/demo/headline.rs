//! The six figures that the demo shows beside those of other systems.

use crate::commands::table;
use anyhow::{Context, Result};
use results::{Report, WAKE_UP_WORST};
use serde::Serialize;

/// The kernel that is shown.
pub const KERNEL: &str = manifest::KERNELS[0];

/// What is shown: in words, the experiment, the metric and the case.
const SHOWN: [(&str, &str, &str, &str); 6] = [
    ("a call between address spaces", "ping-pong", "call", "across words=0"),
    ("its reply, and the wait for the next", "ping-pong", "reply-wait", "across words=0"),
    ("a signal to a higher thread", "micro", "notify-higher", ""),
    ("an interrupt", "micro", "interrupt", ""),
    ("mapping a page", "micro", "map", ""),
    ("the latest wake-up of 500, under load", "latency", WAKE_UP_WORST, "all"),
];

/// Systems that stand beside it: as the terminal heads them and as the baselines name them.
const BESIDE: [(&str, &str); 2] = [("seL4", "seL4"), ("Linux", "PREEMPT_RT")];

const NOTE: &str = "
 All on the same emulator; Linux is 6.1 with PREEMPT_RT (docs/measuring.md).
";

/// A figure beside those of others.
#[derive(Debug, Serialize)]
pub struct Headline {
    /// What was measured.
    pub about: &'static str,
    /// The figure.
    pub value: u64,
    /// seL4's, where it has one.
    pub sel4: Option<u64>,
    /// That of Linux with PREEMPT_RT, where it has one.
    pub linux: Option<u64>,
    /// What is counted.
    pub unit: String,
}

/// The figures of these reports.
pub fn all(reports: &[Report]) -> Result<Vec<Headline>> {
    let one = |(about, experiment, metric, case): (&'static str, &str, &str, &str)| {
        let report = reports.iter().find(|report| report.experiment == experiment);
        let report = report.with_context(|| format!("`{experiment}` was not measured"))?;
        let median = report.median(KERNEL, metric, case);
        let value = median.with_context(|| format!("`{experiment}` has no row {metric} {case}"))?;
        let beside = |system: &str| {
            let of = |b: &&results::Baseline| {
                b.system == system && b.metric == metric && (b.case.is_empty() || b.case == case)
            };
            report.baselines.iter().find(of).map(|baseline| baseline.value)
        };
        let [sel4, linux] = BESIDE.map(|(_, system)| beside(system));
        let unit = report.unit.clone();
        Ok(Headline { about, value: value.as_f64() as u64, sel4, linux, unit })
    };
    SHOWN.into_iter().map(one).collect()
}

/// The figures as a table.
pub fn table_of(headlines: &[Headline]) -> String {
    let unit = headlines.first().map(|headline| headline.unit.as_str()).unwrap_or_default();
    let title = format!("what it takes, in {unit}");
    let [(sel4, _), (linux, _)] = BESIDE;
    let mut table = table(&[&title, "Giusto", sel4, linux]);
    for Headline { about, value, sel4, linux, .. } in headlines {
        let shown = |value: &Option<u64>| value.map_or("-".to_string(), |value| value.to_string());
        table.add_row([about.to_string(), value.to_string(), shown(sel4), shown(linux)]);
    }
    for index in 1..=3 {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(comfy_table::CellAlignment::Right);
        }
    }
    table.trim_fmt() + NOTE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_figure_of_another_system() {
        for (about, experiment, metric, case) in SHOWN {
            let baselines = results::baselines(experiment);
            let beside = |system: &str| {
                baselines.iter().any(|b| {
                    b.system == system
                        && b.metric == metric
                        && (b.case.is_empty() || b.case == case)
                })
            };
            assert!(BESIDE.iter().any(|(_, system)| beside(system)), "{about}");
        }
    }

    #[test]
    fn a_missing_figure_is_an_error() {
        let error = all(&[]).unwrap_err().to_string();
        assert_eq!(error, "`ping-pong` was not measured");
        let mut empty = crate::experiment::testing::report("made-up", &[]);
        empty.experiment = "ping-pong".to_string();
        let error = all(&[empty]).unwrap_err().to_string();
        assert_eq!(error, "`ping-pong` has no row call across words=0");
    }

    #[test]
    fn the_table_fits_the_terminal() {
        let headline = |about| Headline {
            about,
            value: 12_345,
            sel4: Some(6_789),
            linux: None,
            unit: "instructions".to_string(),
        };
        let headlines: Vec<Headline> = SHOWN.map(|(about, ..)| headline(about)).into();
        let text = table_of(&headlines);
        assert_eq!(text.lines().count(), SHOWN.len() + 2);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
