//! Tests of a user's system: what its `tests.toml` says that runs have to print.

use super::findings::{Findings, nothing_of};
use super::job::{self, Choice, Job};
use super::late;
use crate::accounts::{Account, Accounts, Bounds};
use crate::cli::Group;
use crate::failure::usage;
use crate::faults::{self, Fault};
use crate::image::{self, Extra, Images};
use crate::machine::{self, Boot, Exit, MACHINES, Machine, Outcome, Simulation};
use crate::restarts;
use crate::{commands, systems, workspace};
use abi::trace::Keep;
use anyhow::{Context, Result, bail, ensure};
use manifest::{Origin, Reservation, System, spell_duration};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toml::Value;

/// Seconds that a run may take that does not say.
const SECONDS: u64 = 60;
/// Places in which the simulation injects once, on average, where a test has seeds.
const CHAOS: u64 = 10;
/// Calmer values, tried in this order with a seed that failed.
const CALMER: [u64; 5] = [0, 10_000, 1_000, 100, 30];

/// `tests.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    test: Vec<Test>,
}

/// A `[[test]]`.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Test {
    name: String,
    machines: Option<Vec<String>>,
    #[serde(default)]
    args: BTreeMap<String, Value>,
    /// What goes wrong with devices.
    #[serde(default)]
    faults: BTreeMap<String, String>,
    #[serde(default)]
    console: Vec<String>,
    #[serde(default)]
    status: u32,
    kernel: Option<String>,
    locking: Option<String>,
    cpus: Option<u32>,
    seeds: Option<u64>,
    chaos: Option<u64>,
    seconds: Option<u64>,
    latency: Option<late::Asked>,
    /// How many jobs of a reservation may be late.
    #[serde(default)]
    late: BTreeMap<String, u64>,
    /// How often a reservation's budget may be used up.
    #[serde(default)]
    overruns: BTreeMap<String, u64>,
    /// How long a job of a reservation may take from its release to its end.
    #[serde(default)]
    response: BTreeMap<String, String>,
}

/// The manifest of a user's system, if that is what a word of the command line names.
pub fn manifest(word: &str) -> Option<PathBuf> {
    let given = Path::new(word);
    let path = if given.is_dir() { given.join(systems::MANIFEST) } else { given.to_path_buf() };
    (path.extension()? == "toml" && path.is_file()).then_some(path)
}

/// The tests of a system that are asked for, a job for each machine. All that they need is built
/// before, as soon as nothing is wrong with any.
pub fn jobs(manifest: &Path, choice: &Choice) -> Result<Vec<Job>> {
    let system = systems::load(&manifest.display().to_string())?;
    let path = manifest.with_file_name(systems::TESTS);
    let shown = workspace::shown(&path);
    let text = fs_err::read_to_string(&path).map_err(|error| usage(error.to_string()))?;
    let file: File = toml::from_str(&text).map_err(|error| usage(format!("{shown}: {error}")))?;
    if file.test.is_empty() {
        return Err(usage(format!("{shown} has no `[[test]]`")));
    }
    let mut all = Vec::new();
    for test in file.test {
        for machine in machines(&test, &system).with_context(|| shown.clone())? {
            let mut system = changed(&test, &system).with_context(|| shown.clone())?;
            image::check_cpus(machine, &system)?;
            image::check_devices(machine, &system)?;
            let limits = test.latency.as_ref().map(|asked| asked.limits(&system)).transpose();
            let limits = limits.with_context(|| shown.clone())?;
            let limits = limits.map(|limits| (limits, system.add_trace(late::TRACE, Keep::First)));
            let accounts = accounts(&test, &mut system).with_context(|| shown.clone())?;
            system.add_panics();
            let (test, images, manifest) = (test.clone(), Arc::default(), manifest.into());
            all.push(One { test, machine, system, images, manifest, limits, accounts });
        }
    }
    all.retain(|one| choice.names(&job::title(Group::System, &one.name())));
    let mut images: BTreeMap<(&str, Option<Extra>), Arc<Images>> = BTreeMap::new();
    for one in &mut all {
        let built = (one.machine.name(), image::extra_for(&one.system));
        let images = match images.entry(built) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Arc::new(image::build_for(one.machine, &one.system)?)),
        };
        one.images = images.clone();
    }
    let job = |one: One| Job::new(Group::System, one.name(), move |_: &mut Findings| one.check());
    Ok(all.into_iter().map(job).collect())
}

/// The machines that a test runs on: those that it names, or all that can.
fn machines(test: &Test, system: &System) -> Result<Vec<&'static dyn Machine>> {
    let is_file = |origin: &Origin| matches!(origin, Origin::Elf(_));
    let only_emulated = system.domains.iter().any(|domain| is_file(&domain.origin));
    let named = |name: &String| {
        let known = || MACHINES.map(|machine| machine.name()).join(", ");
        let found = machine::find(name);
        found.ok_or_else(|| usage(format!("there is no machine `{name}`, only {}", known())))
    };
    let machines = match &test.machines {
        Some(names) => names.iter().map(named).collect::<Result<Vec<_>>>()?,
        None => {
            let has_devices = system.devices.is_some();
            let can = |emulated| if emulated { !has_devices } else { !only_emulated };
            MACHINES.into_iter().filter(|it| can(it.emulator().is_some())).collect()
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

/// Asks for accounts, if a test is about them, of reservations that have what it asks for.
fn accounts(test: &Test, system: &mut System) -> Result<Option<String>> {
    let is_leaf = |node: &Reservation| node.policy.is_none();
    let is_timed = |node: &Reservation| node.timing.is_some();
    let is_limited = |node: &Reservation| node.limit.is_some();
    let [late, overruns] = [&test.late, &test.overruns].map(|asked| asked.keys().collect());
    let response = test.response.keys().collect::<Vec<_>>();
    for (asked, what, fits) in [
        (late, "a deadline", &is_timed as &dyn Fn(&Reservation) -> bool),
        (overruns, "a budget", &is_limited),
        (response, "jobs", &is_leaf),
    ] {
        for name in asked {
            let mut nodes = system.reservations.iter();
            if !nodes.any(|node| node.name == *name && fits(node)) {
                let test = &test.name;
                let message = format!("test `{test}`: no reservation `{name}` has {what}");
                return Err(usage(message));
            }
        }
    }
    test.response.values().try_for_each(|text| late::time(text).map(drop))?;
    let is_asked = !test.late.is_empty() || !test.overruns.is_empty() || !test.response.is_empty();
    Ok(if is_asked { system.add_accounts() } else { None })
}

/// The system as a test changes it.
fn changed(test: &Test, system: &System) -> Result<System> {
    let mut system = system.clone();
    for (name, value) in &test.args {
        let value = value.as_str().map_or_else(|| value.to_string(), String::from);
        systems::set_argument(&mut system, &format!("{name}={value}"))?;
    }
    for (device, fault) in &test.faults {
        systems::set_fault(&mut system, &format!("{device}={fault}"))?;
    }
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
    images: Arc<Images>,
    manifest: PathBuf,
    /// Limits on latency, and the memory with the trace that they are judged by.
    limits: Option<(Vec<late::Limit>, String)>,
    /// The memory with what reservations had.
    accounts: Option<String>,
}

impl One {
    /// What it is called: a test runs on several machines.
    fn name(&self) -> String {
        format!("{}, on {}", self.test.name, self.machine.name())
    }

    fn check(&self) -> Result<()> {
        let Some(seeds) = self.test.seeds else {
            return self.judge(1, self.test.chaos.unwrap_or(0)).map(drop);
        };
        let chaos = self.test.chaos.unwrap_or(CHAOS);
        for seed in 1..=seeds {
            let Err(first) = self.judge(seed, chaos) else { continue };
            // The calmest run that fails is the easiest to understand.
            let calmer = CALMER.into_iter().filter(|calmer| *calmer == 0 || *calmer > chaos);
            let calmest =
                calmer.filter_map(|calmer| Some((calmer, self.judge(seed, calmer).err()?)));
            let (chaos, error) = calmest.into_iter().next().unwrap_or((chaos, first));
            bail!("seed {seed} of {seeds}: {error:#}\nagain: {}", self.again(seed, chaos));
        }
        Ok(())
    }

    /// The command that repeats a run.
    fn again(&self, seed: u64, chaos: u64) -> String {
        let manifest = self.manifest.display();
        let mut command = format!("./giusto run {manifest} --machine twin --seed {seed}");
        let Test { kernel, locking, cpus, .. } = &self.test;
        let cpus = cpus.map(|cpus| cpus.to_string());
        let changed = [("kernel", kernel), ("locking", locking), ("cpus", &cpus)];
        for (name, value) in changed {
            let option = value.as_ref().map(|value| format!(" --{name} {value}"));
            command.push_str(&option.unwrap_or_default());
        }
        if chaos > 0 {
            command.push_str(&format!(" --chaos {chaos}"));
        }
        let args = self.test.args.iter();
        let args = args
            .map(|(name, value)| (name, value.as_str().map_or(value.to_string(), String::from)));
        args.for_each(|(name, value)| command.push_str(&format!(" --arg {name}={value}")));
        let faults = self.test.faults.iter();
        faults.for_each(|(at, fault)| command.push_str(&format!(" --fault '{at}={fault}'")));
        command
    }

    fn judge(&self, seed: u64, chaos: u64) -> Result<()> {
        let seconds = self.test.seconds.unwrap_or(SECONDS);
        let boot = Boot::new(self.machine, &self.images, &self.system)
            .seed(seed)
            .timeout(Duration::from_secs(seconds))
            .simulation(Simulation { chaos, ..Simulation::default() });
        let outcome = machine::boot(&boot)?;
        let judged = ended(&outcome, self.test.status, seconds)
            .and_then(|()| nothing_of(self.faults(&outcome)))
            .and_then(|()| self.stay_up(&outcome))
            .and_then(|()| printed(&outcome.console, &self.test.console))
            .and_then(|()| self.judge_latency(&outcome))
            .and_then(|()| self.judge_accounts(&outcome));
        judged.map_err(|error| anyhow::anyhow!("{error:#}\n{}", last_lines(&outcome.console)))
    }

    fn faults(&self, outcome: &Outcome) -> impl Iterator<Item = Fault> {
        let faults = faults::told(outcome, &self.system, &self.images);
        faults.into_iter().filter(|fault| !fault.expected)
    }

    fn stay_up(&self, outcome: &Outcome) -> Result<()> {
        let restarts = restarts::told(outcome, &self.system, &self.images);
        let down = restarts.down.join(", ");
        ensure!(down.is_empty() || restarts.expected, "given up: {down}\n{restarts}");
        Ok(())
    }

    fn judge_accounts(&self, outcome: &Outcome) -> Result<()> {
        let Test { late, overruns, response, .. } = &self.test;
        let none = Bounds::default();
        let told = Accounts::told(outcome, &self.system, self.accounts.as_ref(), &none);
        for (name, most) in late {
            let missed = told.of(name).and_then(|account| account.missed);
            let missed = missed.with_context(|| format!("nothing is known of `{name}`"))?;
            ensure!(missed <= *most, "{missed} jobs of `{name}` were late, more than {most}");
        }
        for (name, most) in overruns {
            let used = told.of(name).and_then(|account| account.overruns);
            let used = used.with_context(|| format!("nothing is known of `{name}`"))?;
            ensure!(used <= *most, "`{name}` used its budget up {used} times, more than {most}");
        }
        for (name, most) in response {
            // A job that is still late counts as one that has ended.
            let done = |account: &&Account| account.jobs > 0 || account.missed > Some(0);
            let worst = told.of(name).filter(done).map(|account| account.worst_ns);
            let worst = worst.with_context(|| format!("no job of `{name}` has ended"))?;
            let took = spell_duration(worst);
            ensure!(worst <= late::time(most)?, "a job of `{name}` took {took}, more than {most}");
        }
        Ok(())
    }

    fn judge_latency(&self, outcome: &Outcome) -> Result<()> {
        let Some((limits, memory)) = &self.limits else { return Ok(()) };
        let bytes = outcome.memories.get(memory).context("the run ended without a trace")?;
        late::judge(limits, bytes, &self.system)
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

/// Lines have to be there in their order, with any others between them.
fn printed(console: &str, wanted: &[String]) -> Result<()> {
    let mut lines = console.lines().map(str::trim_end);
    for line in wanted {
        ensure!(lines.any(|printed| printed == line), "it did not print `{line}` where it should");
    }
    Ok(())
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

    #[test]
    fn lines_are_wanted_in_their_order() {
        let wanted = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
            printed("one\r\ntwo\nthree\n", &lines).is_ok()
        };
        assert!(wanted(&[]) && wanted(&["one", "three"]) && wanted(&["two"]));
        assert!(!wanted(&["three", "one"]) && !wanted(&["tw"]) && !wanted(&["one", "one"]));
    }

    #[test]
    fn a_file_of_tests_is_read_strictly() {
        let read = |text: &str| toml::from_str::<File>(text).map(|file| file.test.len());
        assert_eq!(read("[[test]]\nname = \"it runs\"\n"), Ok(1));
        let error = read("[[test]]\nname = \"it runs\"\nconsol = []\n").unwrap_err().to_string();
        assert!(error.contains("unknown field `consol`") && error.contains("line 3"), "{error}");
    }
}
