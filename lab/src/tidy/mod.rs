//! The project's own rules, checked: which package may depend on which, how long files may get, and
//! what may stand where. Each rule is a function from the sources to findings.

mod architecture;
mod c;
pub mod commands;
mod dependencies;
mod ends;
pub mod header;
mod keys;
mod limits;
pub mod links;
mod modules;
mod packages;
mod places;
mod reach;
mod source;
mod terms;
mod unsafety;
mod values;
mod wording;

use crate::workspace;
use anyhow::Result;
use std::fmt;
use std::path::Path;

pub use source::Source;

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Finding {
    /// The file, relative to the root of the work tree.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub mend: String,
}

impl Finding {
    fn new(file: &str, line: usize, what: impl Into<String>, mend: &str) -> Finding {
        Finding { file: file.to_string(), line, what: what.into(), mend: mend.to_string() }
    }
}

/// One line that an editor understands.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.file, self.line, self.what, self.mend)
    }
}

/// Checks every rule on the work tree at `root`.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let sources = source::all(root, &mut findings)?;
    let metadata = workspace::metadata(root)?;
    let roots = dependencies::roots(&metadata);
    findings.extend(dependencies::check(&metadata));
    findings.extend(packages::check(&metadata));
    findings.extend(links::check(root)?);
    findings.extend(wording::check(root)?);
    findings.extend(terms::check(root)?);
    findings.extend(keys::check(root)?);
    findings.extend(values::check(root)?);
    findings.extend(reach::check(&sources, &roots));
    findings.extend(unsafety::check_roots(&sources, &roots));
    findings.extend(header::check(root)?);
    findings.extend(c::check(root)?);
    findings.extend(commands::check(root)?);
    findings.extend(ends::check(root)?);
    let order = modules::Order::read(root)?;
    for source in &sources {
        findings.extend(order.check(source));
        findings.extend(limits::check(source));
        findings.extend(architecture::check(source));
        findings.extend(places::check(source));
        findings.extend(unsafety::check(source));
    }
    findings.sort();
    findings.dedup();
    Ok(findings)
}
