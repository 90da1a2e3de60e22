//! Examples in the documentation of crates: each is compiled, and run if it says so. Packages of
//! the host are asked, also those without any: for a part of them cargo would build anew what it
//! has built for their tests, with other features.

use super::builds::Builds;
use super::host;
use super::job::Job;
use crate::cli::Group;
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use walkdir::WalkDir;

/// How the words behind a fence begin whose lines the compiler takes.
const COMPILED: [&str; 4] = ["rust", "no_run", "should_panic", "compile_fail"];

/// Packages that are not asked, since cargo would compile them, with every kernel under every
/// locking, for nothing: they have no examples, and no other package uses them.
const MACHINES: [&str; 2] = ["native", "twin"];
/// Their features of other packages, with which the tests of these are built.
const FEATURES: &str = "cells/shared,cells/watched,kernel/chaos";

/// The job.
pub fn jobs() -> Vec<Job> {
    let name = "examples in the documentation of crates compile and hold";
    let job = Job::new(Group::Host, name, |findings| {
        let packages = packages()?;
        ensure!(!packages.is_empty(), "no crate has an example");
        let mut of_host = host::packages()?;
        of_host.retain(|(name, _)| !MACHINES.contains(&name.as_str()));
        let other = packages.iter().find(|name| of_host.iter().all(|(host, _)| host != *name));
        if let Some(other) = other {
            bail!("nothing builds the examples of {other}");
        }
        let named = of_host.iter().flat_map(|(package, _)| ["-p", package]);
        let words = ["test", "--doc", "--quiet", "--features", FEATURES];
        let words: Vec<&str> = words.into_iter().chain(named).collect();
        findings.record(packages.join(", "), host::cargo(&words, &[]).map(drop));
        Ok(())
    });
    vec![job.builds(Builds::Own("examples")).seconds(12.0)]
}

/// The packages of the workspace whose libraries have examples.
fn packages() -> Result<Vec<String>> {
    let mut found = Vec::new();
    for package in workspace::metadata(workspace::root())?.packages {
        let Some(library) = package.targets.iter().find(|target| target.doctest) else { continue };
        let folder = library.src_path.parent().context("a source file lies in a folder")?;
        let files = WalkDir::new(folder).into_iter().filter_map(Result::ok);
        let mut files = files.filter(|file| file.path().extension().is_some_and(|it| it == "rs"));
        if files.any(|file| fs_err::read_to_string(file.path()).is_ok_and(|it| has_example(&it))) {
            found.push(package.name.to_string());
        }
    }
    Ok(found)
}

/// Whether the documentation in a source file has lines that the compiler takes.
fn has_example(source: &str) -> bool {
    let documents = |line: &'_ str| {
        let line = line.trim_start();
        let text = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"))?;
        text.trim_start().strip_prefix("```").map(|words| words.trim().to_string())
    };
    // Every second fence ends what the one before has begun.
    let begun = source.lines().filter_map(documents).step_by(2);
    let mut compiled = begun.filter(|words| {
        words.is_empty() || COMPILED.iter().any(|begins| words.starts_with(begins))
    });
    compiled.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_found_and_pictures_are_not() {
        let of = |fences: &[&str]| {
            let lines = fences.iter().map(|words| format!("    /// ```{words}\n    /// x\n"));
            has_example(&lines.collect::<String>())
        };
        assert!(of(&["", ""]) && of(&["no_run", ""]) && of(&["compile_fail,E0061", ""]));
        assert!(!of(&["text", ""]) && !of(&["toml", "", "text", ""]) && !of(&[]));
        assert!(of(&["text", "", "", ""]), "the second one");
        assert!(!has_example("// ```\nlet fence = \"```\";\n"));
    }

    #[test]
    fn packages_with_examples_are_known() {
        let packages = packages().unwrap();
        assert!(packages.iter().any(|name| name == "giusto-rt"), "{packages:?}");
        assert!(packages.iter().all(|name| name != "manifest"), "{packages:?}");
    }
}
