//! Kernels with trace points: systems run as without, the trace is whole, repeatable and readable
//! also after a crash, and what it loses is counted.

use super::configuration::{Args, Configuration};
use super::endings::HANGING;
use super::job::{Class, Job};
use super::suites::WATCHED;
use crate::cli::Group;
use crate::image::Watch;
use crate::machine::{self, Exit, MACHINES};
use crate::systems;
use abi::call::Call;
use abi::trace::{Event, Keep, entry};
use anyhow::{Context, Result, bail, ensure};
use manifest::{LOCKINGS, NO_LOCKING, System};
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
    let on = |system, kernel, locking| {
        let plain = Configuration::plain(MACHINES[0], system);
        Configuration { kernel, locking, watch: Watch::Trace, ..plain }
    };
    let job = |name: &str, one: Configuration, check: fn(&Configuration) -> Result<()>| {
        let job = Job::new(Group::Target, name, move |_| check(&one));
        job.builds(one.builds()).seconds(4.0)
    };
    let [fast, eager] = KERNELS;
    let mut jobs = vec![
        job("two runs leave the same trace", on("hello", fast, NO_LOCKING), repeats),
        job("a second of a million events is kept", on(BUSY, eager, NO_LOCKING), holds),
        job("lost events are counted exactly", on(BUSY, eager, NO_LOCKING), overflows),
        job(
            "programs read the trace, and one that dies harms none",
            on("trace", fast, NO_LOCKING),
            read,
        ),
        job("the trace of a run that is ended is readable", on("-", fast, NO_LOCKING), ended),
    ];
    for (locking, kernel) in LOCKINGS[1..].iter().flat_map(|l| KERNELS.map(|k| (l, k))) {
        let name = format!("the traces of {CPUS} CPUs agree: {kernel}, locks {locking}");
        let is_usual = kernel == fast && WATCHED.contains(locking);
        let class = if is_usual { Class::Usual } else { Class::Deep };
        let one = Configuration { cpus: CPUS, ..on(SUITE, kernel, locking) };
        jobs.push(job(&name, one, several).class(class));
    }
    let name = "lower deadlines that other CPUs add interrupt once a tick";
    jobs.push(job(name, Configuration { cpus: 2, ..on(SUITE, fast, QUIET) }, quiet));
    jobs
}

/// Boots a system with a trace; its bytes.
fn traced(one: &Configuration, mut system: System, (bytes, keep): (u64, Keep)) -> Result<Vec<u8>> {
    let memory = system.add_trace(bytes, keep);
    one.run(&system)?.memories.remove(&memory).context("the run left no trace")
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
fn subject(one: &Configuration, only: &str) -> Result<Traces> {
    let mut system = one.load()?;
    for domain in system.domains.iter_mut().filter(|domain| domain.program == SUITE) {
        domain.args.push(("only".to_string(), only.to_string()));
    }
    Traces::decode(&traced(one, system, (u64::from(CPUS) * USUAL / 2, Keep::First))?)
}

/// The highest thread of CPU 1 sets timers, while CPU 0 adds lower deadlines there and takes them
/// back: of the timer's interrupts, one in a tick at most serves nothing, and one move in a tick at
/// most interrupts.
fn quiet(one: &Configuration) -> Result<()> {
    let traces = subject(one, "rearming")?;
    let tick = systems::load(SUITE)?.tick;
    for trace in &traces.each {
        ensure!(trace.lost() == 0, "{} of {} events are lost", trace.lost(), trace.events);
    }
    let trace = &traces.each[1];
    let (mut ticks, mut serves, mut served) = (BTreeMap::<u64, u64>::new(), None, 0);
    for moment in &trace.moments {
        match moment.event {
            Event::Enter => {
                serves = (moment.argument == entry::TIMER).then_some((moment.ns / tick, false));
            }
            Event::Expire | Event::Tick => serves = serves.map(|(at, _)| (at, true)),
            Event::Exit => match serves.take() {
                Some((at, false)) => *ticks.entry(at).or_default() += 1,
                Some((_, true)) => served += 1,
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
    let (moves, ipis) = interrupting_moves([&traces.each[0], trace], tick);
    ensure!(moves > 1000, "only {moves} moves");
    ensure!(!ipis.is_empty(), "no move interrupts");
    let often: Vec<_> = ipis.into_iter().filter(|(_, n)| *n > 1).collect();
    ensure!(often.is_empty(), "moves interrupt again and again in ticks {often:?}");
    Ok(())
}

/// How many calls of a CPU moved a thread, and in which ticks they interrupted another one, how
/// often. Interrupts that wait there while one does that already are one.
fn interrupting_moves([mover, other]: [&Trace; 2], tick: u64) -> (u64, BTreeMap<u64, u64>) {
    let taken = |moment: &&Moment| moment.event == Event::Enter && moment.argument == entry::IPI;
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
            Event::Ipi if inside && !waits => {
                *ticks.entry(moment.ns / tick).or_default() += 1;
                waits = true;
            }
            _ => {}
        }
    }
    (moves, ticks)
}

/// The suite on several CPUs: a trace of each, whose clocks agree, with what CPUs do to each other.
fn several(one: &Configuration) -> Result<()> {
    let traces = subject(one, "cpus")?;
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
    // Of readers the last is not known.
    let enough = if one.locking == "fine" { handed == 0 } else { handed > 100 };
    ensure!(enough, "the lock went from one CPU to another {handed} times");
    Ok(())
}

fn repeats(one: &Configuration) -> Result<()> {
    let once = || traced(one, one.load()?, (USUAL, Keep::First));
    ensure!(once()? == once()?, "they differ");
    Ok(())
}

/// The trace of the busy system with other arguments.
fn busy(one: &Configuration, args: Args, room: (u64, Keep)) -> Result<Trace> {
    let one = Configuration { args, ..*one };
    Trace::decode(&traced(&one, one.load()?, room)?).context("decoding it")
}

fn holds(one: &Configuration) -> Result<()> {
    let trace = busy(one, &LONG, (USUAL, Keep::First))?;
    let (from, to) = trace.span().context("the trace is empty")?;
    ensure!(trace.events >= MANY, "only {} events", trace.events);
    ensure!(to - from <= SECOND, "{} events took {} ns", trace.events, to - from);
    ensure!(trace.lost() == 0, "{} of {} events are lost", trace.lost(), trace.events);
    Ok(())
}

fn overflows(one: &Configuration) -> Result<()> {
    let whole = busy(one, &SHORT, (USUAL, Keep::First))?;
    let first = busy(one, &SHORT, (SMALL, Keep::First))?;
    let last = busy(one, &SHORT, (SMALL, Keep::Last))?;
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
fn read(one: &Configuration) -> Result<()> {
    let outcome = one.run(&one.load()?)?;
    let said = outcome.console.lines().last().unwrap_or_default();
    ensure!(said.contains(" records, 0 out of order"), "the reader says: {said}");
    Ok(())
}

/// A system that waits for ever.
fn ended(one: &Configuration) -> Result<()> {
    let mut system = manifest::parse("hanging", HANGING)?;
    let memory = system.add_trace(USUAL, Keep::First);
    let outcome = one.boot(&system, |boot| machine::boot(&boot.timeout(GIVEN_UP)))?;
    ensure!(outcome.exit == Exit::Stuck, "it ended by itself: {:?}", outcome.exit);
    let bytes = outcome.memories.get(&memory).context("there is no trace")?;
    let trace = Trace::decode(bytes)?;
    ensure!(trace.events > 10 && trace.lost() == 0, "{} events", trace.events);
    Ok(())
}
