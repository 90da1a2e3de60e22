//! Counting checks.

use crate::cli::Group;
use crate::output;
use serde::{Deserialize, Serialize};

/// Lines that a failure shows on the terminal.
const SHOWN_LINES: usize = 40;

/// A check that ran.
#[derive(Debug, Serialize, Deserialize)]
pub struct Check {
    /// Its group.
    pub group: Group,
    /// What it checked.
    pub name: String,
    /// Whether it did not even get to run, because something did not build.
    pub broken: bool,
    /// Why it failed; `None` if it passed.
    pub failure: Option<String>,
}

/// What ran, as `--json` prints it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Summary {
    /// How many checks passed.
    pub passed: usize,
    /// How many failed.
    pub failed: usize,
    /// All of them.
    pub checks: Vec<Check>,
}

/// The checks so far.
pub struct Suite {
    checks: Vec<Check>,
    group: Group,
    show: bool,
    fail_fast: bool,
}

impl Suite {
    /// An empty suite, which prints what happens if `show`.
    pub fn new(show: bool, fail_fast: bool) -> Suite {
        Suite { checks: Vec::new(), group: Group::Format, show, fail_fast }
    }

    /// Whether the rest need not run.
    pub fn is_over(&self) -> bool {
        self.fail_fast && self.failed() > 0
    }

    /// Begins a group.
    pub fn begin(&mut self, group: Group) {
        self.group = group;
    }

    /// Counts a check.
    pub fn record(&mut self, name: impl Into<String>, result: Result<(), String>) {
        self.add(name.into(), result.err(), false, true);
    }

    /// Counts a check that is one of many: it is shown only if it fails.
    pub fn record_quietly(&mut self, name: impl Into<String>, result: Result<(), String>) {
        self.add(name.into(), result.err(), false, false);
    }

    /// Counts checks that cannot run.
    pub fn broken(&mut self, name: impl Into<String>, why: String) {
        self.add(name.into(), Some(why), true, true);
    }

    fn add(&mut self, name: String, failure: Option<String>, broken: bool, loud: bool) {
        if self.show {
            match &failure {
                Some(why) => output::line(format_args!("FAILED  {name}\n{}", indented(why))),
                None if loud => output::line(format_args!("passed  {name}")),
                None => {}
            }
        }
        self.checks.push(Check { group: self.group, name, broken, failure });
    }

    /// Says something beside the checks.
    pub fn say(&self, text: &str) {
        if self.show {
            output::line(text);
        }
    }

    /// How many failed.
    pub fn failed(&self) -> usize {
        self.checks.iter().filter(|check| check.failure.is_some()).count()
    }

    /// `N passed, N failed`.
    pub fn closing_line(&self) -> String {
        let failed = self.failed();
        format!("{} passed, {failed} failed", self.checks.len() - failed)
    }

    /// Everything.
    pub fn summary(self) -> Summary {
        let failed = self.failed();
        Summary { passed: self.checks.len() - failed, failed, checks: self.checks }
    }
}

/// The first lines of an explanation, under the name of the check.
fn indented(why: &str) -> String {
    let mut lines: Vec<String> =
        why.trim().lines().take(SHOWN_LINES).map(|line| format!("        {line}")).collect();
    let hidden = why.trim().lines().count() - lines.len();
    if hidden > 0 {
        lines.push(format!("        ... and {hidden} more lines; --json has them all"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_ran_is_counted() {
        let mut suite = Suite::new(false, true);
        suite.begin(Group::Target);
        suite.record("boots", Ok(()));
        assert!(!suite.is_over());
        suite.record_quietly("answers", Err("no".to_string()));
        suite.broken("golden figures", "the kernel did not build".to_string());
        assert!(suite.is_over());
        assert_eq!(suite.closing_line(), "1 passed, 2 failed");
        let summary = suite.summary();
        assert_eq!((summary.passed, summary.failed), (1, 2));
        assert!(summary.checks[2].broken && !summary.checks[1].broken);
        assert_eq!(summary.checks[1].group, Group::Target);
    }

    #[test]
    fn a_long_explanation_is_cut() {
        assert_eq!(indented("a\nb\n"), "        a\n        b");
        let long = indented(&"line\n".repeat(SHOWN_LINES + 2));
        assert!(long.ends_with("... and 2 more lines; --json has them all"));
    }
}
