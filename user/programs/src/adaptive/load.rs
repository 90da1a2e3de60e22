//! A load that comes in bursts: how long jobs take, by seed. Two states, calm and burst; how many
//! jobs each lasts is random with a given mean, so that one job tells of the next (S2B-E01, by
//! choice: the paper's traces of a media player and of image processing are not given).

use crate::random::Random;
use rt::Env;

/// The load of a task, job by job.
pub struct Load {
    random: Random,
    /// Units of work of a job in the mean, when calm and in a burst.
    work: [u64; 2],
    /// Jobs in the mean until a state ends.
    jobs: [u64; 2],
    /// Percent by which the work of a job differs from the mean of its state at most.
    spread: u64,
    in_burst: bool,
}

impl Load {
    /// By the arguments `calm` and `burst` (units of work), `calm-jobs` and `burst-jobs` (0: it
    /// never ends), `spread` (percent), `seed` and `stream`.
    pub fn of(env: &Env) -> Load {
        let calm = env.number("calm", 1_000_000);
        let seed = env.number("seed", 1).wrapping_mul(64).wrapping_add(env.number("stream", 0));
        Load {
            random: Random::new(seed),
            work: [calm, env.number("burst", calm)],
            jobs: [env.number("calm-jobs", 0), env.number("burst-jobs", 0)],
            spread: env.number("spread", 0).min(100),
            in_burst: false,
        }
    }

    /// Units of work of the next job.
    pub fn next(&mut self) -> u64 {
        let jobs = self.jobs[usize::from(self.in_burst)];
        if jobs > 0 && self.random.below(jobs) == 0 {
            self.in_burst = !self.in_burst;
        }
        let mean = self.work[usize::from(self.in_burst)];
        let half = mean * self.spread / 100;
        mean - half + self.random.below(2 * half + 1)
    }
}
