//! Kernels with trace points: systems run as without, the trace is whole, repeatable and readable
//! also after a crash, and what it loses is counted.

use super::endings::HANGING;
use super::job::{Class, Job};
use crate::cli::Group;
use crate::experiment::{Asked, Emulated, Setup};
use crate::image::{Extra, build_for};
use crate::machine::{self, Boot, Exit};
use crate::systems;
use abi::call::Call;
use abi::trace::{Event, Keep, entry};
use anyhow::{Context, Result, bail, ensure};
use manifest::{LOCKINGS, System};
use std::collections::BTreeMap;
use std::time::Duration;
use trace::{CpuUse, Moment, Sections, Trace, Traces};

/// Bytes of the trace that `./giusto trace` records into unless it is told otherwise.
pub const USUAL: u64 = 32 << 20;
/// A small one, which the busy system overflows.
const SMALL: u64 = 64 << 10;
/// What the usual one must hold: a second of a million events.
const MANY: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// The on-target suite: the system, and its program.
const SUITE: &str = "selftest";
/// The system that makes many events, with arguments that keep it within bounds.
const BUSY: &str = "hot-potato";
const SHORT: [(&str, &str); 2] = [("messages", "10"), ("rounds", "1")];
const LONG: [(&str, &str); 2] = [("messages", "30"), ("rounds", "1")];
/// For the trace of several CPUs: how many, and kernels with and without a fast path.
const CPUS: u32 = 4;
const KERNELS: [&str; 2] = ["fastpath", "strict-eager"];
/// What guards the kernel where interrupts in vain are counted.
const QUIET: &str = "big";
/// Longer than the system that never ends needs to boot, on a slow host.
const GIVEN_UP: Duration = Duration::from_secs(5);

/// Traces of the usual machine.
pub fn jobs() -> Vec<Job> {
    let job = |name: String, class, builds: Option<Extra>, check: Check| {
        let work = move |_: &mut _| check(&Emulated::new(Asked::seed(1)).sliced());
        let builds = format!("image {builds:?}").to_lowercase();
        Job::new(Group::Target, name, work).class(class).builds(builds).seconds(4.0)
    };
    let one = |name: &str, check: fn(&Setup) -> Result<()>| {
        job(name.to_string(), Class::Usual, Some(Extra::Trace), Box::new(check))
    };
    let mut jobs = vec![
        one("two runs leave the same trace", repeats),
        one("a second of a million events is kept", holds),
        one("lost events are counted exactly", overflows),
        one("programs read the trace, and one that dies harms none", read),
        one("the trace of a run that is ended is readable", ended),
    ];
    for (locking, kernel) in LOCKINGS[1..].iter().flat_map(|l| KERNELS.map(|k| (*l, k))) {
        let name = format!("the traces of {CPUS} CPUs agree: {kernel}, locks {locking}");
        let class = if kernel == KERNELS[0] { Class::Usual } else { Class::Deep };
        let check: Check = Box::new(move |setup| several(setup, locking, kernel));
        jobs.push(job(name, class, Some(Extra::traced(locking)), check));
    }
    let name = "lower deadlines that other CPUs add interrupt once a tick".to_string();
    jobs.push(job(name, Class::Usual, Some(Extra::traced(QUIET)), Box::new(quiet)));
    jobs
}

type Check = Box<dyn FnOnce(&Setup) -> Result<()> + Send>;

/// Boots a system with a trace; its bytes.
fn traced(
    setup: &Setup,
    system: &str,
    kernel: &str,
    (bytes, keep): (u64, Keep),
    args: &[(&str, &str)],
) -> Result<Vec<u8>> {
    let mut memory = String::new();
    let outcome = setup.boot_with(Some(Extra::Trace), system, kernel, &mut |system| {
        set(system, args);
        memory = system.add_trace(bytes, keep);
    })?;
    outcome.memories.get(&memory).cloned().context("the run left no trace")
}

fn set(system: &mut System, args: &[(&str, &str)]) {
    for (name, value) in args {
        systems::set(system, name, value);
    }
}

/// Whether the trace that a suite has left is whole: every entry in it has its end.
pub fn is_whole(bytes: &[u8], kernel: &str, cpus: u32) -> Result<()> {
    let traces = Traces::decode(bytes)?;
    ensure!(traces.each.len() == cpus as usize, "{} CPUs", traces.each.len());
    let mut entries = 0;
    for (trace, cpu) in traces.each.iter().zip(0..) {
        let sections = Sections::of(trace);
        ensure!(trace.kernel == kernel, "the trace says that `{}` ran", trace.kernel);
        entries += sections.whole.len();
        // The last is that of the call that ends the run, or what that interrupts.
        let broken = sections.broken;
        ensure!(broken <= 1, "CPU {cpu}: {broken} entries lack their beginning or end");
    }
    ensure!(entries > 1000, "only {entries} entries");
    Ok(())
}

/// What a subject of the suite leaves as traces of several CPUs: without the checks whose very many
/// calls no trace has room for.
fn subject(setup: &Setup, only: &str, cpus: u32, locking: &str, kernel: &str) -> Result<Traces> {
    let mut memory = String::new();
    let extra = Some(Extra::traced(locking));
    let outcome = setup.boot_with(extra, SUITE, kernel, &mut |system| {
        system.cpus = cpus;
        system.locking = Some(locking.to_string());
        for domain in system.domains.iter_mut().filter(|domain| domain.program == SUITE) {
            domain.args.push(("only".to_string(), only.to_string()));
        }
        memory = system.add_trace(u64::from(CPUS) * USUAL / 2, Keep::First);
    })?;
    Ok(Traces::decode(outcome.memories.get(&memory).context("the run left no trace")?)?)
}

/// The highest thread of CPU 1 sets timers, while CPU 0 adds lower deadlines there and takes them
/// back: of the timer's interrupts, one in a tick at most serves nothing, and one move in a tick at
/// most interrupts.
fn quiet(setup: &Setup) -> Result<()> {
    let traces = subject(setup, "rearming", 2, QUIET, KERNELS[0])?;
    let tick = systems::load(SUITE)?.tick;
    let trace = &traces.each[1];
    ensure!(trace.lost() == 0, "{} of {} events are lost", trace.lost(), trace.events);
    let (mut ticks, mut serves, mut served) = (BTreeMap::<u64, u64>::new(), None, 0);
    for moment in &trace.moments {
        match moment.event {
            Event::Enter => serves = (moment.argument == entry::TIMER).then_some(false),
            Event::Expire | Event::Tick => serves = serves.map(|_| true),
            Event::Exit => match serves.take() {
                Some(false) => *ticks.entry(moment.ns / tick).or_default() += 1,
                Some(true) => served += 1,
                None => {}
            },
            _ => {}
        }
    }
    ensure!(served > 100, "only {served} interrupts of the timer served something");
    let most = ticks.into_iter().max_by_key(|(_, n)| *n);
    if let Some((at, n)) = most.filter(|(_, n)| *n > 1) {
        bail!("{n} interrupts of the timer in vain in a tick, {} ns after boot", at * tick);
    }
    let (moves, kicks) = interrupting_moves([&traces.each[0], trace], tick);
    ensure!(moves > 1000, "only {moves} moves");
    let often: Vec<_> = kicks.into_iter().filter(|(_, n)| *n > 1).collect();
    ensure!(often.is_empty(), "moves interrupt again and again in ticks {often:?}");
    Ok(())
}

/// How many calls of a CPU moved a thread, and in which ticks they interrupted another one, how
/// often. Interrupts that wait there while one does that already are one.
fn interrupting_moves([mover, other]: [&Trace; 2], tick: u64) -> (u64, BTreeMap<u64, u64>) {
    let taken = |moment: &&Moment| moment.event == Event::Enter && moment.argument == entry::KICK;
    let mut taken = other.moments.iter().filter(taken).map(|moment| moment.ns).peekable();
    let (mut moves, mut ticks) = (0, BTreeMap::<u64, u64>::new());
    let (mut inside, mut waits) = (false, false);
    for moment in &mover.moments {
        match moment.event {
            // What the call decides rests on what the other CPU has done until then.
            Event::Enter => {
                while taken.next_if(|at| *at <= moment.ns).is_some() {
                    waits = false;
                }
                inside = moment.argument == Call::ThreadMigrate as u32;
                moves += u64::from(inside);
            }
            Event::Kick if inside && !waits => {
                *ticks.entry(moment.ns / tick).or_default() += 1;
                waits = true;
            }
            _ => {}
        }
    }
    (moves, ticks)
}

/// The suite on several CPUs: a trace of each, whose clocks agree, with what CPUs do to each other.
fn several(setup: &Setup, locking: &str, kernel: &str) -> Result<()> {
    let traces = subject(setup, "cpus", CPUS, locking, kernel)?;
    ensure!(traces.each.len() == CPUS as usize, "{} CPUs", traces.each.len());
    let uses = trace::cpus(&traces);
    for (one, trace) in uses.iter().zip(&traces.each) {
        let cpu = one.cpu;
        ensure!(one.lost == 0, "CPU {cpu}: {} events are lost", one.lost);
        ensure!(one.entries > 100 && one.taken > 10, "CPU {cpu}: {one:?}");
        ensure!(one.idle > 0 && one.idle + one.kernel <= one.span, "CPU {cpu}: {one:?}");
        let broken = Sections::of(trace).broken;
        // The last is that of the call that ends the run, or what that interrupts.
        ensure!(broken <= 1, "CPU {cpu}: {broken} entries lack their beginning or end");
    }
    let [sent, taken] = [|one: &CpuUse| one.sent, |one: &CpuUse| one.taken]
        .map(|of| uses.iter().map(of).sum::<u64>());
    ensure!(taken <= sent, "{taken} interrupts were taken and {sent} sent");
    let locks = trace::locks(&traces.each);
    let entries: u64 = uses.iter().map(|one| one.entries).sum();
    let holds: u64 = locks.iter().map(|one| one.holds.n).sum();
    ensure!(holds >= entries, "the lock was taken {holds} times for {entries} entries");
    let handed: u64 = locks.iter().map(|one| one.handed).sum();
    // Nobody knows who read last.
    let enough = if locking == "fine" { handed == 0 } else { handed > 100 };
    ensure!(enough, "the lock went from one CPU to another {handed} times");
    Ok(())
}

fn repeats(setup: &Setup) -> Result<()> {
    let once = || traced(setup, "hello", manifest::KERNELS[0], (USUAL, Keep::First), &[]);
    ensure!(once()? == once()?, "they differ");
    Ok(())
}

fn holds(setup: &Setup) -> Result<()> {
    let trace = Trace::decode(&traced(setup, BUSY, "strict-eager", (USUAL, Keep::First), &LONG)?)?;
    let (from, to) = trace.span().context("the trace is empty")?;
    ensure!(trace.events >= MANY, "only {} events", trace.events);
    ensure!(to - from <= SECOND, "{} events took {} ns", trace.events, to - from);
    ensure!(trace.lost() == 0, "{} of {} events are lost", trace.lost(), trace.events);
    Ok(())
}

fn overflows(setup: &Setup) -> Result<()> {
    let record = |size, keep| {
        Trace::decode(&traced(setup, BUSY, "strict-eager", (size, keep), &SHORT)?)
            .context("decoding it")
    };
    let whole = record(USUAL, Keep::First)?;
    let first = record(SMALL, Keep::First)?;
    let last = record(SMALL, Keep::Last)?;
    let room = first.capacity as usize;
    for small in [&first, &last] {
        let lost = whole.events - room as u64;
        ensure!(small.lost() == lost, "{} counted as lost, not {lost}", small.lost());
    }
    // Times differ: what writing costs depends on whether there is room.
    let what = |trace: &Trace, from: usize| {
        let moments = trace.moments[from..from + room].iter();
        let time = |m: &Moment| matches!(m.event, Event::Arm | Event::Expire);
        let argument = |m: &Moment| if time(m) { 0 } else { m.argument };
        moments.map(|m| (m.event, m.thread, argument(m), m.extra)).collect::<Vec<_>>()
    };
    ensure!(what(&first, 0) == what(&whole, 0), "the first records are others");
    ensure!(
        what(&last, 0) == what(&whole, whole.moments.len() - room),
        "the last records are others"
    );
    Ok(())
}

/// The system whose programs read the trace.
fn read(setup: &Setup) -> Result<()> {
    let kernel = manifest::KERNELS[0];
    let outcome = setup.boot_with(Some(Extra::Trace), "trace", kernel, &mut |_| {})?;
    let said = outcome.console.lines().last().unwrap_or_default();
    ensure!(said.contains(" records, 0 out of order"), "the reader says: {said}");
    Ok(())
}

/// A system that waits for ever.
fn ended(setup: &Setup) -> Result<()> {
    let mut system = manifest::parse("hanging", HANGING)?;
    let memory = system.add_trace(USUAL, Keep::First);
    let images = build_for(setup.machine(), &system)?;
    let boot = Boot::new(setup.machine(), &images, &system);
    let boot = boot.kernel(manifest::KERNELS[0]).seed(1).timeout(GIVEN_UP);
    let outcome = machine::boot(&boot)?;
    if outcome.exit != Exit::Hang {
        bail!("it ended by itself: {:?}", outcome.exit);
    }
    let bytes = outcome.memories.get(&memory).context("there is no trace")?;
    let trace = Trace::decode(bytes)?;
    ensure!(trace.events > 10 && trace.lost() == 0, "{} events", trace.events);
    Ok(())
}
