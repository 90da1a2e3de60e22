//! `run`: boots a system and attaches its console.

mod ending;
mod latency;
mod responses;

use super::check::{self, Costs};
use super::test::typed;
use super::trace::auto;
use super::{counted, print_json, wrapped};
use crate::accounts::{Account, Accounts, Bounds};
use crate::cli;
use crate::failure::{Verdict, usage};
use crate::faults::{self, Fault};
use crate::gdb::Session;
use crate::image::{self, Build, Images, Watch};
use crate::live::Registration;
use crate::logs::{self, Line, Logs};
use crate::machine::{self, Boot, Console, Exit, Input, Machine, Outcome, Shared, Simulation};
use crate::restarts::{self, Restarts};
use crate::systems;
use crate::unreceived::{self, Unreceived};
use crate::waits::{self, Wait};
use crate::worked;
use crate::workspace::commit;
use abi::log::Level;
use abi::trace::Keep;
use anyhow::{Result, bail};
use ending::Ending;
use latency::Latencies;
use manifest::{Control, System, TREE};
use responses::Responses;
use results::wires_svg;
use serde_json::json;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

/// Bytes of the trace that `--auto` looks into.
const TRACE: u64 = 32 << 20;

/// Seconds that a system may run that gets no input from a terminal.
const UNATTENDED: u64 = 60;

/// Nanoseconds between two records of what wires have.
const WIRES: u64 = 1_000_000;

/// Nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// Boots a system.
pub fn run(run: &cli::Run, as_json: bool) -> Result<Verdict> {
    let machine = machine::find(&run.machine).expect("the command line knows the machines");
    let mut system = system(run, machine)?;
    let inputs = typed(&run.under)?;
    let costs = check::costs(&system, run.overheads.as_deref())?;
    let held = latency::held(run, machine, &system)?;
    let is_traced = run.auto.is_some() || held.is_some();
    let memory = is_traced.then(|| system.add_trace(TRACE, Keep::First));
    let control = run.control.then(|| system.add_control());
    let left = leave(&mut system);
    let images = build(run, machine, &system)?;
    let enter = |it| registration(run, (&system, &images), &it, machine);
    let control = control.map(enter).transpose()?;
    if let (Some(limit), Some(memory)) = (run.auto, &memory) {
        let mut launch = launch(run, machine, &images, &system)?;
        launch.timeout = run.timeout.map(Duration::from_secs);
        return auto::run(launch, &system, memory, limit, as_json);
    }
    let script = inputs.as_deref().map(Shared::new);
    let (console, seconds) = attended(run, script.clone(), as_json);
    let session = run.gdb.then(|| Session::new(&images, &system)).transpose()?;
    let socket = session.as_ref().map(Session::socket);
    let launch = launch(run, machine, &images, &system)?;
    let mut launch = launch.console(console).debugger(socket.as_deref()).control(control.as_ref());
    launch.timeout = seconds.map(Duration::from_secs);
    session.iter().for_each(Session::announce);
    let outcome = machine::boot(&launch)?;
    run.wires.iter().try_for_each(|path| draw_wires(path, &outcome, &system))?;
    let faults = faults::told(&outcome, &system, &images);
    let logs = logs::read(&outcome.memories, &system, run.log.unwrap_or(Level::Info));
    let restarts = restarts::told(&outcome, &system, &images);
    let latencies = latency::collect(held, &outcome, &system, memory.as_deref())?;
    // Writing the trace takes time, which no response has a bound for.
    let limits = || bounds((&system, &costs), machine, launch.icount);
    let bounds = latencies.as_ref().map_or_else(limits, |_| Bounds::default());
    let accounts = Accounts::told(&outcome, &system, left.as_ref(), &bounds);
    let responses = responses::collect(run, (&system, launch.icount), &accounts, |seed| {
        let script = inputs.as_deref().map(Shared::new);
        let outcome = again(run, machine, (&system, &images), (seed, script))?;
        further(&outcome, seed, || Accounts::told(&outcome, &system, left.as_ref(), &bounds))
    })?;
    let plot = run.plot.as_deref();
    responses.iter().try_for_each(|all| all.draw(plot, &system.name, machine.name()))?;
    let responses = responses.as_ref();
    let told = Told {
        faults: &faults,
        restarts: &restarts,
        logs: &logs,
        accounts: &accounts,
        waits: &waits::at_end(&outcome, &system, &images),
        unreceived: &unreceived::told(&outcome, &system, &images),
        responses,
        latencies: latencies.as_ref(),
        untyped: script.and_then(|script| script.script().left()),
        idle: idle(&outcome, &system, &accounts),
    };
    match as_json {
        true => print_outcome(&system.name, machine, launch.board, &outcome, &told),
        false => {
            show_outcome(&outcome, launch.icount, &told);
            responses.iter().for_each(|all| all.show(plot));
            latencies.iter().for_each(Latencies::show);
        }
    }
    Ok(noted(verdict(&outcome, launch.icount, &told), &told, &costs))
}

/// The system as the command line changes it, if that can run so.
fn system(run: &cli::Run, machine: &dyn Machine) -> Result<System> {
    refuse(run, machine)?;
    let mut system = systems::load(&run.system)?;
    system.kernel = run.kernel.clone().unwrap_or(system.kernel);
    system.cpus = run.cpus.unwrap_or(system.cpus);
    system.locking = run.locking.clone().or(system.locking);
    systems::change(&mut system, &run.under, machine)?;
    if run.wires.is_some() && system.devices.is_none() {
        return Err(usage(format!("--wires is about devices, and {} has none", system.name)));
    }
    check_cpus(&system)?;
    responses::refuse(run, &system, seed(run, machine)?.is_some())?;
    if (run.statistics || run.auto.is_some()) && system.trace.is_some() {
        let message = "the manifest has a trace of its own: take it out, or use `./giusto trace`";
        return Err(usage(message.to_string()));
    }
    Ok(system)
}

/// Writes what the wires of a plant had, as the file's ending says.
fn draw_wires(path: &Path, outcome: &Outcome, system: &System) -> Result<()> {
    let is_table = path.extension().is_some_and(|end| end == "csv");
    let origin = || format!("{} on {}, commit {}", system.name, outcome.machine, commit());
    let text = match is_table {
        true => outcome.simulated.wires.clone(),
        false => wires_svg(&outcome.simulated.wires, &origin())?,
    };
    Ok(fs_err::write(path, text)?)
}

/// Has a system leave why its programs panicked, and what reservations had: in this memory.
pub fn leave(system: &mut System) -> Option<String> {
    system.add_panics();
    system.add_accounts()
}

/// Who reads and types, and after how many seconds a run ends; none while somebody types.
fn attended(run: &cli::Run, script: Option<Shared>, as_json: bool) -> (Console, Option<u64>) {
    let is_terminal = std::io::stdin().is_terminal();
    let typed = is_terminal && !as_json && script.is_none();
    let input = match script {
        Some(script) => Input::Script(script),
        None if typed || !is_terminal => Input::User,
        None => Input::Nothing,
    };
    let seconds = run.timeout.or((!typed && !run.gdb).then_some(UNATTENDED));
    (Console { show: !as_json, input }, seconds)
}

/// One run more, with this seed.
fn again(
    run: &cli::Run,
    machine: &'static dyn Machine,
    (system, images): (&System, &Images),
    (seed, script): (u64, Option<Shared>),
) -> Result<Outcome> {
    let boot = launch(run, machine, images, system)?.seed(seed);
    let boot = boot.console(script.map_or(Console::CAPTURE, Console::typed));
    machine::boot(&boot.timeout(Duration::from_secs(run.timeout.unwrap_or(UNATTENDED))))
}

/// How a run ends.
fn verdict(outcome: &Outcome, icount: Option<u64>, told: &Told) -> Verdict {
    let gave_up = !told.restarts.down.is_empty() && !told.restarts.expected;
    let failed = gave_up || told.faults.iter().any(|fault| !fault.expected);
    // The host's clock keeps no bound.
    let exceeds = || told.accounts.reservations.iter().any(Account::exceeds);
    let is_slow = || told.latencies.is_some_and(Latencies::exceed);
    let jobs_are_late = || exceeds() || told.responses.is_some_and(Responses::exceed);
    let late = icount.is_some() && (jobs_are_late() || is_slow());
    match outcome.exit {
        Exit::Done(0) | Exit::Interrupted | Exit::Hang | Exit::Stuck if failed => Verdict::Faulted,
        Exit::Done(0) if told.untyped.is_some() => Verdict::Failed,
        Exit::Done(0) | Exit::Interrupted if late => Verdict::Late,
        Exit::Done(0) | Exit::Interrupted => Verdict::Held,
        Exit::Panic => Verdict::Panicked,
        Exit::Done(_) | Exit::Hang | Exit::Stuck | Exit::Emulator(_) => Verdict::Failed,
    }
}

/// A verdict, beside which it is told, if bounds did not hold, for what they are.
fn noted(verdict: Verdict, told: &Told, costs: &Costs) -> Verdict {
    if verdict == Verdict::Late && told.latencies.is_none() {
        eprintln!("{ASSUMED}");
        if !costs.are_counted() {
            eprintln!("{NOT_COUNTED}");
        }
    }
    verdict
}

/// Within which time jobs end by the analysis; none where a run cannot be compared with that, and
/// why.
fn bounds(
    (system, costs): (&System, &Costs),
    machine: &dyn Machine,
    icount: Option<u64>,
) -> Bounds {
    let bounds = check::bounds_with(system, costs.clone());
    if icount.is_none() || machine.emulator().is_none() || system.cpus == 1 {
        return bounds;
    }
    if !bounds.within.is_empty() {
        eprintln!("{ONE_CLOCK}");
    }
    Bounds::default()
}

/// What a run after the first one has left, whatever its own status is; nothing if it was
/// interrupted.
fn further(
    outcome: &Outcome,
    seed: u64,
    accounts: impl FnOnce() -> Accounts,
) -> Result<Option<Accounts>> {
    match (&outcome.exit, outcome.failure()) {
        (Exit::Done(_), _) | (_, None) => Ok(Some(accounts())),
        (Exit::Interrupted, _) => Ok(None),
        (_, Some(failure)) => bail!("the run with --seed {seed}: {failure}"),
    }
}

/// What bounds take for granted.
const ASSUMED: &str = "the bounds are for jobs of at most `execution`, a `period` apart: raise \
                       these keys if the program needs more, else shorten its jobs";

/// What bounds are without it.
const NOT_COUNTED: &str = "the kernel's own time is not counted in these bounds: give it in \
                           `[analysis]`, or by `--overheads FILE`";

/// Why no response of such a run is compared with what `check` finds.
const ONE_CLOCK: &str = "responses are not compared with bounds: under --icount all CPUs of the \
                         emulator take turns on one clock; `--machine twin` compares them";

/// Builds what a system needs that is to run so.
fn build(run: &cli::Run, machine: &dyn Machine, system: &System) -> Result<Images> {
    if run.decisions.is_some() && (system.kernel != TREE || system.trace.is_some()) {
        let message = "--decisions is about the scheduling tree: it needs `--kernel tree`, and a \
                       manifest without a trace";
        return Err(usage(message));
    }
    if run.decisions == Some(0) {
        return Err(usage("--decisions takes a seed from 1 on: with 0 the policies would decide"));
    }
    let usual = Build::of(system);
    let watch = if run.statistics { Watch::Statistics } else { usual.watch };
    let (chance, debugged) = (run.decisions.is_some(), run.gdb);
    image::build_system(machine, system, Build { watch, chance, debugged, ..usual })
}

/// How a system is entered among those that run.
fn registration(
    run: &cli::Run,
    program: (&System, &Images),
    control: &Control,
    machine: &dyn Machine,
) -> Result<Registration> {
    let manifest = fs_err::canonicalize(systems::path(&run.system)?)?;
    Ok(Registration::new(manifest, program, control, machine.name()))
}

/// Refuses what a machine cannot do.
fn refuse(run: &cli::Run, machine: &dyn Machine) -> Result<()> {
    board(machine, run.board.as_deref())?;
    let simulated = run.topology.is_some() || run.check;
    if machine.emulator().is_some() && simulated {
        let message = "--topology and --check are the twin's; add `--machine twin`";
        return Err(usage(message.to_string()));
    }
    if machine.emulator().is_none() && run.gdb {
        let message = "the simulation has no --gdb; debug on the emulator, without `--machine \
                       twin`, or see what happens by `./giusto trace --machine twin`";
        return Err(usage(message));
    }
    if machine.emulator().is_none() && run.control {
        let message = "the simulation cannot be asked while it runs; use --control without \
                       `--machine twin`";
        return Err(usage(message));
    }
    seed(run, machine).map(drop)
}

/// How the command line says to boot.
fn launch<'a>(
    run: &'a cli::Run,
    machine: &'static dyn Machine,
    images: &'a Images,
    system: &'a System,
) -> Result<Boot<'a>> {
    let simulation = Simulation {
        chaos: run.under.chaos,
        chaotic: run.under.chaotic(),
        topology: run.topology,
        check: run.check,
        every: if run.wires.is_some() { WIRES } else { 0 },
        ..Simulation::default()
    };
    let boot = Boot::new(machine, images, system)
        .board(board(machine, run.board.as_deref())?)
        .kernel(&system.kernel)
        .decisions(run.decisions.unwrap_or(0))
        .simulation(simulation);
    Ok(match seed(run, machine)? {
        Some(seed) => boot.seed(seed),
        None => boot,
    })
}

/// Refuses CPUs that a system's kernel, domains or interrupts cannot have.
pub fn check_cpus(system: &System) -> Result<()> {
    if system.cpus > 1 && system.locking() == manifest::NO_LOCKING {
        let message = format!("a kernel without locks cannot have {} CPUs", system.cpus);
        return Err(usage(message));
    }
    if let Some(domain) = system.domains.iter().find(|domain| domain.cpu >= system.cpus) {
        let (name, cpu, cpus) = (&domain.name, domain.cpu, system.cpus);
        return Err(usage(format!("domain {name} runs on CPU {cpu}; with {cpus} there is none")));
    }
    if let Some(interrupt) = system.interrupts.iter().find(|it| it.cpu >= system.cpus) {
        let (name, cpu, cpus) = (&interrupt.name, interrupt.cpu, system.cpus);
        let message = format!("interrupt {name} comes to CPU {cpu}; with {cpus} there is none");
        return Err(usage(message));
    }
    Ok(())
}

pub(super) fn board<'a>(machine: &'a dyn Machine, asked: Option<&str>) -> Result<&'a str> {
    let boards = machine.boards();
    let Some(asked) = asked else { return Ok(boards[0]) };
    boards.iter().copied().find(|board| *board == asked).ok_or_else(|| {
        let known = boards.join(", ");
        usage(format!("machine {} has no board `{asked}`, only {known}", machine.name()))
    })
}

/// What a run has left behind for people.
struct Told<'a> {
    faults: &'a [Fault],
    restarts: &'a Restarts,
    logs: &'a Logs,
    accounts: &'a Accounts,
    waits: &'a [Wait],
    unreceived: &'a [Unreceived],
    responses: Option<&'a Responses>,
    latencies: Option<&'a Latencies>,
    /// What was to be typed and was not.
    untyped: Option<String>,
    /// Whose figures mean nothing.
    idle: Option<String>,
}

/// For people, whom the console has been shown.
fn show_outcome(outcome: &Outcome, seed: Option<u64>, told: &Told) {
    show_logs(told.logs);
    told.unreceived.iter().for_each(|unreceived| eprint!("{unreceived}"));
    eprint!("{}{}", told.restarts, told.accounts);
    let notes = told.idle.iter().chain(&told.untyped);
    notes.for_each(|note| eprint!("{}", wrapped(note, "", "  ")));
    eprint!("{}", Ending { outcome, seed, told });
}

fn print_outcome(system: &str, machine: &dyn Machine, board: &str, outcome: &Outcome, told: &Told) {
    let (exit, status) = match &outcome.exit {
        Exit::Done(status) => ("done", Some(*status)),
        Exit::Panic => ("panic", None),
        Exit::Hang => ("hang", None),
        Exit::Stuck => ("stuck", None),
        Exit::Interrupted => ("interrupted", None),
        Exit::Emulator(_) => ("emulator", None),
    };
    print_json(&json!({
        "system": system,
        "machine": machine.name(),
        "board": board,
        "kernel": outcome.kernel,
        "exit": exit,
        "status": status,
        "failure": outcome.failure(),
        "backtrace": outcome.backtrace,
        "faults": told.faults,
        "restarts": told.restarts,
        "log": told.logs,
        "accounts": told.accounts,
        "waits": told.waits,
        "unreceived": told.unreceived,
        "responses": told.responses.map(Responses::document),
        "latency": told.latencies.map(Latencies::document),
        "untyped": told.untyped,
        "no_work": told.idle,
        "console": outcome.console,
    }));
}

/// Says so if a run tells of responses that took no time.
fn idle(outcome: &Outcome, system: &System, accounts: &Accounts) -> Option<String> {
    let timed = accounts.reservations.iter().filter(|it| it.is_leaf && it.missed.is_some());
    let groups = timed.map(|account| worked::of_reservation(system, &account.name));
    worked::sentence(outcome, &groups.filter(|group| !group.is_empty()).collect::<Vec<_>>())
}

/// Shows the lines that domains have logged, with seconds since boot.
fn show_logs(logs: &Logs) {
    let width = logs.lines.iter().map(|line| line.domain.len()).max().unwrap_or(0);
    if !logs.lines.is_empty() || !logs.lost.is_empty() {
        eprintln!("log:");
    }
    for (domain, lost) in &logs.lost {
        eprintln!("  lost: {} of {domain}", counted(*lost as usize, "line"));
    }
    for Line { time, level, domain, text } in &logs.lines {
        let (seconds, rest) = (time / SECOND, time % SECOND);
        let first = format!("  {seconds:>4}.{rest:09} {level:<5} {domain:<width$} ");
        eprint!("{}", wrapped(text, &first, &" ".repeat(first.len())));
    }
}

/// The seed of a machine that repeats exactly.
fn seed(run: &cli::Run, machine: &dyn Machine) -> Result<Option<u64>> {
    if machine.emulator().is_some() && !run.icount && run.auto.is_none() {
        return match run.seed {
            Some(_) => Err(usage("--seed needs --icount, or `--machine twin`")),
            None => Ok(None),
        };
    }
    Ok(Some(run.seed.unwrap_or(1)))
}

#[cfg(test)]
mod tests;
