//! Runs that do not end by themselves: the user's input ends, nothing ends, the kernel panics.

use super::suite::Suite;
use crate::image::Images;
use crate::machine::{self, Boot, Console, Exit, Input, Machine, Outcome};
use crate::progress::Step;
use crate::systems;
use abi::boot::HEADER_WORDS;
use anyhow::{Context, Result};
use std::process::Command;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Seconds after which the hanging system is ended.
const HANG_TIMEOUT: &str = "3";

/// A system whose only program waits for ever.
const HANGING: &str = r#"
[system]
name = "hanging"

[[endpoint]]
name = "echo"

[[domain]]
name = "echo"
program = "echo"
priority = 100
caps = [{ name = "echo", endpoint = "echo", rights = ["receive"] }]
"#;

/// Typed into the shell; then the input ends.
const TYPED: &str =
    "help\nps\nmem\ncaps\nping 5\nstats\nkill counter\nps\ncount\nkill nobody\nnonsense\n";

/// What the shell answers, in this order.
const ANSWERS: [&str; 14] = [
    "giusto> help\n  ps ",
    "giusto> ps\n  domain ",
    "\n  counter ",
    "giusto> mem\n",
    "\n  slots ",
    "giusto> caps\n  slot kind ",
    " endpoint      send ",
    "giusto> ping 5\n  5 round trips in counter ticks: min ",
    "giusto> stats\n",
    "giusto> kill counter\n  counter has ended\n",
    "giusto> count\ncount: no answer: ",
    "there is no domain 'nobody'",
    "nonsense: no such command",
    "giusto> exit\n  goodbye\n",
];

/// Checks all of it on a machine's usual board.
pub fn check(suite: &mut Suite, machine: &dyn Machine, images: &Images) {
    let _step = Step::start(format!("how runs end on {}", machine.name()));
    let mut record = |name: &str, result: Result<Result<(), String>>| {
        let result = result.unwrap_or_else(|error| Err(format!("{error:#}")));
        suite.record(format!("{name}, on {}", machine.name()), result);
    };
    for kernel in manifest::KERNELS {
        record(&format!("the shell under {kernel}"), shell(machine, images, kernel));
    }
    record("an unknown kernel is refused", unknown_kernel(machine));
    record("a damaged archive panics", panic_for_archive(machine, images));
    if machine.emulator().is_some() {
        record("a hanging guest is ended with a message", hang(machine));
        record("a kernel that is not in the image panics", panic_for_name(machine, images));
    } else {
        record("a guest in which all wait is ended with a message", stuck(machine));
    }
}

fn boot<'a>(
    machine: &'a dyn Machine,
    images: &'a Images,
    system: &'a manifest::System,
    kernel: &'a str,
) -> Boot<'a> {
    Boot {
        machine,
        board: machine.boards()[0],
        images,
        system,
        kernel,
        icount: None,
        console: Console::CAPTURE,
        timeout: Some(TIMEOUT),
        inspect: false,
        log: false,
        sampling: None,
        simulation: Default::default(),
        slices: true,
    }
}

fn shell(machine: &dyn Machine, images: &Images, kernel: &str) -> Result<Result<(), String>> {
    let system = systems::load("shell")?;
    let console = Console { show: false, input: Input::Script(TYPED) };
    let outcome = machine::boot(&Boot { console, ..boot(machine, images, &system, kernel) })?;
    // The simulation always counts, this image does not.
    let statistics = match machine.emulator() {
        Some(_) => "stats\nstats: the kernel was built without statistics",
        None => "stats\n  eager ",
    };
    Ok(match outcome.failure() {
        Some(failure) => Err(failure),
        None => in_order(&outcome.console, &ANSWERS)
            .and_then(|()| in_order(&outcome.console, &[statistics])),
    })
}

/// Whether texts follow each other in a text.
fn in_order(text: &str, parts: &[&str]) -> Result<(), String> {
    let mut rest = text;
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else {
            return Err(format!("{part:?} is missing in:\n{rest}"));
        };
        rest = after;
    }
    Ok(())
}

/// Runs this program as a user would; its exit status and what it says on standard error.
fn giusto(arguments: &[&str]) -> Result<(Option<i32>, String)> {
    let program = std::env::current_exe().context("this program has no path")?;
    let output = Command::new(program).args(arguments).stdin(std::process::Stdio::null()).output();
    let output = output.context("this program cannot run itself")?;
    Ok((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

fn expect(said: (Option<i32>, String), status: i32, text: &str) -> Result<(), String> {
    if said.0 == Some(status) && said.1.contains(text) {
        Ok(())
    } else {
        Err(format!("expected status {status} and `{text}`, but got {:?} and:\n{}", said.0, said.1))
    }
}

fn hang(machine: &dyn Machine) -> Result<Result<(), String>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("hanging.toml");
    std::fs::write(&path, HANGING)?;
    let path = path.to_str().context("the temporary directory's name is not text")?;
    let said =
        giusto(&["run", path, "--machine", machine.name(), "--timeout", HANG_TIMEOUT, "--icount"])?;
    Ok(expect(said, 1, "the system was still running at the timeout and was ended"))
}

fn stuck(machine: &dyn Machine) -> Result<Result<(), String>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("hanging.toml");
    std::fs::write(&path, HANGING)?;
    let path = path.to_str().context("the temporary directory's name is not text")?;
    let said = giusto(&["run", path, "--machine", machine.name()])?;
    Ok(expect(said, 1, "every thread waits, and nothing will happen"))
}

fn unknown_kernel(machine: &dyn Machine) -> Result<Result<(), String>> {
    let said = giusto(&["run", "hello", "--machine", machine.name(), "--kernel", "nosuch"])?;
    Ok(expect(said, 2, "invalid value 'nosuch'"))
}

fn panic_for_name(machine: &dyn Machine, images: &Images) -> Result<Result<(), String>> {
    let system = systems::load("hello")?;
    let outcome = machine::boot(&boot(machine, images, &system, "nosuch"))?;
    Ok(panicked(&outcome, "KERNEL PANIC: no such kernel in this image\n", Some("ports/")))
}

fn panic_for_archive(machine: &dyn Machine, images: &Images) -> Result<Result<(), String>> {
    let system = systems::load("hello")?;
    // The second record, behind the pools, gets a code that no record has.
    let at = (HEADER_WORDS + abi::boot::Record::Pools.words()) * size_of::<u64>();
    let spoil = move |archive: &mut [u8]| archive[at] = 0xff;
    let launch = boot(machine, images, &system, &system.kernel);
    let outcome = machine::boot_spoilt(&launch, &spoil)?;
    let message = "the boot archive has a malformed record at word ";
    // Where there is no symbol to look up, the message itself says where.
    let frame = machine.emulator().map(|_| "kernel/src/boot.rs:");
    Ok(panicked(&outcome, message, frame))
}

/// Whether a run ended with the status of a panic, a message and a backtrace with names.
fn panicked(outcome: &Outcome, message: &str, frame: Option<&str>) -> Result<(), String> {
    let shown = outcome.failure().unwrap_or_default();
    if outcome.exit != Exit::Panic {
        return Err(format!("the run did not end in a panic: {:?}\n{shown}", outcome.exit));
    }
    if !outcome.console.contains(message) {
        return Err(format!("the message `{message}` is missing: {shown}"));
    }
    let named = |frame| {
        outcome.backtrace.iter().any(|line: &String| line.contains(" at ") && line.contains(frame))
    };
    if let Some(frame) = frame
        && !named(frame)
    {
        return Err(format!("no line of the backtrace names {frame}: {shown}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_must_come_in_order() {
        assert_eq!(in_order("a b c", &["a", "c"]), Ok(()));
        assert!(in_order("a b c", &["c", "a"]).unwrap_err().starts_with("\"a\" is missing"));
    }

    #[test]
    fn status_and_message_are_both_expected() {
        let said = |status| (Some(status), "error: no".to_string());
        assert_eq!(expect(said(2), 2, "no"), Ok(()));
        assert!(expect(said(1), 2, "no").is_err());
        assert!(expect(said(2), 2, "yes").is_err());
    }

    #[test]
    fn the_hanging_system_is_right() {
        assert!(manifest::parse("hanging.toml", HANGING).is_ok());
    }
}
