//! `tidy`: the project's own rules.

use super::{counted, print_json};
use crate::failure::Verdict;
use crate::output;
use crate::progress::Step;
use crate::{tidy, workspace};
use anyhow::Result;
use serde_json::json;

/// Checks the work tree.
pub fn tidy(as_json: bool) -> Result<Verdict> {
    let step = Step::start("checking the work tree");
    let findings = tidy::check(workspace::root())?;
    drop(step);
    if as_json {
        print_json(&json!({"findings": findings}));
    } else {
        for finding in &findings {
            output::line(finding);
        }
        output::line(counted(findings.len(), "finding"));
    }
    Ok(Verdict::from_bool(findings.is_empty()))
}
