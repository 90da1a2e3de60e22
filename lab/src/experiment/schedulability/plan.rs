//! What a run consists of.

use super::{EXPERIMENT, POLICIES};
use crate::experiment::Asked;
use crate::failure::usage;
use acceptance::{Parameters, Point, Policy};
use anyhow::Result;
use serde::{Deserialize, Serialize};

/// What is drawn, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What is drawn.
    pub parameters: Parameters,
    /// Where, each with policies for it.
    pub points: Vec<Point>,
    /// The seed.
    pub seed: u64,
}

impl Plan {
    /// What a command line asks for.
    ///
    /// # Errors
    /// A usage error: periods that are none, or nothing to run.
    pub fn of(asked: &Asked) -> Result<Plan> {
        let number = |name| asked.number(name, usual(name)[0]);
        let numbers = |name| asked.numbers(name).unwrap_or_else(|| usual(name));
        let [shortest, longest] = ["shortest", "longest"].map(number);
        if shortest > longest {
            return Err(usage(format!(
                "the shortest period, {shortest} ns, exceeds the longest, {longest} ns: set both, \
                 such as --set shortest=5ms --set longest=50ms"
            )));
        }
        let names = asked.names("policy").unwrap_or(POLICIES.map(str::to_string).to_vec());
        let policies = Policy::ALL.into_iter().filter(|own| names.iter().any(|n| n == own.name()));
        let (sets, deadline) = (number("sets"), number("deadline"));
        let policies = policies.collect();
        let parameters = Parameters { policies, sets, shortest, longest, deadline };
        let mut points = Vec::new();
        for cpus in numbers("cpus") {
            let cpus = cpus as usize;
            if !parameters.policies.iter().any(|policy| policy.is_for(cpus)) {
                continue;
            }
            for tasks in numbers("tasks") {
                let point = |utilisation| Point { cpus, tasks: tasks as usize, utilisation };
                points.extend(numbers("utilisation").into_iter().map(point));
            }
        }
        points.sort_unstable();
        points.dedup();
        if points.is_empty() {
            return Err(usage(
                "none of these policies is for so many CPUs: `partitioned-edf` and `global-edf` \
                 are for several, such as --set cpus=4, the others for one",
            ));
        }
        Ok(Plan { parameters, points, seed: asked.seed })
    }

    /// All shards; those of one point are apart, so that what is left takes as long as what is
    /// done.
    pub fn shards(&self) -> Vec<(Point, u64)> {
        let shards = 0..Point::shards(self.parameters.sets);
        shards.flat_map(|shard| self.points.iter().map(move |point| (*point, shard))).collect()
    }

    /// Sets in all.
    pub fn sets(&self) -> u64 {
        self.parameters.sets * self.points.len() as u64
    }
}

/// The usual values of a parameter.
fn usual(name: &str) -> Vec<u64> {
    let own = EXPERIMENT.parameters.iter().find(|parameter| parameter.name == name);
    let values = own.map(|parameter| parameter.usual()).unwrap_or_default();
    values.iter().filter_map(results::Value::number).collect()
}
