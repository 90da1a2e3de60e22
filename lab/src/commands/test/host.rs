//! What runs on the host: formatting, lints, tests.

use super::suite::Suite;
use crate::machine::MACHINES;
use crate::progress::Step;
use crate::workspace;
use anyhow::{Context, Result};
use std::process::Output;

fn cargo(title: &str, arguments: &[&str]) -> Result<Output> {
    let _step = Step::start(title);
    workspace::cargo(arguments).output().context("cannot run cargo; see `./giusto doctor`")
}

/// Standard error and, if that is empty, standard output.
fn complaint(output: &Output) -> String {
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|out| String::from_utf8_lossy(out));
    if stdout.trim().is_empty() { stderr.into_owned() } else { format!("{stdout}{stderr}") }
}

fn check(suite: &mut Suite, name: &str, arguments: &[&str]) -> Result<()> {
    let output = cargo(name, arguments)?;
    let held = output.status.success();
    suite.record(name, if held { Ok(()) } else { Err(complaint(&output)) });
    Ok(())
}

/// The source is formatted.
pub fn format(suite: &mut Suite) -> Result<()> {
    check(suite, "formatting", &["fmt", "--all", "--", "--check", "--color", "never"])
}

/// Clippy is content with what runs on the host, and with what runs on each machine.
pub fn lint(suite: &mut Suite) -> Result<()> {
    let host = ["clippy", "-q", "--all-targets", "--", "-D", "warnings"];
    check(suite, "clippy, host crates", &host)?;
    for machine in MACHINES.iter().filter_map(|machine| machine.emulator()) {
        let target = ["clippy", "-q", "--target", machine.target(), "-p", machine.port()];
        let programs = ["-p", "rt", "-p", "programs", "--", "-D", "warnings"];
        let name = format!("clippy, crates of {}", machine.name());
        check(suite, &name, &[&target[..], &programs].concat())?;
    }
    Ok(())
}

/// The tests of the host crates, each counted.
pub fn tests(suite: &mut Suite) -> Result<()> {
    let output = cargo("tests on the host", &["test", "--no-fail-fast"])?;
    count(suite, "host tests", &output);
    Ok(())
}

/// The models of the locks, explored. What they are built from differs from what everything else
/// is, so it is kept apart.
pub fn models(suite: &mut Suite) -> Result<()> {
    let _step = Step::start("models of the locks");
    let output = workspace::cargo(&["test", "--no-fail-fast", "-p", "locks", "--test", "loom"])
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", workspace::build_directory().join("loom"))
        .output()
        .context("cannot run cargo; see `./giusto doctor`")?;
    count(suite, "models of the locks", &output);
    Ok(())
}

/// Counts what a run of the harness printed.
fn count(suite: &mut Suite, what: &str, output: &Output) {
    let tests = parse(&String::from_utf8_lossy(&output.stdout));
    for (name, result) in &tests {
        suite.record_quietly(name, result.clone());
    }
    let failed = tests.iter().filter(|(_, result)| result.is_err()).count();
    suite.say(&format!("        {what}: {} of {} passed", tests.len() - failed, tests.len()));
    if failed == 0 && (tests.is_empty() || !output.status.success()) {
        suite.broken(what, String::from_utf8_lossy(&output.stderr).into_owned());
    }
}

/// The tests in the harness' output. One that was ignored did not run, which is no pass.
fn parse(output: &str) -> Vec<(String, Result<(), String>)> {
    let test = |line: &str| {
        let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        let result = match outcome.split([',', ' ']).next()? {
            "ok" => Ok(()),
            "FAILED" => Err(details(output, name)),
            "ignored" => Err("the test was ignored".to_string()),
            _ => return None,
        };
        Some((name.trim_end_matches(" - should panic").to_string(), result))
    };
    output.lines().filter_map(test).collect()
}

/// What a failed test printed.
fn details(output: &str, name: &str) -> String {
    let Some((_, rest)) = output.split_once(&format!("---- {name} stdout ----\n")) else {
        return "it failed without a word".to_string();
    };
    let end = rest.find("\n---- ").or_else(|| rest.find("\n\nfailures:")).unwrap_or(rest.len());
    rest[..end].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_harness_output_is_counted() {
        let output = "\nrunning 3 tests\n\
            test a::works ... ok\n\
            test a::breaks ... FAILED\n\
            test a::sleeps ... ignored\n\n\
            failures:\n\n---- a::breaks stdout ----\nthread panicked\nleft: 1\n\n\n\
            failures:\n    a::breaks\n\n\
            test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured\n\
            test abi/src/env.rs - env::get (line 3) ... ok\n";
        let tests = parse(output);
        let names: Vec<_> = tests.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["a::works", "a::breaks", "a::sleeps", "abi/src/env.rs - env::get (line 3)"]
        );
        assert!(tests[1].1.as_ref().unwrap_err().starts_with("thread panicked\nleft: 1"));
        assert!(tests[2].1.is_err());
        assert_eq!(tests.iter().filter(|(_, result)| result.is_ok()).count(), 2);
    }
}
