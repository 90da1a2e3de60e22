//! A search that is stopped says what it has done, and what has done nothing says nothing.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The fuzzer, in a group of its own as a shell starts it.
fn fuzzer(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO_BIN_EXE_lab").unwrap());
    command.args(["twin", "fuzz"]).args(arguments).process_group(0).stdout(Stdio::piped());
    command
}

/// Its exit status and what it says, if it is stopped after so long.
fn stopped(after: Duration, stop: fn(Pid)) -> (Option<i32>, Value) {
    let child = fuzzer(&["--minutes", "5", "--seed", "7", "--json"]).spawn().unwrap();
    thread::sleep(after);
    stop(Pid::from_child(&child));
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let told = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: `{said}`"));
    (output.status.code(), told)
}

/// Stops it once it has run a seed at least, which on a busy host takes longer.
fn stopped_in_time(stop: fn(Pid)) {
    // What it needs is built.
    assert!(fuzzer(&["--steps", "1"]).output().unwrap().status.success());
    let tries = [1, 2, 4, 8, 16].map(Duration::from_secs);
    let mut ended = tries.into_iter().map(|after| stopped(after, stop));
    let (status, told) = ended.find(|(_, told)| told["steps"] != 0).expect("a seed was run");
    assert_eq!(status, Some(130), "{told}");
    assert_eq!((&told["held"], &told["interrupted"]), (&true.into(), &true.into()), "{told}");
    assert!(told["seeds"][1].as_u64() > told["seeds"][0].as_u64(), "{told}");
    assert!(told["seconds"].as_f64() > Some(0.0) && told["reach"].is_object(), "{told}");
}

#[test]
fn the_fuzzer_that_is_told_to_end_says_what_it_has_done() {
    stopped_in_time(|fuzzer| kill_process(fuzzer, Signal::TERM).unwrap());
}

#[test]
fn the_fuzzer_that_a_terminal_interrupts_says_what_it_has_done() {
    // Who presses Ctrl-C interrupts the simulation's process, too.
    stopped_in_time(|fuzzer| kill_process_group(fuzzer, Signal::INT).unwrap());
}

#[test]
fn tests_that_are_interrupted_while_they_are_built_have_not_failed() {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut tests = Command::new(std::env::var_os("CARGO_BIN_EXE_lab").unwrap());
    tests.args(["test", "locks", "--only", "host"]).env("CARGO_TARGET_DIR", elsewhere.path());
    let mut tests = tests.process_group(0).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(tests.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().starts_with("building the tests of "));
    kill_process_group(Pid::from_child(&tests), Signal::INT).unwrap();
    assert_eq!(tests.wait().unwrap().code(), Some(130));
    assert_eq!(lines.collect::<Vec<_>>(), [""; 0]);
}
