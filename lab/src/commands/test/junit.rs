//! The report that other tools read: JUnit's XML.

use super::findings::Run;
use anyhow::Result;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Writes what ran: a suite for each group, a case for each job.
pub fn write(path: &Path, runs: &[Run], taken: Duration) -> Result<()> {
    let text = report(runs, taken).to_string()?;
    Ok(fs_err::write(path, text)?)
}

fn report(runs: &[Run], taken: Duration) -> Report {
    let mut suites: BTreeMap<String, TestSuite> = BTreeMap::new();
    for run in runs {
        let status = match run.failure() {
            None => TestCaseStatus::success(),
            Some(failure) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_message(failure.lines().next().unwrap_or_default());
                status.set_description(failure);
                status
            }
        };
        let mut case = TestCase::new(run.name.as_str(), status);
        case.set_time(Duration::from_secs_f64(run.seconds)).set_classname(run.group.name());
        case.set_assertions(run.findings.len());
        let group = run.group.name();
        let suite = suites.entry(group.clone()).or_insert_with(|| TestSuite::new(group));
        suite.add_test_case(case);
    }
    let mut report = Report::new("giusto");
    report.set_time(taken).add_test_suites(suites.into_values());
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Group;
    use crate::commands::test::findings::Finding;

    #[test]
    fn each_job_is_a_case_and_a_failure_says_why() {
        let run = |name: &str, failure: Option<&str>| {
            let (check, failure) = ("it boots".to_string(), failure.map(str::to_string));
            let findings = vec![Finding { check, failure, broken: false }];
            let (group, name) = (Group::Target, name.to_string());
            Run { group, name, configuration: true, seconds: 1.5, findings }
        };
        let runs = [run("good", None), run("bad", Some("no <answer>"))];
        let text = report(&runs, Duration::from_secs(3)).to_string().unwrap();
        assert!(text.contains(r#"<testsuite name="target" tests="2""#), "{text}");
        assert!(text.contains(r#"failures="1""#) && text.contains("no &lt;answer&gt;"), "{text}");
        assert!(text.contains(r#"time="1.500""#), "{text}");
    }
}
