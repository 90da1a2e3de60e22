use super::{
    ASKED, BUDGETS, EXPERIMENT, HARD_MISSED, MISSED, PEAK, SECOND, SERVERS, case, decisions,
    overhead,
};
use crate::experiment::{Boots, Emulated, Measured, Simulated};
use crate::machine::{Outcome, word_at};
use crate::systems;
use abi::reservation::{Budget, WHOLE};
use anyhow::{Context, Result};
use manifest::System;

/// What each adaptive server keeps by the paper's rule: a tick of its system.
const TICK: u64 = 1_000_000;
/// The hard tasks.
const HARD: [&str; 2] = ["hard-200", "hard-400"];
/// Words of a server's report: what its releases asked for, and from where on the longest job of
/// each task.
const WORD_ASKED: usize = 3;
const WORD_PEAKS: usize = 8;
/// Loads and nanoseconds of each run, unless it is said.
const MANY: (u64, u64) = (5, 60 * SECOND);
const FEW: (u64, u64) = (1, 10 * SECOND);

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

/// Sets a system up: how budgets are set, milliseconds, the load.
pub fn set_up(system: &mut System, budgets: &str, milliseconds: u64, load: u64) {
    let controls = BUDGETS[2..].contains(&budgets);
    systems::set(system, "control", &controls.to_string());
    systems::set(system, "milliseconds", &milliseconds.to_string());
    systems::set(system, "seed", &load.to_string());
    let rate = |limit: Budget| limit.budget as f64 / limit.period as f64;
    let class = system.reservations.iter().find(|one| one.name == "soft");
    let class = class.and_then(|class| class.limit).map_or(0.0, rate);
    let (soft, others): (Vec<_>, Vec<_>) = system
        .reservations
        .iter()
        .filter(|one| one.class.is_some())
        .partition(|one| one.adaptive.is_some());
    let sum = |all: &[&manifest::Reservation]| all.iter().filter_map(|it| it.limit).map(rate).sum();
    let (soft, others): (f64, f64) = (sum(&soft), sum(&others));
    for one in &mut system.reservations {
        let (Some(adaptive), Some(limit)) = (&mut one.adaptive, &mut one.limit) else { continue };
        match budgets {
            "adaptive" => adaptive.least = TICK,
            // Whole millionths: the sum is what the class has, or less.
            "filled" => {
                let part = rate(*limit) * (class - others) / soft;
                let millionths = (part * f64::from(WHOLE)).floor() as u64;
                limit.budget = millionths * limit.period / u64::from(WHOLE);
            }
            _ => {}
        }
    }
}

/// Sums over runs with different loads.
#[derive(Default)]
struct Sums {
    ended: [u64; SERVERS.len()],
    missed: [u64; SERVERS.len()],
    hard_missed: u64,
    asked: [Vec<u64>; SERVERS.len()],
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

fn measure(setup: &impl Boots, kernel: &str, usual: (u64, u64)) -> Result<Measured> {
    let mut measured = Measured::default();
    let loads = setup.asked.number("loads", usual.0);
    let time = setup.asked.number("time", usual.1);
    for budgets in BUDGETS {
        let mut sums = Sums::default();
        for load in 0..loads {
            let (mut tasks, mut begun) = (Vec::new(), Vec::new());
            // Loads of different seeds have nothing in common.
            let seed = setup.asked.seed + load;
            let outcome = setup.boot_changed(EXPERIMENT.name, kernel, &mut |system| {
                set_up(system, budgets, time / 1_000_000, seed);
                (tasks, begun) = (tasks_of(system), limits_of(system));
            })?;
            sums.add(&outcome, &tasks, time)?;
            if load == 0 && BUDGETS[2..].contains(&budgets) {
                let log = outcome.memories.get("decisions").context("the run left no log")?;
                let name = format!("{}-{budgets}", EXPERIMENT.name);
                let title = format!("Budgets over time, {budgets}");
                let changes = decisions::changes(log)?;
                measured.curves.push(decisions::curves(&name, &title, &begun, &changes));
            }
        }
        push(&mut measured, kernel, budgets, sums);
    }
    overhead::measure(setup, kernel, &mut measured)?;
    for metric in EXPERIMENT.metrics {
        let unit = if *metric == HARD_MISSED { "jobs" } else { "millionths" };
        measured.units.insert(metric.to_string(), unit.to_string());
    }
    Ok(measured)
}

fn push(measured: &mut Measured, kernel: &str, budgets: &str, sums: Sums) {
    let ratios: Vec<u64> = sums.ratios().collect();
    let samples = &mut measured.samples;
    for (server, ratio) in SERVERS.into_iter().zip(&ratios) {
        samples.push(kernel, MISSED, &case(budgets, server), vec![*ratio]);
    }
    samples.push(kernel, MISSED, &case(budgets, "sum"), vec![ratios.iter().sum()]);
    samples.push(kernel, HARD_MISSED, &format!("budgets={budgets}"), vec![sums.hard_missed]);
    // The load is the same, whatever the budgets.
    if budgets == BUDGETS[0] {
        let both = sums.asked.into_iter().zip(sums.peak);
        for (server, (asked, peak)) in SERVERS.into_iter().zip(both) {
            samples.push(kernel, ASKED, &format!("server={server}"), asked);
            samples.push(kernel, PEAK, &format!("server={server}"), peak);
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
fn limits_of(system: &System) -> Vec<(u64, u64)> {
    let limit = |server| {
        let found = system.reservations.iter().find(|one| one.name == server);
        let limit = found.and_then(|one| one.limit);
        limit.map_or((0, 1), |limit| (limit.budget, limit.period))
    };
    SERVERS.into_iter().map(limit).collect()
}

/// The controller numbers servers as its capabilities are: in the order of [`SERVERS`].
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
    fn the_controller_has_the_servers_in_this_order() {
        let system = system();
        let controller = system.domains.iter().find(|domain| domain.name == "controller").unwrap();
        let caps = controller.caps.iter().map(|cap| cap.name.as_str());
        assert!(caps.filter(|name| SERVERS.contains(name)).eq(SERVERS));
        assert_eq!(tasks_of(&system).len(), 6);
    }

    #[test]
    fn filled_budgets_leave_nothing() {
        let mut system = system();
        set_up(&mut system, "filled", 1, 1);
        let limits = limits_of(&system);
        let rates = limits.iter().map(|(budget, period)| *budget as f64 / *period as f64);
        let left = 0.6 - rates.sum::<f64>();
        assert!((0.0..0.000_01).contains(&left), "{left}");
        set_up(&mut system, "adaptive", 1, 1);
        let least = system.reservations.iter().filter_map(|it| Some(it.adaptive?.least));
        assert!(least.eq([TICK; 3]));
    }
}
