//! A latency tool with cyclictest's options and output (S2C-03), on Giusto's own interface.
//!
//! Each thread programs a timer for an instant, waits for its signal, samples how late it is, and
//! goes on to the next instant, one interval later. The program's first thread, below them, prints.

mod options;
mod print;
mod tally;

use crate::latency::Clock;
use abi::call::Fact;
use options::Options;
use rt::arch::counter;
use rt::thread::{self, Spec};
use rt::{Env, Error, Words, ipc, println, signal, system};
use tally::Tally;

/// Nanoseconds from the start of the threads to the instant that they count from.
const START: u64 = 1_000_000;
/// Nanoseconds between two looks at how far they are.
const LOOK: u64 = 20_000_000;
/// Intervals in microseconds below which a thread hardly gets ready for the next instant.
const TIGHT: u64 = 10;
/// The exit status for options that cannot be used.
const USAGE: u64 = 2;
/// Words of the memory that all threads share: the instant they start from, and whether to stop.
const HEAD: usize = 2;

/// Capabilities `console`, `system`; memory `samples`; argument `options`; a quota for its threads,
/// each with a timer and a notification. Its own priority is below 1, or it disturbs them.
pub fn main(env: &Env) {
    let console = env.console();
    let status = match asked(env) {
        Ok(options) if options.help => {
            println!(console, "usage: args = {{ options = \"...\" }}\n{}", options::HELP);
            0
        }
        Ok(options) => match check(env, &options) {
            Ok(()) => measure(env, &options),
            Err(()) => USAGE,
        },
        Err(problem) => {
            println!(console, "cyclictest: {problem}");
            USAGE
        }
    };
    system::shutdown(env.cap("system"), status).expect("the run ends");
}

/// The options, on this machine.
fn asked(env: &Env) -> Result<Options, options::Problem> {
    let cpus = system::fact(Fact::Cpus).map_or(1, |(cpus, _)| cpus);
    Options::parse(env.arg("options").unwrap_or(""), cpus)
}

/// Warns of what means nothing, and refuses what cannot be.
fn check(env: &Env, options: &Options) -> Result<(), ()> {
    let (console, room) = (env.console(), env.threads() as u64 - 1);
    if options.threads > room {
        let threads = options.threads;
        println!(console, "cyclictest: {threads} threads, but the manifest has room for {room}");
        return Err(());
    }
    let (needs, has) = (Tally::needs(options), part(env, options));
    if needs > has {
        let bytes = 8 * (HEAD + needs * options.threads as usize);
        println!(
            console,
            "cyclictest: this histogram takes {bytes} bytes; give the memory `samples` as many"
        );
        return Err(());
    }
    let warn = |held: bool, what: core::fmt::Arguments| {
        if held {
            println!(console, "WARN: {what}");
        }
    };
    let tick = system::fact(Fact::Tick).map_or(0, |(tick, _)| tick / 1000);
    let (interval, longest) = (options.interval, options.interval_of(options.threads - 1));
    warn(
        interval < tick,
        format_args!("an interval of {interval} us is below the tick of {tick} us"),
    );
    warn(
        interval < TIGHT,
        format_args!("an interval below {TIGHT} us leaves no time between wake-ups"),
    );
    warn(
        options.priority == 0,
        format_args!("no real-time priority (-p): the threads wait behind all others"),
    );
    let endless = options.duration == 0 && options.loops == 0;
    warn(endless, format_args!("neither -D nor -l: it measures until it is ended"));
    warn(
        options.duration > 0 && options.duration < longest * 1000,
        format_args!("the duration is shorter than an interval of {longest} us: no samples"),
    );
    warn(
        options.histogram > 0 && options.distance.is_some(),
        format_args!("-d is ignored with -h: all threads have one interval"),
    );
    warn(
        options.histogram > 0 && options.units(options.break_at * 1000) > options.histogram,
        format_args!("-b is beyond the histogram: what ends the run will not be in it"),
    );
    Ok(())
}

/// Words of the shared memory for each thread.
fn part(env: &Env, options: &Options) -> usize {
    (env.mem("samples").len() - HEAD) / options.threads as usize
}

fn tallies(env: &Env) -> Words {
    let memory = env.mem("samples");
    memory.part(HEAD, memory.len() - HEAD)
}

/// Starts the threads, waits for them and prints; the exit status.
fn measure(env: &Env, options: &Options) -> u64 {
    let console = env.console();
    let mut slots = env.slots();
    for thread in 0..options.threads {
        let [own, bell, timer] = core::array::from_fn(|_| slots.fresh());
        let started = signal::create_notification(bell)
            .and_then(|()| signal::create_timer(timer, bell))
            .and_then(|()| {
                let spec = Spec::further(env, thread as usize + 1, options.priority);
                let argument = thread | bell.word() << 8 | timer.word() << 32;
                thread::start(env, thread as usize + 1, own, spec, (cycle, argument))
            })
            .and_then(|()| match options.cpu_of(thread) {
                Some(cpu) => thread::migrate(own, cpu),
                None => Ok(()),
            });
        if let Err(error) = started {
            let why = match error {
                Error::PriorityTooHigh => "its priority is above the domain's `max_priority`",
                Error::QuotaExceeded => "the domain's quota has no thread, timer and notification",
                _ => "the kernel refused",
            };
            println!(console, "cyclictest: thread {thread} cannot start: {why} ({error:?})");
            return USAGE;
        }
    }
    let shared = env.mem("samples");
    // A thread may not start before all are there.
    shared.set(0, system::clock() + START);
    let all = tallies(env);
    let is_done = |thread| Tally::of(all, thread, options).is_done();
    let mut lines = print::Lines::new(console, *options, all);
    while !(0..options.threads).all(is_done) {
        system::sleep(LOOK);
        lines.refresh();
    }
    lines.end();
    0
}

/// A measuring thread; its number and slots are the argument.
fn cycle(env: &Env, argument: u64) {
    let thread = argument & 0xff;
    let (bell, timer) = ((argument >> 8) as u32 & 0xff_ffff, (argument >> 32) as u32);
    let (bell, timer) = (rt::Slot(bell), rt::Slot(timer));
    let Ok(options) = asked(env) else { return };
    let (shared, clock) = (env.mem("samples"), Clock::ask());
    let tally = Tally::of(tallies(env), thread, &options);
    while shared.get(0) == 0 {
        system::sleep(10_000);
    }
    let interval = options.interval_of(thread) * 1000;
    let start = shared.get(0);
    let end = if options.duration == 0 { u64::MAX } else { start + options.duration };
    let mut next = start + interval;
    while next <= end && (options.loops == 0 || tally.count() < options.loops) {
        signal::set_timer(timer, next).expect("its timer");
        let signal = ipc::receive_short(bell);
        let now = counter();
        signal.status.result().expect("its timer's signal");
        let late = clock.instant_of(now).saturating_sub(next);
        let value = options.units(late);
        tally.add(value, options.verbose);
        if options.break_at > 0 && late > options.break_at * 1000 {
            tally.breaks(value);
            shared.set(1, 1);
        }
        if shared.get(1) != 0 {
            break;
        }
        let passed = system::clock().saturating_sub(next) / interval;
        tally.miss(passed);
        next += (passed + 1) * interval;
    }
    tally.finish();
}
