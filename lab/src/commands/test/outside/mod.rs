//! Tests of a system: what a file of tests says that runs have to do. A user's is `tests.toml`
//! beside the manifest; those of Giusto's own systems are in systems/tests/.

mod file;
mod limits;
mod replay;

pub use file::typed;

use super::builds::Builds;
use super::findings::{Findings, built, nothing_of};
use super::job::{self, Choice, Job};
use crate::accounts::{Accounts, Bounds};
use crate::cli::Group;
use crate::failure::usage;
use crate::faults;
use crate::image::{self, Build, Images};
use crate::machine::{self, Boot, Console, Exit, MACHINES, Machine, Outcome, Shared, Simulation};
use crate::progress::Step;
use crate::wanted::Wanted;
use crate::{commands, output, restarts, systems, worked, workspace};
use abi::trace::Keep;
use anyhow::{Context, Result, bail, ensure};
use file::{Test, read};
use limits::{Evidence, Limit};
use manifest::{Source, System, nearest};
use replay::{Trial, options, quoted, smallest};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Seconds that a run may take that does not say.
const SECONDS: u64 = 60;
/// Places in which the simulation injects once, on average, where a test has seeds.
const CHAOS: u64 = 10;

/// The manifest of a user's system, if that is what a word of the command line names.
pub fn manifest(word: &str) -> Option<PathBuf> {
    let given = Path::new(word);
    let path = if given.is_dir() { given.join(systems::MANIFEST) } else { given.to_path_buf() };
    (path.extension()? == "toml" && path.is_file()).then_some(path)
}

/// The tests of a user's system that are asked for, a job for each machine. All that they need is
/// built before, as soon as nothing is wrong with any.
pub fn jobs(manifest: &Path, choice: &Choice) -> Result<Vec<Job>> {
    let tests = manifest.with_file_name(systems::TESTS);
    let mut all = of_file(&manifest.display().to_string(), &tests)?;
    all.retain(|one| choice.names(&job::title(Group::System, &one.name())));
    let mut known = BTreeSet::new();
    for one in &all {
        if known.insert((one.machine.name(), Build::of(&one.system))) {
            one.images()?;
        }
    }
    let job = |one: One| Job::new(Group::System, one.name(), move |_: &mut Findings| one.check());
    Ok(all.into_iter().map(job).collect())
}

/// Those of Giusto's own systems: of each that has a file of its name in systems/tests/.
pub fn own() -> Result<Vec<Job>> {
    let folder = workspace::root().join("systems/tests");
    let files = fs_err::read_dir(&folder)?.map(|entry| Ok(entry?.path()));
    let mut files = files.collect::<Result<Vec<_>>>()?;
    files.sort();
    let mut jobs = Vec::new();
    for tests in files {
        let system = tests.file_stem().and_then(|name| name.to_str()).context("a system's name")?;
        for one in of_file(system, &tests)? {
            let builds = Builds::of(one.machine, Build::of(&one.system));
            let name = format!("{system}: {}", one.name());
            let job = Job::new(Group::Target, name, move |_: &mut Findings| one.check());
            jobs.push(job.configuration().builds(builds));
        }
    }
    Ok(jobs)
}

/// The tests of a file, each on its machines.
fn of_file(system: &str, tests: &Path) -> Result<Vec<One>> {
    let (name, system) = (system, systems::load(system)?);
    let (source, file) = read(tests)?;
    if file.test.is_empty() {
        return Err(usage(format!("{} has no `[[test]]`", source.name)));
    }
    let mut all = Vec::new();
    for test in file.test {
        for machine in machines(&test, &system).with_context(|| source.name.clone())? {
            all.push(One::new(name, &test, machine, &system, &source)?);
        }
    }
    Ok(all)
}

/// The machines that a test runs on: those that it names, or all that can.
fn machines(test: &Test, system: &System) -> Result<Vec<&'static dyn Machine>> {
    let named = |name: &String| {
        let known = || MACHINES.map(|machine| machine.name()).join(", ");
        let found = machine::find(name);
        found.ok_or_else(|| usage(format!("there is no machine `{name}`, only {}", known())))
    };
    let machines = match &test.machines {
        Some(names) => names.iter().map(named).collect::<Result<Vec<_>>>()?,
        None => {
            let on_board = system.memories.iter().any(|memory| !memory.is_ram());
            let can = |it: &&dyn Machine| match it.emulator() {
                Some(_) => system.devices.is_none(),
                None => !on_board,
            };
            MACHINES.into_iter().filter(can).collect()
        }
    };
    if test.seeds == Some(0) {
        return Err(usage(format!("test `{}`: `seeds = 0` runs nothing", test.name)));
    }
    let seeded = test.seeds.is_some() || test.chaos.is_some();
    if seeded && machines.iter().any(|machine| machine.emulator().is_some()) {
        let name = &test.name;
        let message = format!("test `{name}`: `seeds` and `chaos` take `machines = [\"twin\"]`");
        return Err(usage(message));
    }
    Ok(machines)
}

/// The system as a test changes it.
fn changed(test: &Test, system: &System) -> Result<System> {
    let mut system = system.clone();
    test.arguments().try_for_each(|arg| systems::set_argument(&mut system, &arg))?;
    test.failing().try_for_each(|fault| systems::set_fault(&mut system, &fault))?;
    system.cpus = test.cpus.unwrap_or(system.cpus);
    system.locking = test.locking.clone().or(system.locking);
    system.kernel = test.kernel.clone().unwrap_or(system.kernel);
    commands::run::check_cpus(&system)?;
    Ok(system)
}

/// A test on a machine.
struct One {
    test: Test,
    machine: &'static dyn Machine,
    system: System,
    /// What the command line calls the system, and the file of tests.
    called: (String, String),
    limits: Vec<Limit>,
    /// The memory with the trace by which some are judged.
    trace: Option<String>,
    /// The memory with what reservations had.
    accounts: Option<String>,
}

/// What a run came to.
struct Ran {
    /// In how many places something could have been injected.
    places: u64,
    /// What does not hold, and how a trace shows it, beside what any trace takes.
    failure: Option<(String, String)>,
}

impl One {
    fn new(
        called: &str,
        test: &Test,
        machine: &'static dyn Machine,
        system: &System,
        source: &Source,
    ) -> Result<One> {
        let mut system = changed(test, system).with_context(|| source.name.clone())?;
        image::check_cpus(machine, &system)?;
        image::check_devices(machine, &system)?;
        let mut limits = Vec::new();
        for figure in test.figures() {
            limits.extend(limits::read(figure, &system, source)?);
        }
        let is_traced = limits.iter().any(Limit::is_traced);
        let trace = is_traced.then(|| system.add_trace(limits::TRACE, Keep::First));
        let accounts = commands::run::leave(&mut system);
        let called = (called.to_string(), source.name.clone());
        Ok(One { test: test.clone(), machine, system, called, limits, trace, accounts })
    }

    /// What it is called: a test runs on several machines.
    fn name(&self) -> String {
        format!("{}, on {}", self.test.name, self.machine.name())
    }

    fn images(&self) -> Result<Images> {
        image::build_for(self.machine, &self.system)
    }

    fn check(&self) -> Result<()> {
        let images = built(self.images())?;
        let seeds = self.test.seeds.unwrap_or(1);
        let chaos = self.test.chaos.unwrap_or(if self.test.seeds.is_some() { CHAOS } else { 0 });
        for seed in 1..=seeds {
            let trial = Trial::new(seed, chaos);
            let ran = self.run(&images, &trial, seed == 1)?;
            if let Some(failure) = ran.failure {
                return self.fail(&images, trial, (ran.places, failure));
            }
        }
        Ok(())
    }

    /// Fails with the smallest run that does.
    fn fail(
        &self,
        images: &Images,
        mut trial: Trial,
        (places, mut failure): (u64, (String, String)),
    ) -> Result<()> {
        let mut note = String::new();
        if trial.chaos > 0 && places > 0 {
            let (seed, mut runs) = (trial.seed, 1);
            let step = Step::start(format!("seed {seed} fails: looking for the least chaos"));
            let calm = Trial::new(seed, 0);
            if let Some(why) = self.run(images, &calm, false)?.failure {
                (trial, failure) = (calm, why);
                note = "it fails without chaos, too\n".to_string();
            } else {
                let span = smallest(places, |span| {
                    runs += 1;
                    step.detail(&format!("run {runs}, places {} to {}", span.start, span.end));
                    let part = Trial { chaotic: Some(span), ..trial.clone() };
                    let ran = self.run(images, &part, false)?;
                    let fails = ran.failure.is_some();
                    failure = ran.failure.unwrap_or_else(|| std::mem::take(&mut failure));
                    Ok(fails)
                })?;
                let (from, until) = (span.start, span.end);
                note = format!("chaos in places {from} to {until} of {places} is enough\n");
                trial.chaotic = Some(span);
            }
        }
        let of = self.test.seeds.map(|seeds| format!("seed {} of {seeds}: ", trial.seed));
        let [again, trace] = ["run", "trace"].map(|verb| self.command(verb, &trial));
        let ((failure, tracing), of) = (failure, of.unwrap_or_default());
        bail!("{of}{failure}{note}again: {again}\ntrace: {trace}{tracing}")
    }

    /// The command that repeats a run.
    fn command(&self, verb: &str, trial: &Trial) -> String {
        let (system, tests) = &self.called;
        let machine = match (self.machine.emulator(), verb) {
            (None, _) => " --machine twin",
            (Some(_), "run") => " --icount",
            (Some(_), _) => "",
        };
        let options = options(&self.test, tests);
        format!("./giusto {verb} {}{machine}{trial}{options}", quoted(system))
    }

    /// Runs it; the first of its runs also says which figures mean nothing.
    fn run(&self, images: &Images, trial: &Trial, is_first: bool) -> Result<Ran> {
        let Trial { seed, chaos, chaotic } = trial.clone();
        let seconds = self.test.seconds.unwrap_or(SECONDS);
        let script = Shared::new(&self.test.input);
        let boot = Boot::new(self.machine, images, &self.system)
            .seed(seed)
            .timeout(Duration::from_secs(seconds))
            .simulation(Simulation { chaos, chaotic, ..Simulation::default() });
        let boot = match self.test.input.is_empty() {
            true => boot,
            false => boot.console(Console::typed(script.clone())),
        };
        let outcome = machine::boot(&boot)?;
        if is_first {
            let groups = self.limits.iter().filter_map(|limit| limit.workers(&self.system));
            let note = worked::sentence(&outcome, &groups.collect::<Vec<_>>());
            note.iter().for_each(|note| output::error(format_args!("{note}\n")));
        }
        let judged = ended(&outcome, self.test.status, seconds)
            .and_then(|()| nothing_of(script.script().left()))
            .and_then(|()| self.stays_well(&outcome, images))
            .and_then(|()| printed(&outcome.console, &self.test))
            .map_err(|error| (error, String::new()))
            .and_then(|()| self.judge_limits(&outcome, images));
        let last =
            |(error, tracing)| (format!("{error:#}\n{}", last_lines(&outcome.console)), tracing);
        Ok(Ran { places: outcome.simulated.places, failure: judged.err().map(last) })
    }

    /// No program faulted or was given up, but for those that may.
    fn stays_well(&self, outcome: &Outcome, images: &Images) -> Result<()> {
        let faults = faults::told(outcome, &self.system, images);
        nothing_of(faults.into_iter().filter(|fault| !fault.expected))?;
        let restarts = restarts::told(outcome, &self.system, images);
        let down = restarts.down.join(", ");
        ensure!(down.is_empty() || restarts.expected, "given up: {down}\n{restarts}");
        Ok(())
    }

    /// An error comes with how a trace shows it.
    fn judge_limits(
        &self,
        outcome: &Outcome,
        images: &Images,
    ) -> Result<(), (anyhow::Error, String)> {
        let none = Bounds::default();
        let evidence = Evidence {
            system: &self.system,
            accounts: &Accounts::told(outcome, &self.system, self.accounts.as_ref(), &none),
            restarts: &restarts::told(outcome, &self.system, images),
            trace: self.trace.as_ref().and_then(|memory| outcome.memories.get(memory)),
        };
        let is_typed = !self.test.input.is_empty();
        let tracing = |limit: &Limit| limit.tracing().filter(|_| !is_typed).unwrap_or_default();
        self.limits
            .iter()
            .try_for_each(|limit| limit.judge(&evidence).map_err(|error| (error, tracing(limit))))
    }
}

fn ended(outcome: &Outcome, status: u32, seconds: u64) -> Result<()> {
    match &outcome.exit {
        Exit::Done(ended) if *ended == status => Ok(()),
        Exit::Done(ended) => bail!("it ended with status {ended}, not {status}"),
        Exit::Hang => bail!("it was still running after {seconds} s"),
        other => bail!("{}", outcome.failure().unwrap_or_else(|| format!("{other:?}"))),
    }
}

/// Lines have to be there in their order, with any others between them but those that may not be.
fn printed(console: &str, test: &Test) -> Result<()> {
    let mut lines = console.lines().map(str::trim_end);
    for (at, wanted) in test.console.iter().enumerate() {
        let is_there = lines.any(|line| wanted.is(line));
        ensure!(is_there, "it did not print {wanted}{}", instead(console, &test.console[..=at]));
    }
    for (never, line) in test.never.iter().flat_map(|it| console.lines().map(move |at| (it, at))) {
        ensure!(!never.is_in(line), "it printed `{}`; {never} is never to be", line.trim_end());
    }
    Ok(())
}

/// What there is in place of the last one of these lines: the same line earlier, or one like it.
fn instead(console: &str, wanted: &[Wanted]) -> String {
    let lines: Vec<&str> = console.lines().map(str::trim_end).collect();
    match wanted {
        [.., before, last] if lines.iter().any(|line| last.is(line)) => {
            format!(" after {before}, only earlier")
        }
        [.., Wanted::Text(text)] => {
            nearest(text, &lines).map_or_else(String::new, |line| format!("; it printed `{line}`"))
        }
        _ => String::new(),
    }
}

/// The end of what was printed.
fn last_lines(console: &str) -> String {
    let lines: Vec<&str> = console.lines().collect();
    let last = &lines[lines.len().saturating_sub(8)..];
    last.iter().map(|line| format!("  | {}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a console holds what the keys of a test say.
    fn says(console: &str, keys: &str) -> Result<(), String> {
        let test = toml::from_str(&format!("name = \"x\"\n{keys}")).unwrap();
        printed(console, &test).map_err(|error| error.to_string())
    }

    #[test]
    fn lines_are_wanted_in_their_order() {
        let wanted = |lines: &str| says("one\r\ntwo\nthree 3\n", lines).is_ok();
        assert!(wanted("") && wanted("console = [\"one\", \"three 3\"]"));
        assert!(wanted(r"console = ['two', { pattern = 'e \d$' }]"));
        assert!(!wanted("console = [\"three 3\", \"one\"]") && !wanted("console = [\"tw\"]"));
        assert!(!wanted("console = [\"one\", \"one\"]"));
        assert!(!wanted(r"console = [{ pattern = '\d' }, 'two']"));
    }

    #[test]
    fn a_missing_line_is_told_with_what_there_is() {
        let said = |keys: &str| says("one\ntwo\njob 40: speed 501\n", keys).unwrap_err();
        let like = said("console = [\"job 40: speed 500\"]");
        assert_eq!(like, "it did not print `job 40: speed 500`; it printed `job 40: speed 501`");
        let order = said("console = [\"two\", \"one\"]");
        assert_eq!(order, "it did not print `one` after `two`, only earlier");
        assert_eq!(said("console = [\"nothing like it\"]"), "it did not print `nothing like it`");
    }

    #[test]
    fn what_is_never_to_be_printed_is_found_within_lines() {
        let said = says("one\nit failed twice\r\n", "never = [\"failed\"]");
        assert_eq!(said.unwrap_err(), "it printed `it failed twice`; `failed` is never to be");
        assert!(says("one 1\n", r"never = [{ pattern = '^\d' }, 'two']").is_ok());
        assert!(says("one\n2\n", r"never = [{ pattern = '^\d' }]").is_err());
    }
}
