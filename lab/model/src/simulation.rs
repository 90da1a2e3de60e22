//! The same system event by event, also where no formula reaches: service that depends on which
//! CPU had the lock before.

use crate::batches::Batches;
use crate::error::positive;
use crate::repairman::check_cpus;
use crate::{Interval, ModelError, Topology};
use analysis::Random;
use serde::Serialize;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// Batches that a simulation measures, unless told otherwise.
const BATCHES: usize = 32;
/// Passes in each, unless told otherwise; of many CPUs so many of each.
const BATCH: [usize; 2] = [5_000, 20];

/// How long a CPU has the lock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    /// Exponentially distributed, with this mean.
    Exponential(f64),
    /// Always this long.
    Deterministic(f64),
    /// `hold + transfers * L`, where L is the time of a line from the lock's last owner.
    HandOff {
        /// With all lines at hand.
        hold: f64,
        /// Lines that a hand-off fetches one after the other.
        transfers: f64,
        /// How far CPUs are from each other; the simulated CPUs are its first.
        topology: Topology,
    },
}

/// What to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Simulation {
    /// N.
    pub cpus: usize,
    /// a, the mean of exponentially distributed times.
    pub think: f64,
    /// How long a CPU has the lock.
    pub service: Service,
    /// Runs with the same seed are the same.
    pub seed: u64,
    /// Passes through the lock before anything is measured.
    pub warm_up: usize,
    /// Batches that are measured.
    pub batches: usize,
    /// Passes through the lock in each.
    pub batch: usize,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Simulated {
    /// N.
    pub cpus: usize,
    /// X.
    pub throughput: Interval,
    /// R.
    pub response: Interval,
    /// The mean service time.
    pub service: f64,
    /// The share of passes in which the CPU had been the lock's last owner already.
    pub reacquired: f64,
    /// The share of passes in which the last owner was on another socket.
    pub crossed: f64,
    /// Passes that were measured.
    pub passes: usize,
}

impl Simulation {
    /// A simulation of usual length: 32 batches of 5,000 passes, or of 20 for each CPU.
    pub fn new(cpus: usize, think: f64, service: Service, seed: u64) -> Simulation {
        let batch = BATCH[0].max(BATCH[1] * cpus);
        Simulation { cpus, think, service, seed, warm_up: batch, batches: BATCHES, batch }
    }

    /// Runs it.
    pub fn run(&self) -> Result<Simulated, ModelError> {
        self.check()?;
        let mut system = System::start(self);
        let mut totals = Totals::default();
        (0..self.warm_up).for_each(|_| system.pass(self, &mut totals));
        totals = Totals::default();
        let (mut intervals, mut responses) = (Batches::default(), Batches::default());
        for _ in 0..self.batches {
            let (start, before) = (system.clock, totals.response);
            (0..self.batch).for_each(|_| system.pass(self, &mut totals));
            intervals.push((system.clock - start) / self.batch as f64);
            responses.push((totals.response - before) / self.batch as f64);
        }
        let passes = self.batches * self.batch;
        let share = |count: usize| count as f64 / passes as f64;
        Ok(Simulated {
            cpus: self.cpus,
            throughput: inverse(intervals.interval()),
            response: responses.interval(),
            service: totals.service / passes as f64,
            reacquired: share(totals.reacquired),
            crossed: share(totals.crossed),
            passes,
        })
    }

    fn check(&self) -> Result<(), ModelError> {
        check_cpus(self.cpus)?;
        positive("think", self.think)?;
        if self.batches < 2 || self.batch == 0 {
            return Err(ModelError::Batches);
        }
        match self.service {
            Service::Exponential(mean) | Service::Deterministic(mean) => {
                positive("service", mean)?;
            }
            Service::HandOff { hold, transfers, topology } => {
                positive("service", hold)?;
                // Zero is a possible distance, and no transfers a possible lock.
                let transfers = [transfers, topology.within, topology.across];
                for value in transfers.into_iter().filter(|value| *value != 0.0) {
                    positive("transfer", value)?;
                }
                if self.cpus > topology.cpus() {
                    return Err(ModelError::Cpus { cpus: self.cpus, most: topology.cpus() });
                }
            }
        }
        Ok(())
    }
}

/// The throughput for a time from one pass to the next.
fn inverse(time: Interval) -> Interval {
    let high = if time.low > 0.0 { 1.0 / time.low } else { f64::INFINITY };
    Interval { value: 1.0 / time.value, low: 1.0 / time.high, high }
}

/// Sums over passes.
#[derive(Default)]
struct Totals {
    response: f64,
    service: f64,
    reacquired: usize,
    crossed: usize,
}

/// When a CPU asks for the lock.
#[derive(Clone, Copy, PartialEq)]
struct Request {
    at: f64,
    cpu: usize,
}

impl Eq for Request {}

impl PartialOrd for Request {
    fn partial_cmp(&self, other: &Request) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Request {
    fn cmp(&self, other: &Request) -> Ordering {
        self.at.total_cmp(&other.at).then(self.cpu.cmp(&other.cpu))
    }
}

/// All CPUs at an instant at which the lock has just been released.
struct System {
    clock: f64,
    random: Random,
    /// The CPUs that will ask.
    thinking: BinaryHeap<Reverse<Request>>,
    /// The CPUs that have asked.
    waiting: VecDeque<Request>,
    /// The CPU that had the lock last.
    owner: usize,
}

impl System {
    /// Every CPU thinks.
    fn start(setup: &Simulation) -> System {
        // Simulations side by side are to err independently of each other.
        let mut random = Random::of(setup.seed.rotate_left(16) ^ setup.cpus as u64);
        let first = |cpu| Reverse(Request { at: random.exponential(setup.think), cpu });
        let thinking = (0..setup.cpus).map(first).collect();
        System { clock: 0.0, random, thinking, waiting: VecDeque::new(), owner: 0 }
    }

    /// The next CPU takes the lock and releases it.
    fn pass(&mut self, setup: &Simulation, totals: &mut Totals) {
        let earliest = || self.thinking.pop().map(|Reverse(request)| request);
        let request = self.waiting.pop_front().or_else(earliest);
        let request = request.expect("every CPU thinks or waits while the lock is free");
        let service = match setup.service {
            Service::Exponential(mean) => self.random.exponential(mean),
            Service::Deterministic(time) => time,
            Service::HandOff { hold, transfers, topology } => {
                totals.crossed += usize::from(topology.is_across(self.owner, request.cpu));
                hold + transfers * topology.transfer(self.owner, request.cpu)
            }
        };
        self.clock = self.clock.max(request.at) + service;
        while let Some(Reverse(next)) = self.thinking.peek().copied()
            && next.at <= self.clock
        {
            self.thinking.pop();
            self.waiting.push_back(next);
        }
        totals.response += self.clock - request.at;
        totals.service += service;
        totals.reacquired += usize::from(self.owner == request.cpu);
        self.owner = request.cpu;
        let at = self.clock + self.random.exponential(setup.think);
        self.thinking.push(Reverse(Request { at, cpu: request.cpu }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Distribution, Repairman};

    const SOCKETS: Topology = Topology { sockets: 2, per_socket: 14, within: 115.0, across: 218.0 };

    fn run(cpus: usize, think: f64, service: Service, seed: u64) -> Simulated {
        Simulation::new(cpus, think, service, seed).run().unwrap()
    }

    /// Counts how often the exact value lies within the interval; it may never be far outside.
    fn covered(distribution: Distribution, service: fn(f64) -> Service) -> (usize, usize) {
        let (mut held, mut tried) = (0, 0);
        for (cpus, think) in [(1, 500.0), (4, 2000.0), (7, 1000.0), (14, 4000.0), (28, 16000.0)] {
            let exact = Repairman::new(358.0, think).unwrap().solve(cpus, distribution).unwrap();
            for seed in 1..=8 {
                let simulated = run(cpus, think, service(358.0), seed);
                let pairs = [
                    (simulated.throughput, exact.throughput),
                    (simulated.response, exact.response),
                ];
                for (interval, exact) in pairs {
                    let off = (interval.value - exact).abs();
                    let rounding = 1e-9 * exact;
                    assert!(off <= 2.0 * interval.reach() + rounding, "{cpus} {think} {seed}");
                    held += usize::from(off <= interval.reach() + rounding);
                    tried += 1;
                }
                assert!((simulated.service / 358.0 - 1.0).abs() < 0.02);
            }
        }
        (held, tried)
    }

    #[test]
    fn exponential_service_agrees_with_the_formulas() {
        let (held, tried) = covered(Distribution::Exponential, Service::Exponential);
        assert!(held * 100 >= tried * 88, "{held} of {tried}");
    }

    #[test]
    fn deterministic_service_agrees_with_the_chain() {
        let (held, tried) = covered(Distribution::Deterministic, Service::Deterministic);
        assert!(held * 100 >= tried * 88, "{held} of {tried}");
    }

    #[test]
    fn a_seed_says_everything() {
        let [one, again, other] =
            [1, 1, 2].map(|seed| run(9, 1000.0, Service::Exponential(358.0), seed));
        assert_eq!(one, again);
        assert_ne!(one, other);
    }

    #[test]
    fn hand_offs_are_as_long_as_their_way() {
        let service = Service::HandOff { hold: 164.0, transfers: 1.75, topology: SOCKETS };
        let alone = run(1, 4000.0, service, 1);
        assert_eq!((alone.service, alone.reacquired, alone.crossed), (164.0, 1.0, 0.0));
        // All of one socket in the queue: first come, first served goes round.
        let socket = run(14, 1.0, service, 1);
        assert_eq!((socket.reacquired, socket.crossed), (0.0, 0.0));
        assert!((socket.service - (164.0 + 1.75 * 115.0)).abs() < 1e-9);
        let both = run(28, 4000.0, service, 1);
        assert!((0.4..0.6).contains(&both.crossed), "{}", both.crossed);
        assert!(both.service > socket.service && both.service < 164.0 + 1.75 * 218.0);
        assert!(both.throughput.high < socket.throughput.low);
    }

    #[test]
    fn at_low_load_each_cpu_is_its_own_successor_by_chance() {
        let simulated = run(4, 1e6, Service::Deterministic(1.0), 3);
        assert!((simulated.reacquired - 0.25).abs() < 0.01, "{}", simulated.reacquired);
    }

    #[test]
    fn what_cannot_be_simulated_is_refused() {
        let good = Simulation::new(4, 1.0, Service::Deterministic(1.0), 1);
        let refused = |simulation: Simulation| simulation.run().unwrap_err();
        assert_eq!(refused(Simulation { batches: 1, ..good }), ModelError::Batches);
        assert_eq!(refused(Simulation { batch: 0, ..good }), ModelError::Batches);
        assert!(matches!(refused(Simulation { cpus: 0, ..good }), ModelError::Cpus { .. }));
        assert!(matches!(refused(Simulation { think: 0.0, ..good }), ModelError::Time { .. }));
        let service = Service::Exponential(-1.0);
        assert!(matches!(refused(Simulation { service, ..good }), ModelError::Time { .. }));
        let service = Service::HandOff { hold: 164.0, transfers: 1.5, topology: SOCKETS };
        let refused = refused(Simulation { service, cpus: 29, ..good });
        assert_eq!(refused, ModelError::Cpus { cpus: 29, most: 28 });
    }
}
