//! Sets at one point, in shards that can be run in any order and anywhere.

use crate::arrivals::Miss;
use crate::player::PlayError;
use crate::{Arranged, Policy, Time, arrange};
use analysis::{AnalysisError, Random, Recipe, Task, generate};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Sets of a shard.
pub const SHARD: u64 = 100;
/// How long a set is played, in longest possible periods.
const LENGTH: u64 = 2;

/// What is drawn, and for which policies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// The policies that each set is given to.
    pub policies: Vec<Policy>,
    /// Sets at each point.
    pub sets: u64,
    /// The shortest period, in ns, at least 1 ms.
    pub shortest: Time,
    /// The longest period, in ns.
    pub longest: Time,
    /// The shortest deadline, in percent of the period, 10 to 100.
    pub deadline: u64,
}

/// Where sets are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Point {
    /// CPUs.
    pub cpus: usize,
    /// Tasks for each CPU.
    pub tasks: usize,
    /// Utilisation of each CPU, in percent.
    pub utilisation: u64,
}

/// What became of sets under one policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Sets.
    pub sets: u64,
    /// The analysis accepts.
    pub accepted: u64,
    /// Nothing was missed when they were played.
    pub met: u64,
    /// The analysis rejects, and nothing was missed.
    pub pessimistic: u64,
    /// The analysis accepts, and a deadline was missed.
    pub refuted: u64,
}

/// A set that the analysis accepts and that missed a deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// The policy.
    pub policy: Policy,
    /// Where.
    pub point: Point,
    /// The number of the set there.
    pub set: u64,
    /// Each task: `name C/T`, and `D` where that is less than `T`.
    pub tasks: Vec<String>,
    /// What was missed.
    pub miss: String,
}

/// What became of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Where.
    pub point: Point,
    /// Its number there.
    pub shard: u64,
    /// What became of its sets, by policy.
    pub counts: Vec<(Policy, Counts)>,
    /// Sets that refute the analysis.
    pub counters: Vec<Counter>,
}

/// Why a shard cannot be run.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ShardError {
    /// Sets cannot be drawn.
    #[error("{point:?}: {error}")]
    Drawn {
        /// Where.
        point: Point,
        /// Why.
        error: AnalysisError,
    },
    /// A set cannot be played.
    #[error("{policy:?}, set {set} at {point:?}: {error}")]
    Played {
        /// The policy.
        policy: Policy,
        /// Where.
        point: Point,
        /// The number of the set.
        set: u64,
        /// Why.
        error: PlayError,
    },
}

impl Counts {
    /// Adds what became of one set.
    pub fn add(&mut self, accepted: bool, missed: bool) {
        self.sets += 1;
        self.accepted += u64::from(accepted);
        self.met += u64::from(!missed);
        self.pessimistic += u64::from(!accepted && !missed);
        self.refuted += u64::from(accepted && missed);
    }
}

impl Point {
    /// The shards for so many sets.
    pub fn shards(sets: u64) -> u64 {
        sets.div_ceil(SHARD)
    }

    /// A generator for one set, the same whatever else is run.
    fn random(&self, seed: u64, set: u64) -> Random {
        let place = (self.cpus as u64) << 16 | (self.tasks as u64) << 8 | self.utilisation;
        Random::stream(seed, place << 32 | set)
    }

    /// The set with this number, and the generator of its arrivals.
    ///
    /// # Errors
    /// No set can be drawn that is as the parameters want.
    pub fn draw(
        &self,
        parameters: &Parameters,
        seed: u64,
        set: u64,
    ) -> Result<(Vec<Task>, Random), ShardError> {
        let mut random = self.random(seed, set);
        let recipe = Recipe {
            tasks: self.tasks * self.cpus,
            utilisation: (self.utilisation * self.cpus as u64) as f64 / 100.0,
            shortest: parameters.shortest,
            longest: parameters.longest,
            deadline: parameters.deadline as f64 / 100.0,
        };
        let drawn = generate(&recipe, &mut random);
        let tasks = drawn.map_err(|error| ShardError::Drawn { point: *self, error })?;
        Ok((tasks, random))
    }
}

/// Asks an analysis about a set, and plays it.
///
/// # Errors
/// It cannot be played.
pub fn judge(
    arranged: &Arranged,
    accepts: impl Fn(&Arranged) -> bool,
    longest: Time,
    random: Random,
) -> Result<(bool, Option<Miss>), PlayError> {
    Ok((accepts(arranged), arranged.played(LENGTH * longest, random)?))
}

/// Runs a shard: its sets under all policies for so many CPUs.
///
/// # Errors
/// A set cannot be drawn or played.
pub fn run(
    parameters: &Parameters,
    seed: u64,
    point: Point,
    shard: u64,
    accepts: impl Fn(&Arranged) -> bool,
) -> Result<Tally, ShardError> {
    let policies = parameters.policies.iter().filter(|policy| policy.is_for(point.cpus));
    let mut counts: Vec<(Policy, Counts)> = policies.map(|p| (*p, Counts::default())).collect();
    let mut counters = Vec::new();
    for set in shard * SHARD..parameters.sets.min((shard + 1) * SHARD) {
        let (tasks, random) = point.draw(parameters, seed, set)?;
        for (policy, counts) in &mut counts {
            let arranged = arrange(*policy, &tasks, point.cpus, parameters.shortest);
            let judged = judge(&arranged, &accepts, parameters.longest, random.clone());
            let played = |error| ShardError::Played { policy: *policy, point, set, error };
            let (accepted, miss) = judged.map_err(played)?;
            counts.add(accepted, miss.is_some());
            if let (true, Some(miss)) = (accepted, miss) {
                let (policy, tasks) = (*policy, tasks.iter().map(spelt).collect());
                counters.push(Counter { policy, point, set, tasks, miss: miss.to_string() });
            }
        }
    }
    Ok(Tally { point, shard, counts, counters })
}

fn spelt(task: &Task) -> String {
    let Task { name, execution, period, deadline, .. } = task;
    let due = if deadline < period { format!(" D={deadline}") } else { String::new() };
    format!("{name} C={execution} T={period}{due}")
}
