//! Runs that do not end by themselves: the user's input ends, nothing ends, the kernel panics.

use super::configuration::Configuration;
use super::job::{Class, Job};
use super::{giusto, process};
use crate::accounts::{Accounts, Bounds};
use crate::cli::Group;
use crate::image::{self, Images};
use crate::machine::{self, Boot, Console, Exit, MACHINES, Machine, Outcome, STUCK, Shared};
use crate::scratch::Scratch;
use crate::unreceived;
use abi::boot::HEADER_WORDS;
use anyhow::{Context, Result, ensure};
use manifest::System;
use std::collections::BTreeSet;
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

/// What its thread waits for.
const WAITS: &str = "waits for a message or signal from `echo`";

/// Typed into the shell; then the input ends. The last lines are brought back by arrows: the one
/// before, that one again from the one before it, the oldest of eight, and a new one is mended.
const TYPED: &str = "help\nps\nmem\ncaps\nping 5\nstats\nkill counter\nps\ncount\nkill absent\n\
     nonsense\n\
     \x1b[A\n\
     \x1b[A\x1b[A\x1b[B\n\
     \x1b[A\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A\n\
     \x1b[A\x1b[Bmap\x1bOD\x1bOD\x1bOD\x1b[Ce\x7fe\x1b[C\x1b[C\x7f\x7fm\n";

/// What the shell answers, in this order.
const ANSWERS: [&str; 19] = [
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
    "there is no domain 'absent'",
    "nonsense: no such command",
    "giusto> nonsense\nnonsense: no such command",
    "\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08nonsense   \x08\x08\x08\nnonsense: no such",
    "caps  \x08\x08\n  slot kind ",
    "giusto> caps",
    "\x08m\n                         all ",
    "giusto> exit\n  goodbye\n",
];

/// How runs end on each machine's usual board.
pub fn jobs() -> Vec<Job> {
    MACHINES.into_iter().flat_map(on).collect()
}

fn on(machine: &'static dyn Machine) -> Vec<Job> {
    let plain = Configuration::plain(machine, "hello");
    let job = |name: &str, one: Configuration, check: fn(&Configuration) -> Result<()>| {
        let name = format!("{name}, on {}", machine.name());
        Job::new(Group::Target, name, move |_| check(&one)).builds(one.builds())
    };
    let mut jobs = vec![
        job("an unknown kernel is refused", plain, unknown_kernel),
        job("a damaged archive panics", plain, panic_for_archive),
    ];
    jobs.push(job("a guest in which all wait is ended with what each waits for", plain, stuck));
    jobs.push(job("so is one of several CPUs", plain, stuck_apart));
    jobs.push(job("one whose only program has panicked ends at once", plain, stuck_by_a_panic));
    jobs.push(job("at a timeout each thread is told", plain, hang_with_waits));
    if machine.emulator().is_some() {
        let unknown = Configuration { kernel: "nosuch", ..plain };
        jobs.push(job("a hanging guest is ended with a message", plain, hang));
        jobs.push(job("a kernel that is not in the image panics", unknown, panic_for_name));
        jobs.push(job("no program gets what is the machine's own", plain, panic_for_devices));
        let tree = Configuration { kernel: manifest::TREE, ..plain };
        jobs.push(job("all policies are of one kernel", tree, one_kernel).configuration());
    }
    for kernel in manifest::KERNELS {
        let class = if KERNELS.contains(&kernel) { Class::Usual } else { Class::Deep };
        let one = Configuration { kernel, system: "shell", ..plain };
        jobs.push(
            job(&format!("the shell under {kernel}"), one, shell).configuration().class(class),
        );
    }
    let one = Configuration { system: "shell", ..plain };
    jobs.push(job("a server that never serves is named", one, deaf).configuration());
    let one = Configuration { kernel: manifest::TREE, system: "overload", ..plain };
    jobs.push(job("a monitor is told of what comes late", one, overload).configuration());
    jobs
}

/// At the pace of the clock.
fn timed(boot: Boot) -> Boot {
    Boot { icount: None, ..boot.inspect(false) }
}

fn shell(one: &Configuration) -> Result<()> {
    let console = Console::typed(Shared::text(TYPED));
    let boot = |boot: Boot| machine::boot(&timed(boot).console(console));
    let outcome = one.boot(&one.load()?, boot)?;
    // The simulation always counts, this image does not.
    let statistics = match one.machine.emulator() {
        Some(_) => "stats\nstats: the kernel was built without statistics",
        None => "stats\n  eager ",
    };
    let failure = outcome.failure();
    ensure!(failure.is_none(), failure.unwrap_or_default());
    in_order(&outcome.console, &ANSWERS)?;
    in_order(&outcome.console, &[statistics])?;
    listed(&outcome.console, one.machine.emulator().is_some())
}

/// A program that may receive, and sleeps instead: the message to it ends at its deadline. The
/// other one serves.
fn deaf(one: &Configuration) -> Result<()> {
    let mut system = one.load()?;
    let deaf = system.domains.iter_mut().find(|domain| domain.name == "echo");
    deaf.context("the shell has a domain to talk to")?.program = "curfew".to_string();
    let console = Console::typed(Shared::text("ping\ncount\nexit\n"));
    let outcome = one.boot(&system, |boot| machine::boot(&timed(boot).console(console)))?;
    in_order(&outcome.console, &["ping: echo does not answer", "the counter is at"])?;
    let told = unreceived::told(&outcome, &system, &Images::default());
    let told: String = told.iter().map(ToString::to_string).collect();
    ensure!(told.starts_with("1 message to `echo` was given up"), "{told}");
    ensure!(told.ends_with("of echo has ended, or sleeps for ever\n"), "{told}");
    Ok(())
}

/// Boots a system that is to end well: what it printed, and the accounts that its kernel left.
fn accounted(one: &Configuration) -> Result<(Outcome, Accounts)> {
    let mut system = one.load()?;
    let left = system.add_accounts();
    let outcome = one.boot(&system, |boot: Boot| machine::boot(&boot.inspect(false)))?;
    let failure = outcome.failure();
    ensure!(failure.is_none(), failure.unwrap_or_default());
    let told = Accounts::told(&outcome, &system, left.as_ref(), &Bounds::default());
    Ok((outcome, told))
}

/// The monitor says what the kernel leaves in its accounts.
fn overload(one: &Configuration) -> Result<()> {
    let (outcome, told) = accounted(one)?;
    let vision = told.of("vision").context("vision had a reservation")?;
    ensure!(vision.missed == Some(2) && vision.overruns == Some(2), "{vision:?}");
    let told_of = ["vision: has used its budget up in job 1", "vision: job 2 is late, by "];
    in_order(&outcome.console, &told_of)?;
    let latest = vision.latest_ns / 1_000;
    let by = |line: &str| line.strip_prefix(told_of[1])?.split(' ').next()?.parse::<u64>().ok();
    let by = outcome.console.lines().find_map(by).context("it says by how much")?;
    ensure!((1..=latest).contains(&by), "late by {by} us of {latest} us");
    is_never_late(&told, "control")
}

/// Systems of different policies need the same kernel.
fn one_kernel(one: &Configuration) -> Result<()> {
    const SYSTEMS: [&str; 4] =
        ["mixed-priorities", "mixed-deadlines", "mixed-curves", "partitions"];
    let kernel = |system| {
        let system = Configuration { system, ..*one }.load()?;
        Ok(image::build_for(one.machine, &system)?.kernel)
    };
    let kernels = SYSTEMS.map(kernel).into_iter().collect::<Result<BTreeSet<_>>>()?;
    ensure!(kernels.len() == 1, "{kernels:?}");
    Ok(())
}

fn is_never_late(told: &Accounts, name: &str) -> Result<()> {
    let account = told.of(name).with_context(|| format!("{name} had a reservation"))?;
    ensure!(account.missed == Some(0) && account.overruns == Some(0), "{account:?}");
    Ok(())
}

/// Whether `ps` tells of the shell's own thread how long it has run, where the kernel counts that
/// as in the simulation, and how much of its stack it has used, where that is a domain's as on the
/// emulator.
fn listed(console: &str, emulated: bool) -> Result<()> {
    let row = |line: &str| {
        let words: Vec<_> = line.split_whitespace().map(str::to_string).collect();
        <[String; 6]>::try_from(words).ok().filter(|words| words[0] == "shell")
    };
    let [_, _, _, time, stack, _] = console.lines().find_map(row).context("`ps` lists no shell")?;
    let counted = time.parse::<f64>().is_ok_and(|time| time > 0.0);
    ensure!(counted != emulated, "a CPU time of `{time}`");
    let (used, size) = stack.split_once('/').context("no stack")?;
    let (used, size) = (used.parse::<u64>()?, size.trim_end_matches('K').parse::<u64>()?);
    ensure!((used > 0) == emulated && used < size << 10, "a stack of `{stack}`");
    Ok(())
}

/// Whether texts follow each other in a text.
fn in_order(text: &str, parts: &[&str]) -> Result<()> {
    let mut rest = text;
    for part in parts {
        let behind = rest.split_once(part).map(|(_, behind)| behind);
        rest = behind.with_context(|| format!("{part:?} is missing in:\n{rest}"))?;
    }
    Ok(())
}

/// Runs this program, which must end with a status and say a text on standard error.
fn says(arguments: &[&str], status: i32, text: &str) -> Result<()> {
    let ended = process::run_apart(giusto()?.args(arguments), TIMEOUT)?;
    expect(ended.code(), &ended.errors, status, text)
}

fn expect(code: Option<i32>, said: &str, status: i32, text: &str) -> Result<()> {
    let right = code == Some(status) && said.contains(text);
    ensure!(right, "expected status {status} and `{text}`, but got {code:?} and:\n{said}");
    Ok(())
}

/// Runs a system that never ends; it must end with status 1 and a text.
fn hanging(one: &Configuration, system: &str, options: &[&str], text: &str) -> Result<()> {
    ended(one, system, options, (1, text))
}

/// Runs a system that never ends; it must end with a status and a text.
fn ended(
    one: &Configuration,
    system: &str,
    options: &[&str],
    (status, text): (i32, &str),
) -> Result<()> {
    let folder = Scratch::new()?;
    let path = folder.path().join("hanging.toml");
    std::fs::write(&path, system)?;
    let path = path.to_str().context("the temporary directory's name is not text")?;
    says(&[&["run", path, "--machine", one.machine.name()], options].concat(), status, text)
}

fn hang(one: &Configuration) -> Result<()> {
    let options = ["--timeout", HANG_TIMEOUT, "--icount"];
    let endless = HANGING.replace("program = \"echo\"", "program = \"runaway\"");
    hanging(one, &endless, &options, "the system was still running at the timeout and was ended")
}

/// A domain whose thread sleeps without end, and what is said of it.
const ENDED: &str = "\n[[domain]]\nname = \"ended\"\nprogram = \"curfew\"\npriority = 10\n";
const FOREVER: &str = "ended has ended, or sleeps for ever";

/// Threads that all wait, of which one sleeps without end, as one does whose function has returned.
fn stuck(one: &Configuration) -> Result<()> {
    let text = format!("thread 1 of echo {WAITS}\nthread 2 of {FOREVER}\nerror: {STUCK}\n");
    hanging(one, &format!("{HANGING}{ENDED}"), &["--timeout", "50"], &text)
}

/// The same on CPUs of which one idles.
fn stuck_apart(one: &Configuration) -> Result<()> {
    let text = format!("thread 2 of echo {WAITS}\nthread 3 of {FOREVER}\nerror: {STUCK}\n");
    hanging(one, &format!("{HANGING}{ENDED}"), &["--timeout", "50", "--cpus", "2"], &text)
}

/// A system whose only program panics, and may not end the run.
const PANICKING: &str = r#"
[system]
name = "panicking"

[[domain]]
name = "judge"
program = "crash"
priority = 100
args = { how = "panic" }
"#;

/// The thread has stopped: on each number of CPUs that is the end.
fn stuck_by_a_panic(one: &Configuration) -> Result<()> {
    let text = format!("error: {STUCK}\njudge panicked: as the manifest says");
    for cpus in ["1", "2"] {
        ended(one, PANICKING, &["--timeout", "50", "--cpus", cpus], (4, &text))?;
    }
    Ok(())
}

/// Threads of a run that is ended at its timeout, of which one does nothing but compute.
fn hang_with_waits(one: &Configuration) -> Result<()> {
    let busy = "\n[[domain]]\nname = \"busy\"\nprogram = \"runaway\"\npriority = 10\n";
    let text = format!(
        "thread 1 of echo {WAITS}\nthread 2 of busy is ready to run\nthe system was still running"
    );
    let system = format!("{HANGING}{busy}");
    hanging(one, &system, &["--timeout", HANG_TIMEOUT], &text)
}

fn unknown_kernel(one: &Configuration) -> Result<()> {
    let arguments = ["run", one.system, "--machine", one.machine.name(), "--kernel", "nosuch"];
    says(&arguments, 2, "invalid value 'nosuch'")
}

fn panic_for_name(one: &Configuration) -> Result<()> {
    let outcome = one.boot(&one.load()?, |boot| machine::boot(&timed(boot)))?;
    panicked(&outcome, "KERNEL PANIC: no such kernel in this image\n", Some("ports/"))
}

fn panic_for_archive(one: &Configuration) -> Result<()> {
    // The second record, behind the pools, gets a code that no record has.
    let at = (HEADER_WORDS + abi::boot::Record::Pools.words()) * size_of::<u64>();
    let spoil = move |archive: &mut [u8]| archive[at] = 0xff;
    let outcome = one.boot(&one.load()?, |boot| machine::boot_spoilt(&timed(boot), &spoil))?;
    let message = "the boot archive has a malformed record at word ";
    // Where there is no symbol to look up, the message itself says where.
    let frame = one.machine.emulator().map(|_| "kernel::boot::");
    panicked(&outcome, message, frame)
}

/// Device memory where interrupts are sent and routed, in HyperTransport's addresses, and beyond
/// what the processor reaches.
const NO_DEVICES: [&str; 6] =
    ["0xfec10000", "0xfee01000", "0xfeeff000", "0xfd00000000", "0xfffffff000", "0x8000000000000"];
/// An interrupt, and a memory.
const DEVICE: &str = "[[notification]]\nname = \"bell\"\n\
     [[interrupt]]\nname = \"timer\"\nirq = 3\nnotification = \"bell\"\n\
     [[memory]]\nname = \"registers\"\nsize = \"4K\"\nat = 0xfed00000\n";

/// The kernel looks for itself: the manifest cannot know which machine boots it.
fn panic_for_devices(one: &Configuration) -> Result<()> {
    let refused = |system: &System, message: &str| {
        let outcome = one.boot(system, |boot| machine::boot(&timed(boot)))?;
        panicked(&outcome, message, None)
    };
    let text = format!("{HANGING}{DEVICE}");
    let mut system = manifest::parse("device.toml", &text)?;
    system.interrupts[0].irq = 2;
    refused(&system, "IRQ 2 is the machine's own\n")?;
    for at in NO_DEVICES {
        let system = manifest::parse("device.toml", &text.replace("0xfed00000", at))?;
        refused(&system, &format!("this machine has no device memory at {at}\n"))?;
    }
    Ok(())
}

/// Whether a run ended with the status of a panic, a message and a backtrace with names.
fn panicked(outcome: &Outcome, message: &str, frame: Option<&str>) -> Result<()> {
    let (exit, shown) = (&outcome.exit, outcome.failure().unwrap_or_default());
    ensure!(*exit == Exit::Panic, "the run did not end in a panic: {exit:?}\n{shown}");
    let said = outcome.console.contains(message);
    ensure!(said, "the message `{message}` is missing: {shown}");
    let named = |frame| {
        outcome.backtrace.iter().any(|line: &String| line.contains(" at ") && line.contains(frame))
    };
    let missing = frame.filter(|frame| !named(*frame));
    ensure!(missing.is_none(), "no line of the backtrace names {missing:?}: {shown}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_must_come_in_order() {
        assert!(in_order("a b c", &["a", "c"]).is_ok());
        let error = in_order("a b c", &["c", "a"]).unwrap_err().to_string();
        assert!(error.starts_with("\"a\" is missing"));
    }

    #[test]
    fn status_and_message_are_both_expected() {
        let got = |code, text| expect(Some(code), "error: no", 2, text).is_ok();
        assert!(got(2, "no") && !got(1, "no") && !got(2, "yes"));
    }

    #[test]
    fn the_hanging_system_is_right() {
        assert!(manifest::parse("hanging.toml", HANGING).is_ok());
    }
}
