use super::decisions::Begun;
use super::{
    ASKED, BUDGETS, CLASS, EXPERIMENT, HARD_MISSED, HELD, HOLDS, LATE, MISSED, PEAK, SECOND,
    SERVERS, case, decisions, load_of, of, overhead,
};
use crate::experiment::{Boots, Emulated, Measured, Setup, Simulated};
use crate::machine::{Outcome, word_at};
use crate::systems;
use abi::reservation::WHOLE;
use anyhow::{Context, Result};
use manifest::{Reservation, System};
use results::Curves;

/// What each adaptive server keeps by the paper's rule: a tick of its system.
const TICK: u64 = 1_000_000;
/// How long a level of the load lasts as the manifest has it, in nanoseconds.
const HOLD: u64 = SECOND;
/// The hard tasks.
const HARD: [&str; 2] = ["hard-200", "hard-400"];
/// Words of a server's report: what its releases asked for, and from where on the longest job of
/// each task.
const WORD_ASKED: usize = 3;
const WORD_PEAKS: usize = 8;
/// Loads, nanoseconds of each run and how long levels last, unless it is said.
type Usual = (u64, u64, &'static [u64]);
const MANY: Usual = (5, 60 * SECOND, &HOLDS);
const FEW: Usual = (1, 10 * SECOND, &[HOLD]);

pub fn simulated(setup: &Simulated, kernel: &str) -> Result<Measured> {
    measure(setup, kernel, MANY)
}

pub fn emulated(setup: &Emulated, kernel: &str) -> Result<Measured> {
    measure(setup, kernel, FEW)
}

/// A line `had` of the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Had {
    /// CPU time in microseconds.
    pub service: u64,
    /// Jobs that ended.
    pub ended: u64,
    /// Those that were late.
    pub missed: u64,
}

/// What a run says that a reservation has had.
pub fn had(console: &str, name: &str) -> Result<Had> {
    let line = console.lines().find_map(|line| line.strip_prefix("had ")?.strip_prefix(name));
    let numbers = line.map(|line| line.split_whitespace().map(str::parse).collect());
    let numbers: Option<Result<Vec<u64>, _>> = numbers;
    match numbers.with_context(|| format!("the run says nothing of `{name}`"))??[..] {
        [service, ended, missed] => Ok(Had { service, ended, missed }),
        _ => anyhow::bail!("`had {name}` is not what the program prints"),
    }
}

/// Sets a system up: how budgets are set, milliseconds, the load, and its means if they are known
/// (millionths of the CPU).
pub fn set_up(
    system: &mut System,
    budgets: &str,
    (milliseconds, load): (u64, u64),
    means: Option<[u64; SERVERS.len()]>,
) {
    let controls = BUDGETS[2..].contains(&budgets);
    systems::set(system, "control", &controls.to_string());
    systems::set(system, "milliseconds", &milliseconds.to_string());
    systems::set(system, "seed", &load.to_string());
    let left = left_to_soft(system);
    let means = means.unwrap_or_else(|| limits_of(system).map(rate));
    let asked: u64 = means.iter().sum();
    let of = |mean: u64| match budgets {
        "filled" => mean * left / asked.max(1),
        // What does not fit is cut alike.
        _ => mean.min(mean * left / asked.max(1)),
    };
    for (server, mean) in SERVERS.into_iter().zip(means) {
        let one = system.reservations.iter_mut().find(|one| one.name == server);
        let Some((Some(adaptive), Some(limit))) =
            one.map(|one| (one.adaptive.as_mut(), one.limit.as_mut()))
        else {
            continue;
        };
        limit.budget = (of(mean) * limit.period / u64::from(WHOLE)).max(TICK);
        adaptive.least = if budgets == "kept" { limit.budget } else { TICK };
    }
    set_class(system, budgets);
}

/// The class keeps what its servers keep, or all that it has.
fn set_class(system: &mut System, budgets: &str) {
    let servers = system.reservations.iter().filter(|one| SERVERS.contains(&one.name.as_str()));
    let kept = servers.filter_map(|one| Some((one.adaptive?.least, one.limit?.period)));
    let kept: u64 = kept.map(|(least, period)| (least * u64::from(WHOLE)).div_ceil(period)).sum();
    let Some(class) = system.reservations.iter_mut().find(|one| one.name == CLASS) else {
        return;
    };
    let period = class.limit.map_or(0, |limit| limit.period);
    class.adaptive = class.adaptive.filter(|_| budgets != "flat");
    if let Some(adaptive) = &mut class.adaptive {
        adaptive.least = (kept * period).div_ceil(u64::from(WHOLE));
    }
}

/// Lets a level of the load last so long in the mean.
fn hold_levels(system: &mut System, hold: u64) {
    let args = system.domains.iter_mut().flat_map(|domain| &mut domain.args);
    for (_, value) in args.filter(|(name, _)| ["up", "down"].contains(&name.as_str())) {
        let thousandths = value.parse().unwrap_or(0) * HOLD / hold;
        // Both directions as likely as before, one after the other at most.
        *value = thousandths.clamp(1, 500).to_string();
    }
}

/// A budget in millionths of the CPU, rounded down.
fn rate((budget, period): (u64, u64)) -> u64 {
    budget * u64::from(WHOLE) / period
}

/// What their class has for the soft servers, in millionths of the CPU.
fn left_to_soft(system: &System) -> u64 {
    let limit = |one: &Reservation| one.limit.map_or(0, |it| rate((it.budget, it.period)));
    let Some(class) = system.reservations.iter().position(|one| one.name == CLASS) else {
        return 0;
    };
    let all = system.reservations.iter();
    let others = all.filter(|one| one.class == Some(class) && one.adaptive.is_none());
    limit(&system.reservations[class]) - others.map(|one| limit(one) + 1).sum::<u64>()
}

/// Sums over runs with different loads.
#[derive(Default)]
struct Sums {
    ended: [u64; SERVERS.len()],
    missed: [u64; SERVERS.len()],
    hard_missed: u64,
    asked: [Vec<u64>; SERVERS.len()],
    held: Vec<u64>,
    peak: [Vec<u64>; SERVERS.len()],
}

impl Sums {
    fn add(&mut self, outcome: &Outcome, tasks: &[(usize, String)], time: u64) -> Result<()> {
        for (server, task) in tasks {
            let had = had(&outcome.console, task)?;
            self.ended[*server] += had.ended;
            self.missed[*server] += had.missed;
        }
        for task in HARD {
            self.hard_missed += had(&outcome.console, task)?.missed;
        }
        for (server, name) in SERVERS.into_iter().enumerate() {
            let report = outcome.memories.get(name);
            let report = report.with_context(|| format!("the run left no memory `{name}`"))?;
            let asked = word_at(report, WORD_ASKED).context("the report is too short")?;
            self.asked[server].push((u128::from(asked) * 1_000_000 / u128::from(time)) as u64);
            self.peak[server].push((WORD_PEAKS..).map_while(|at| word_at(report, at)).sum());
        }
        Ok(())
    }

    /// Late jobs of all, in millionths.
    fn ratios(&self) -> impl Iterator<Item = u64> {
        let both = self.missed.iter().zip(&self.ended);
        both.map(|(missed, ended)| missed * 1_000_000 / ended.max(&1))
    }
}

fn measure(setup: &impl Boots, kernel: &str, usual: Usual) -> Result<Measured> {
    let mut measured = Measured::default();
    for hold in setup.asked.numbers("hold").unwrap_or(usual.2.to_vec()) {
        measure_held(setup, kernel, usual, hold, &mut measured)?;
    }
    overhead::measure(setup, kernel, &mut measured)?;
    for metric in EXPERIMENT.metrics {
        let unit = if [HARD_MISSED, LATE].contains(metric) { "jobs" } else { "millionths" };
        measured.units.insert(metric.to_string(), unit.to_string());
    }
    Ok(measured)
}

/// All budgets where levels of the load last so long.
fn measure_held(
    setup: &impl Boots,
    kernel: &str,
    usual: Usual,
    hold: u64,
    measured: &mut Measured,
) -> Result<()> {
    let loads = setup.asked.number("loads", usual.0);
    let time = setup.asked.number("time", usual.1);
    let mut sums = BUDGETS.map(|_| Sums::default());
    for load in (0..loads).map(|load| setup.asked.seed + load) {
        // What the load asks for does not depend on budgets, and the fixed ones go by it.
        let mut means = None;
        for (budgets, sums) in BUDGETS.into_iter().zip(&mut sums) {
            let run = Run { setup, kernel, budgets, hold, time, load };
            if means.is_none() {
                means = Some(run.asked()?);
            }
            let first = load == setup.asked.seed;
            measured.curves.extend(run.count(means, sums)?.filter(|_| first));
        }
    }
    for (budgets, sums) in BUDGETS.into_iter().zip(sums) {
        push(measured, kernel, (hold, budgets), sums);
    }
    Ok(())
}

/// A run of the system.
struct Run<'a> {
    setup: &'a Setup,
    kernel: &'a str,
    budgets: &'a str,
    hold: u64,
    time: u64,
    load: u64,
}

impl Run<'_> {
    fn boot(
        &self,
        means: Option<[u64; SERVERS.len()]>,
        look: &mut dyn FnMut(&System),
    ) -> Result<Outcome> {
        self.setup.boot_changed(EXPERIMENT.name, self.kernel, &mut |system| {
            hold_levels(system, self.hold);
            set_up(system, self.budgets, (self.time / 1_000_000, self.load), means);
            look(system);
        })
    }

    /// What the load of each server asks for in the mean, in millionths of the CPU.
    fn asked(&self) -> Result<[u64; SERVERS.len()]> {
        let mut sums = Sums::default();
        sums.add(&self.boot(None, &mut |_| {})?, &[], self.time)?;
        Ok(sums.asked.map(|asked| asked.iter().sum()))
    }

    /// Counts the run; returns the budgets over time, if they change.
    fn count(
        &self,
        means: Option<[u64; SERVERS.len()]>,
        sums: &mut Sums,
    ) -> Result<Option<Curves>> {
        let (mut tasks, mut begun) = (Vec::new(), Vec::new());
        let outcome = self.boot(means, &mut |system| {
            (tasks, begun) = (tasks_of(system), controlled(system));
        })?;
        sums.add(&outcome, &tasks, self.time)?;
        if !BUDGETS[2..].contains(&self.budgets) {
            return Ok(None);
        }
        let log = outcome.memories.get("decisions").context("the run left no log")?;
        let hold = self.hold / 1_000_000;
        let name = format!("{}-{}-{hold}ms", EXPERIMENT.name, self.budgets);
        let title = format!("Budgets over time, {}, levels of {hold} ms", self.budgets);
        let changes = decisions::changes(log)?;
        sums.held.extend(decisions::mean(&begun, &changes, CLASS, self.time));
        Ok(Some(decisions::curves(&name, &title, &begun, &changes)))
    }
}

fn push(measured: &mut Measured, kernel: &str, (hold, budgets): (u64, &str), sums: Sums) {
    let ratios: Vec<u64> = sums.ratios().collect();
    let samples = &mut measured.samples;
    for (server, ratio) in SERVERS.into_iter().zip(&ratios) {
        samples.push(kernel, MISSED, &case(hold, budgets, server), vec![*ratio]);
    }
    samples.push(kernel, MISSED, &case(hold, budgets, "sum"), vec![ratios.iter().sum()]);
    samples.push(kernel, LATE, &of(hold, budgets), vec![sums.missed.iter().sum()]);
    samples.push(kernel, HARD_MISSED, &of(hold, budgets), vec![sums.hard_missed]);
    if !sums.held.is_empty() {
        samples.push(kernel, HELD, &of(hold, budgets), sums.held);
    }
    // The load is the same, whatever the budgets.
    if budgets == BUDGETS[0] {
        let both = sums.asked.into_iter().zip(sums.peak);
        for (server, (asked, peak)) in SERVERS.into_iter().zip(both) {
            samples.push(kernel, ASKED, &load_of(hold, server), asked);
            samples.push(kernel, PEAK, &load_of(hold, server), peak);
        }
    }
}

/// The soft tasks, with the numbers of their servers.
fn tasks_of(system: &System) -> Vec<(usize, String)> {
    let task = |one: &manifest::Reservation| {
        let class = &system.reservations[one.class?].name;
        let server = SERVERS.iter().position(|server| server == class)?;
        Some((server, one.name.clone()))
    };
    system.reservations.iter().filter_map(task).collect()
}

/// Budget and period of each server.
fn limits_of(system: &System) -> [(u64, u64); SERVERS.len()] {
    SERVERS.map(|server| {
        let found = system.reservations.iter().find(|one| one.name == server);
        let limit = found.and_then(|one| one.limit);
        limit.map_or((0, 1), |limit| (limit.budget, limit.period))
    })
}

/// What the controller begins with, by its numbers, which follow its capabilities.
fn controlled(system: &System) -> Vec<Begun> {
    let controller = system.domains.iter().find(|domain| domain.name == "controller");
    let caps = controller.into_iter().flat_map(|domain| &domain.caps);
    let of = |cap: &manifest::Capability| {
        let manifest::Target::Reservation(at) = cap.target else { return None };
        let one = &system.reservations[at];
        one.adaptive?;
        let limit = one.limit?;
        Some(Begun { name: one.name.clone(), budget: limit.budget, period: limit.period })
    };
    caps.filter(|cap| cap.rights.contains(abi::Rights::CONTROL)).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system() -> System {
        systems::load(EXPERIMENT.name).expect("it is a system")
    }

    #[test]
    fn lines_are_read_by_name() {
        let console = "had s3 1 2 3\nhad s3-player 4 5 6\nhad odd 1\n";
        assert_eq!(had(console, "s3").unwrap(), Had { service: 1, ended: 2, missed: 3 });
        assert_eq!(had(console, "s3-player").unwrap(), Had { service: 4, ended: 5, missed: 6 });
        assert!(had(console, "odd").is_err() && had(console, "none").is_err());
    }

    #[test]
    fn servers_have_the_controllers_numbers() {
        let mut system = system();
        let names = |system: &System| {
            controlled(system).into_iter().map(|one| one.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&system), ["soft", "s3", "s4", "s5"]);
        assert_eq!(tasks_of(&system).len(), 6);
        set_up(&mut system, "flat", (1, 1), None);
        assert_eq!(names(&system), SERVERS);
    }

    #[test]
    fn budgets_go_by_the_means() {
        let rates = |budgets, means| {
            let mut system = system();
            set_up(&mut system, budgets, (1, 1), means);
            limits_of(&system).map(rate)
        };
        let near = |ours: [u64; 3], expected: [u64; 3]| {
            let off = ours.into_iter().zip(expected).map(|(a, b)| b.abs_diff(a));
            assert!(off.max() <= Some(2), "{ours:?} and {expected:?}");
        };
        let means = [100_000, 60_000, 40_000];
        near(rates("fixed", Some(means)), means);
        near(rates("filled", Some(means)), means.map(|mean| 3 * mean));
        near(rates("adaptive", None), [133_500, 123_600, 119_800]);
        near(rates("kept", Some(means.map(|mean| 10 * mean))), means.map(|mean| 3 * mean));
        let sum = rates("filled", None).iter().sum::<u64>();
        assert!((599_990..600_000).contains(&sum), "{sum}");
    }

    #[test]
    fn levels_last_as_long_as_is_asked_for() {
        let ups = |hold| {
            let mut system = system();
            hold_levels(&mut system, hold);
            let player = system.domains.iter().find(|domain| domain.name == "s3-player");
            let args = player.into_iter().flat_map(|domain| domain.args.clone());
            args.filter(|(name, _)| name == "up" || name == "down")
                .map(|(_, value)| value)
                .collect::<Vec<_>>()
        };
        assert_eq!(ups(HOLD), ["13", "27"]);
        assert_eq!(ups(HOLD / 4), ["52", "108"]);
        assert_eq!(ups(60 * HOLD), ["1", "1"]);
    }

    #[test]
    fn least_budgets_are_ticks_or_means() {
        for (budgets, least) in
            [("adaptive", [TICK; 3]), ("kept", [2_000_000, 6_000_000, 3_000_000])]
        {
            let mut system = system();
            set_up(&mut system, budgets, (1, 1), Some([100_000, 60_000, 40_000]));
            let kept = |wanted: &str| {
                let found = system.reservations.iter().find(|it| it.name == wanted);
                found.and_then(|it| it.adaptive).map_or(0, |it| it.least)
            };
            assert_eq!(SERVERS.map(kept), least, "{budgets}");
            // Of each 10 ms: 5, 1 and 1.3334 %, or the means.
            let class = if budgets == "kept" { 2_000_000 } else { 733_340 };
            assert_eq!(kept(CLASS), class, "{budgets}");
        }
    }
}
