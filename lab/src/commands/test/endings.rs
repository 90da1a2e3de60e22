//! Runs that do not end by themselves: the user's input ends, nothing ends, the kernel panics.

use super::findings::{Findings, built};
use super::job::{Class, Job};
use super::{giusto, process};
use crate::cli::Group;
use crate::image::{self, Images};
use crate::machine::{self, Boot, Console, Exit, Input, MACHINES, Machine, Outcome};
use crate::systems;
use abi::boot::HEADER_WORDS;
use anyhow::{Context, Result, anyhow};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Kernels whose shell is tried in each run: the one with most and the one with fewest shortcuts.
const KERNELS: [&str; 2] = ["fastpath", "strict-eager"];

/// Seconds after which the hanging system is ended.
const HANG_TIMEOUT: &str = "3";

/// A system whose only program waits for ever.
pub const HANGING: &str = r#"
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

/// How runs end on each machine's usual board.
pub fn jobs() -> Vec<Job> {
    MACHINES.into_iter().flat_map(on).collect()
}

fn on(machine: &'static dyn Machine) -> Vec<Job> {
    let job = |name: String, check: Check| {
        let work = move |_: &mut Findings| {
            let images = built(image::build(machine))?;
            check(machine, &images)?.map_err(|failure| anyhow!(failure))
        };
        Job::new(Group::Target, format!("{name}, on {}", machine.name()), work).builds("image")
    };
    let one = |name: &str, check: fn(&dyn Machine, &Images) -> Judged| {
        job(name.to_string(), Box::new(check))
    };
    let mut jobs = vec![
        one("an unknown kernel is refused", |machine, _| unknown_kernel(machine)),
        one("a damaged archive panics", panic_for_archive),
    ];
    if machine.emulator().is_some() {
        jobs.push(one("a hanging guest is ended with a message", |machine, _| hang(machine)));
        jobs.push(one("a kernel that is not in the image panics", panic_for_name));
    } else {
        jobs.push(one("a guest in which all wait is ended with a message", |machine, _| {
            stuck(machine)
        }));
    }
    for kernel in manifest::KERNELS {
        let class = if KERNELS.contains(&kernel) { Class::Usual } else { Class::Deep };
        let check: Check = Box::new(move |machine, images| shell(machine, images, kernel));
        jobs.push(job(format!("the shell under {kernel}"), check).configuration().class(class));
    }
    jobs
}

type Judged = Result<Result<(), String>>;
type Check = Box<dyn FnOnce(&dyn Machine, &Images) -> Judged + Send>;

fn boot<'a>(
    machine: &'a dyn Machine,
    images: &'a Images,
    system: &'a manifest::System,
    kernel: &'a str,
) -> Boot<'a> {
    Boot::new(machine, images, system).kernel(kernel).timeout(TIMEOUT)
}

fn shell(machine: &dyn Machine, images: &Images, kernel: &str) -> Judged {
    let system = systems::load("shell")?;
    let console = Console { show: false, input: Input::Script(TYPED) };
    let outcome = machine::boot(&boot(machine, images, &system, kernel).console(console))?;
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

/// What this program says on standard error, with its exit status.
fn said(arguments: &[&str]) -> Result<(Option<i32>, String)> {
    let ended = process::run_apart(giusto()?.args(arguments), TIMEOUT)?;
    Ok((ended.code(), ended.errors))
}

fn expect(said: (Option<i32>, String), status: i32, text: &str) -> Result<(), String> {
    if said.0 == Some(status) && said.1.contains(text) {
        Ok(())
    } else {
        Err(format!("expected status {status} and `{text}`, but got {:?} and:\n{}", said.0, said.1))
    }
}

fn hang(machine: &dyn Machine) -> Judged {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("hanging.toml");
    std::fs::write(&path, HANGING)?;
    let path = path.to_str().context("the temporary directory's name is not text")?;
    let said =
        said(&["run", path, "--machine", machine.name(), "--timeout", HANG_TIMEOUT, "--icount"])?;
    Ok(expect(said, 1, "the system was still running at the timeout and was ended"))
}

fn stuck(machine: &dyn Machine) -> Judged {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("hanging.toml");
    std::fs::write(&path, HANGING)?;
    let path = path.to_str().context("the temporary directory's name is not text")?;
    let said = said(&["run", path, "--machine", machine.name()])?;
    Ok(expect(said, 1, "every thread waits, and nothing will happen"))
}

fn unknown_kernel(machine: &dyn Machine) -> Judged {
    let said = said(&["run", "hello", "--machine", machine.name(), "--kernel", "nosuch"])?;
    Ok(expect(said, 2, "invalid value 'nosuch'"))
}

fn panic_for_name(machine: &dyn Machine, images: &Images) -> Judged {
    let system = systems::load("hello")?;
    let outcome = machine::boot(&boot(machine, images, &system, "nosuch"))?;
    Ok(panicked(&outcome, "KERNEL PANIC: no such kernel in this image\n", Some("ports/")))
}

fn panic_for_archive(machine: &dyn Machine, images: &Images) -> Judged {
    let system = systems::load("hello")?;
    // The second record, behind the pools, gets a code that no record has.
    let at = (HEADER_WORDS + abi::boot::Record::Pools.words()) * size_of::<u64>();
    let spoil = move |archive: &mut [u8]| archive[at] = 0xff;
    let launch = boot(machine, images, &system, &system.kernel);
    let outcome = machine::boot_spoilt(&launch, &spoil)?;
    let message = "the boot archive has a malformed record at word ";
    // Where there is no symbol to look up, the message itself says where.
    let frame = machine.emulator().map(|_| "kernel::boot::");
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
