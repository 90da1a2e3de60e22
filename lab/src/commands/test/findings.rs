//! What jobs found, and how it is counted: a check is something that must hold, by its name; it may
//! be looked at in many configurations, and holds if it held in each.

use super::job;
use crate::cli::Group;
use crate::commands::counted;
use anyhow::bail;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Jobs that the end names as the slowest.
const SLOWEST: usize = 10;

/// One look at a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What must hold.
    pub check: String,
    /// Why it does not.
    pub failure: Option<String>,
    /// Whether it could not be looked at, because something did not build.
    pub broken: bool,
}

/// What one job found.
#[derive(Debug, Default)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    /// Adds a look at a check.
    pub fn record(&mut self, check: impl Into<String>, result: Result<(), impl fmt::Display>) {
        let failure = result.err().map(|why| format!("{why:#}"));
        self.0.push(Finding { check: check.into(), failure, broken: false });
    }
}

/// Success if nothing is wrong, else all that is, a line each.
pub fn nothing_of(wrong: impl IntoIterator<Item = impl ToString>) -> anyhow::Result<()> {
    let wrong: Vec<String> = wrong.into_iter().map(|one| one.to_string()).collect();
    if wrong.is_empty() { Ok(()) } else { bail!(wrong.join("\n")) }
}

/// Something did not build, so that a job could not look.
#[derive(Debug)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

/// What was to be built.
pub fn built<T>(result: anyhow::Result<T>) -> anyhow::Result<T> {
    result.map_err(|error| Broken(format!("{error:#}")).into())
}

/// A job that ran.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Its group.
    pub group: Group,
    /// Its name.
    pub name: String,
    /// Whether its name is a configuration of a system.
    pub configuration: bool,
    /// How long it took.
    pub seconds: f64,
    /// What it found, at least one thing.
    pub findings: Vec<Finding>,
}

impl Run {
    /// Its name with its group.
    pub fn title(&self) -> String {
        job::title(self.group, &self.name)
    }

    /// What does not hold, or nothing.
    pub fn failure(&self) -> Option<String> {
        let failed = self.findings.iter().filter_map(|finding| {
            let why = finding.failure.as_deref()?.trim();
            let named = self.findings.len() > 1;
            Some(if named { format!("{}: {why}", finding.check) } else { why.to_string() })
        });
        let failed: Vec<String> = failed.collect();
        if failed.is_empty() { None } else { Some(failed.join("\n")) }
    }
}

/// Everything that ran.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// How many checks held wherever they were looked at.
    pub passed: usize,
    /// How many did not.
    pub failed: usize,
    /// In how many configurations systems ran.
    pub configurations: usize,
    /// Jobs that did not run, since something ended it all.
    pub not_run: usize,
    /// The jobs that ran.
    pub runs: Vec<Run>,
}

impl Summary {
    /// Counts.
    pub fn new(runs: Vec<Run>, not_run: usize) -> Summary {
        let mut checks: BTreeMap<(String, &str), bool> = BTreeMap::new();
        for run in &runs {
            for finding in &run.findings {
                let held = checks.entry((run.group.name(), &finding.check)).or_insert(true);
                *held &= finding.failure.is_none();
            }
        }
        let passed = checks.values().filter(|held| **held).count();
        let failed = checks.len() - passed;
        let configurations: BTreeSet<&str> =
            runs.iter().filter(|run| run.configuration).map(|run| run.name.as_str()).collect();
        let configurations = configurations.len();
        Summary { passed, failed, configurations, not_run, runs }
    }

    /// The last lines; the very last one is `N passed, N failed`.
    pub fn closing(&self) -> String {
        let mut lines = vec![self.by_group(), "slowest:".to_string()];
        let mut slowest: Vec<&Run> = self.runs.iter().collect();
        slowest.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let slowest = slowest.iter().take(SLOWEST);
        lines.extend(slowest.map(|run| format!("{:8.1} s  {}", run.seconds, run.title())));
        if self.not_run > 0 {
            lines.push(format!("{} did not run", counted(self.not_run, "job")));
        }
        let checks = counted(self.passed + self.failed, "check");
        lines.push(format!("{checks} in {}", counted(self.configurations, "configuration")));
        lines.push(format!("{} passed, {} failed", self.passed, self.failed));
        lines.join("\n")
    }

    /// Seconds that the jobs of each group took, most first. Jobs run beside each other, and also
    /// wait for each other's builds.
    fn by_group(&self) -> String {
        let mut sums: BTreeMap<Group, f64> = BTreeMap::new();
        self.runs.iter().for_each(|run| *sums.entry(run.group).or_default() += run.seconds);
        let mut sums: Vec<(Group, f64)> = sums.into_iter().collect();
        sums.sort_by(|a, b| b.1.total_cmp(&a.1));
        let each = sums.iter().map(|(group, seconds)| format!("{} {seconds:.0} s", group.name()));
        format!("jobs, beside each other: {}", each.collect::<Vec<_>>().join(", "))
    }
}

/// The name of a check without the numbers that depend on where it is looked at.
pub fn without_numbers(name: &str) -> String {
    let mut common = String::new();
    for part in name.split_inclusive(|c: char| !c.is_ascii_digit()) {
        let digits = part.trim_end_matches(|c: char| !c.is_ascii_digit());
        common += if digits.is_empty() { "" } else { "#" };
        common += &part[digits.len()..];
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, checks: &[(&str, bool)]) -> Run {
        let mut findings = Findings::default();
        for (check, held) in checks {
            findings.record(*check, if *held { Ok(()) } else { Err("no".to_string()) });
        }
        let (group, findings) = (Group::Target, findings.0);
        Run { group, name: name.to_string(), configuration: true, seconds: 1.0, findings }
    }

    #[test]
    fn a_check_holds_if_it_held_in_each_configuration() {
        let runs = vec![
            run("one", &[("boots", true), ("answers", true)]),
            run("two", &[("boots", true), ("answers", false)]),
        ];
        let summary = Summary::new(runs, 0);
        assert_eq!((summary.passed, summary.failed, summary.configurations), (1, 1, 2));
        let closing = summary.closing();
        assert!(closing.ends_with("2 checks in 2 configurations\n1 passed, 1 failed"), "{closing}");
        assert_eq!(summary.runs[0].failure(), None);
        assert_eq!(summary.runs[1].failure().unwrap(), "answers: no");
    }

    #[test]
    fn the_slowest_are_named_and_what_did_not_run_is_no_pass() {
        let slow = |seconds: u32| Run { seconds: seconds.into(), ..run("r", &[("c", true)]) };
        let summary = Summary::new((0..20).map(slow).collect(), 3);
        let closing = summary.closing();
        assert_eq!(closing.lines().next(), Some("jobs, beside each other: target 190 s"));
        assert_eq!(closing.lines().nth(2), Some("    19.0 s  target: r"));
        assert_eq!(closing.lines().filter(|line| line.contains(" s  ")).count(), SLOWEST);
        assert!(closing.contains("3 jobs did not run\n1 check in 1 configuration\n1 passed"));
    }

    #[test]
    fn numbers_are_left_out_of_names() {
        assert_eq!(without_numbers("12 pages in 3 spaces"), "# pages in # spaces");
        assert_eq!(without_numbers("no page of 4"), "no page of #");
        assert_eq!(without_numbers(""), "");
    }
}
