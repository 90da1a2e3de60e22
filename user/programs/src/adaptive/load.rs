//! A load that comes in bursts: how long jobs take, by seed. It walks up and down a few levels,
//! each twice the one below, so that one job tells of the next, and the highest level is rare
//! (S2B-E01; a choice: the traces of the paper's media player are not given).

use crate::random::Random;
use rt::Env;

/// What probabilities are parts of.
const WHOLE: u64 = 1_000;

/// The load of a task, job by job.
pub struct Load {
    random: Random,
    /// Units of work of a job on the lowest level, in the mean.
    calm: u64,
    /// The level, and the highest one.
    level: u64,
    highest: u64,
    /// How likely a job is one level above the one before, and below it, in thousandths.
    up: u64,
    down: u64,
    /// Percent by which the work of a job differs from its level's mean at most.
    spread: u64,
}

impl Load {
    /// By the arguments `calm` (units of work), `levels`, `up` and `down` (thousandths), `spread`
    /// (percent), `seed` and `stream`.
    pub fn of(env: &Env) -> Load {
        let seed = env.number("seed", 1).wrapping_mul(64).wrapping_add(env.number("stream", 0));
        Load {
            random: Random::new(seed),
            calm: env.number("calm", 1_000_000),
            level: 0,
            highest: env.number("levels", 1).clamp(1, 16) - 1,
            up: env.number("up", 0).min(WHOLE),
            down: env.number("down", 0).min(WHOLE),
            spread: env.number("spread", 0).min(100),
        }
    }

    /// Units of work of the next job.
    pub fn next(&mut self) -> u64 {
        let chance = self.random.below(WHOLE);
        if chance < self.up {
            self.level = (self.level + 1).min(self.highest);
        } else if chance >= WHOLE - self.down {
            self.level = self.level.saturating_sub(1);
        }
        let mean = self.calm << self.level;
        let half = mean * self.spread / 100;
        mean - half + self.random.below(2 * half + 1)
    }
}
