//! Counting checks.

use crate::cli::Group;
use crate::output;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Checks that need no others.
pub type Branch = Box<dyn FnOnce(&mut Suite) + Send>;

/// Bytes of the stack of whoever runs branches: as much as a program's first thread has.
const STACK: usize = 8 << 20;

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
    /// Failures here and in branches.
    failures: Arc<AtomicUsize>,
}

impl Suite {
    /// An empty suite, which prints what happens if `show`.
    pub fn new(show: bool, fail_fast: bool) -> Suite {
        let failures = Arc::default();
        Suite { checks: Vec::new(), group: Group::Format, show, fail_fast, failures }
    }

    /// Whether the rest need not run.
    pub fn is_over(&self) -> bool {
        self.fail_fast && self.failures.load(Ordering::Relaxed) > 0
    }

    /// Runs branches beside each other, as many as there are CPUs, those in front first; what they
    /// have checked is counted in their order.
    pub fn beside(&mut self, branches: Vec<Branch>) {
        let (group, show, fail_fast) = (self.group, self.show, self.fail_fast);
        let branch = |branch| {
            let failures = Arc::clone(&self.failures);
            let own = Suite { checks: Vec::new(), group, show, fail_fast, failures };
            (Mutex::new(Some(branch)), Mutex::new(own))
        };
        let branches: Vec<_> = branches.into_iter().map(branch).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((branch, suite)) = branches.get(next.fetch_add(1, Ordering::Relaxed)) {
                let branch = branch.lock().unwrap_or_else(PoisonError::into_inner).take();
                let mut suite = suite.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(branch) = branch {
                    branch(&mut suite);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
                worker.expect("the host has threads");
            }
        });
        for (_, suite) in branches {
            let suite = suite.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.checks.extend(suite.checks);
        }
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
        self.failures.fetch_add(usize::from(failure.is_some()), Ordering::Relaxed);
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
    fn branches_are_counted_in_their_order() {
        let mut suite = Suite::new(false, true);
        suite.begin(Group::Target);
        let branch = |name: &'static str, failure: Option<&'static str>| -> Branch {
            Box::new(move |suite| suite.record(name, failure.map_or(Ok(()), |f| Err(f.into()))))
        };
        suite.beside(vec![branch("a", None), branch("b", Some("no")), branch("c", None)]);
        assert!(suite.is_over());
        let summary = suite.summary();
        let names: Vec<&str> = summary.checks.iter().map(|check| &*check.name).collect();
        assert_eq!((names, summary.failed), (vec!["a", "b", "c"], 1));
    }

    #[test]
    fn a_long_explanation_is_cut() {
        assert_eq!(indented("a\nb\n"), "        a\n        b");
        let long = indented(&"line\n".repeat(SHOWN_LINES + 2));
        assert!(long.ends_with("... and 2 more lines; --json has them all"));
    }
}
