//! What Miri interprets: the tests that reach the `unsafe` code of the kernel's core, and those in
//! which threads share its cells and locks. A file of tests is a job.

use super::builds::Builds;
use super::findings::Findings;
use super::host::{sources, tests_in};
use super::job::{Class, Job};
use super::process;
use crate::cli::Group;
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The toolchain with Miri; the launcher installs it.
const TOOLCHAIN: &str = "nightly";

/// Files may be read, and machines are never freed.
const FLAGS: &str = "-Zmiri-strict-provenance -Zmiri-disable-isolation -Zmiri-ignore-leaks";

/// A property is tried once: Miri takes a thousand times as long.
const ONE_CASE: (&str, &str) = ("PROPTEST_CASES", "1");

/// No file of tests takes longer.
const LIMIT: Duration = Duration::from_secs(3600);

/// Whether tests have one thread, or several whose turns Miri chooses by seed.
#[derive(Clone, Copy, PartialEq)]
enum Turns {
    One,
    Chosen,
}

/// Tests of a package.
struct Tests {
    package: &'static str,
    /// What cargo is told beside the package.
    arguments: &'static [&'static str],
    /// Where they lie.
    folder: &'static str,
    turns: Turns,
}

const TESTS: [Tests; 6] = [
    Tests {
        package: "cells",
        arguments: &["--features", "shared", "--test", "shared"],
        folder: "cells/tests/shared.rs",
        turns: Turns::Chosen,
    },
    Tests {
        package: "locks",
        arguments: &["--test", "threads"],
        folder: "locks/tests/threads.rs",
        turns: Turns::Chosen,
    },
    Tests {
        package: "locks",
        arguments: &["--test", "objects"],
        folder: "locks/tests/objects.rs",
        turns: Turns::One,
    },
    Tests {
        package: "locks",
        arguments: &["--test", "elided"],
        folder: "locks/tests/elided.rs",
        turns: Turns::One,
    },
    Tests {
        package: "kernel",
        arguments: &["--test", "hosted"],
        folder: "kernel/tests/hosted",
        turns: Turns::One,
    },
    Tests { package: "twin", arguments: &["--lib"], folder: "ports/twin/src", turns: Turns::One },
];

/// Files whose tests need what Miri has not: stacks that the twin switches by itself, and pages of
/// the host at given addresses.
const NOT_REACHED: [&str; 2] =
    ["ports/twin/src/transactions/tests.rs", "ports/twin/src/machine_code/tests.rs"];

/// Tests of the kernel that boot no machine. How long a machine takes on whose memory Miri follows
/// who may use which reference grows with the square of its memory: there it does not follow that.
const WITHOUT_MACHINE: [&str; 4] = [
    "kernel/tests/hosted/structures/capabilities.rs",
    "kernel/tests/hosted/structures/lists.rs",
    "kernel/tests/hosted/structures/senders.rs",
    "kernel/tests/hosted/structures/time.rs",
];

/// A job for each file.
pub fn jobs() -> Result<Vec<Job>> {
    let mut jobs = Vec::new();
    for tests in &TESTS {
        let folder = workspace::root().join(tests.folder);
        for path in sources(&folder) {
            let shown = path.strip_prefix(workspace::root())?.to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path)?;
            let names = tests_in(&text);
            if !names.is_empty() && !NOT_REACHED.contains(&shown.as_str()) {
                let inside = path.strip_prefix(&folder).unwrap_or(Path::new(""));
                jobs.push(job(tests, shown, filters(inside, &names)));
            }
        }
    }
    Ok(jobs)
}

/// The names by which the tests of a file are chosen, where it lies in a tree of modules.
fn filters(inside: &Path, names: &[String]) -> Vec<String> {
    let path = inside.with_extension("").to_string_lossy().replace('/', "::");
    match path.strip_suffix("mod").or(path.strip_suffix("lib")) {
        Some(module) => names.iter().map(|name| format!("{module}{name}")).collect(),
        None if path.is_empty() => names.to_vec(),
        None => vec![format!("{path}::")],
    }
}

fn job(tests: &Tests, shown: String, filters: Vec<String>) -> Job {
    let &Tests { package, arguments, turns, .. } = tests;
    let machine = package == "kernel" && !WITHOUT_MACHINE.contains(&shown.as_str());
    let aliasing = if machine { " -Zmiri-disable-stacked-borrows" } else { "" };
    let work = move |_: &mut Findings| {
        let seeds = match turns {
            Turns::One => " -Zmiri-disable-data-race-detector",
            Turns::Chosen => " -Zmiri-many-seeds=0..8",
        };
        let flags = format!("{FLAGS}{seeds}{aliasing}");
        let mut command = Command::new("cargo");
        command.current_dir(workspace::root()).env_remove("CARGO").envs([ONE_CASE]);
        command.env("RUSTUP_TOOLCHAIN", TOOLCHAIN).env("MIRIFLAGS", flags);
        command.env("CARGO_TARGET_DIR", workspace::build_directory().join("miri"));
        command.args(["miri", "test", "-p", package]).args(arguments).arg("--").args(&filters);
        let ended = process::run(&mut command, LIMIT)?;
        if let Some(failure) = ended.failure(60) {
            bail!(
                "{failure}\nMiri comes with: rustup toolchain install {TOOLCHAIN} --profile \
                 minimal --component miri --component rust-src"
            );
        }
        ensure!(passed(&ended.output)? > 0, "no test ran");
        Ok(())
    };
    Job::new(Group::Search, format!("Miri on {shown}"), work)
        .class(Class::Deep)
        .builds(Builds::Own("its package, for Miri"))
        .seconds(60.0)
}

/// How many tests passed, of all programs that ran.
fn passed(output: &str) -> Result<u64> {
    let ends = output.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    let count = |end: &str| {
        let count = end.split(' ').next().and_then(|count| count.parse::<u64>().ok());
        count.with_context(|| format!("no number of tests in `{end}`"))
    };
    ends.map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_chosen_by_file() {
        let names = ["one".to_string(), "two".to_string()];
        let filters = |path| filters(Path::new(path), &names);
        assert_eq!(filters("fuzz.rs"), ["fuzz::"]);
        assert_eq!(filters("situations/rights.rs"), ["situations::rights::"]);
        assert_eq!(filters("model/mod.rs"), ["model::one", "model::two"]);
        assert_eq!(filters("lib.rs"), names);
        assert_eq!(filters(""), names, "a test program of one file");
    }

    #[test]
    fn every_file_with_tests_is_a_job() {
        let names: Vec<String> = jobs().unwrap().into_iter().map(|job| job.name).collect();
        let has = |path: &str| names.contains(&format!("Miri on {path}"));
        assert!(has("cells/tests/shared.rs") && has("locks/tests/threads.rs"));
        assert!(has("kernel/tests/hosted/fuzz.rs") && has("kernel/tests/hosted/model/mod.rs"));
        assert!(has("ports/twin/src/lines.rs") && !has(NOT_REACHED[0]));
        let mut named = NOT_REACHED.iter().chain(&WITHOUT_MACHINE);
        assert!(named.all(|path| workspace::root().join(path).is_file()));
        assert!(!names.iter().any(|name| name.contains("/support/")), "no test lies there");
    }

    #[test]
    fn a_run_without_tests_is_no_pass() {
        let end = |count| format!("test result: ok. {count} passed; 0 failed; 0 ignored;");
        let output = format!("running 2 tests\n{}\nrunning 0 tests\n{}\n", end(2), end(0));
        assert_eq!(passed(&output).unwrap(), 2);
        assert_eq!(passed(&end(0)).unwrap(), 0);
        assert_eq!(passed("").unwrap(), 0);
    }
}
