//! `tidy`: the project's own rules.

use super::{counted, print_json};
use crate::failure::Verdict;
use crate::output;
use crate::progress::Step;
use crate::{tidy, workspace};
use anyhow::Result;
use serde_json::json;

/// Checks the work tree, or prints the page of all commands.
pub fn tidy(commands: bool, as_json: bool) -> Result<Verdict> {
    if commands {
        let page = tidy::commands::page()?;
        match as_json {
            true => print_json(&json!({"path": tidy::commands::PATH, "text": page})),
            false => output::line(page.trim_end()),
        }
        return Ok(Verdict::Held);
    }
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
