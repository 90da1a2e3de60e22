//! `test`: everything that must hold, counted.

mod agreement;
mod counting;
mod endings;
mod golden;
mod host;
mod mutants;
mod native;
mod patch;
mod sampling;
mod several;
mod stress;
mod suite;
mod target;
mod tracing;

use super::print_json;
use crate::cli::{self, Group};
use crate::failure::Verdict;
use crate::output;
use crate::{tidy, workspace};
use anyhow::Result;
use suite::Suite;

/// Everything, in the order in which it runs: what is quick to fail comes first.
const ALL: [Group; 7] = [
    Group::Format,
    Group::Tidy,
    Group::Host,
    Group::Lint,
    Group::Target,
    Group::Agreement,
    Group::Golden,
];

/// Runs the tests.
pub fn test(test: &cli::Test, as_json: bool) -> Result<Verdict> {
    if let Some(names) = &test.mutants {
        return mutants::mutants(names, as_json);
    }
    let mut suite = Suite::new(!as_json, test.fail_fast);
    let wanted = |group: &Group| match &test.only[..] {
        [] => !(test.quick && matches!(group, Group::Agreement | Group::Golden)),
        only => only.contains(group),
    };
    for group in ALL.into_iter().filter(wanted) {
        if suite.is_over() {
            break;
        }
        suite.begin(group);
        match group {
            Group::Format => host::format(&mut suite)?,
            Group::Tidy => check_tidy(&mut suite)?,
            Group::Host => {
                host::tests(&mut suite)?;
                if !suite.is_over() {
                    host::models(&mut suite)?;
                }
            }
            Group::Lint => host::lint(&mut suite)?,
            Group::Target => target::suite(&mut suite, test.quick),
            Group::Agreement => agreement::check(&mut suite),
            Group::Golden => golden::figures(&mut suite),
        }
    }
    let held = suite.failed() == 0;
    if as_json {
        print_json(&suite.summary());
    } else {
        output::line(suite.closing_line());
    }
    Ok(Verdict::from_bool(held))
}

fn check_tidy(suite: &mut Suite) -> Result<()> {
    let findings = tidy::check(workspace::root())?;
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    suite.record(
        "the project's own rules",
        if lines.is_empty() { Ok(()) } else { Err(lines.join("\n")) },
    );
    Ok(())
}
