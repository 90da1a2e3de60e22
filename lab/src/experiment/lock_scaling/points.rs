//! The points of an experiment on scaling, whichever machine they come from.

use super::METRIC;
use results::{Fact, Row};

/// The metric of the small machine, where that is another one.
pub const ARM: &str = "throughput-arm";
/// The metric of sections as long as the paper's, where that is another one.
pub const PAPER: &str = "throughput-paper";
/// CPUs of the small machine.
const SMALL: usize = 4;
/// The metrics of sections that scatter.
pub const EXPONENTIAL: &str = "throughput-exponential";
/// See [`EXPONENTIAL`]: these do not.
pub const DETERMINISTIC: &str = "throughput-deterministic";

/// Names of the facts that say what the machine is.
pub mod facts {
    /// Ticks of a second.
    pub const HERTZ: &str = "counter";
    /// CPUs of the machine.
    pub const CPUS: &str = "CPUs";
    /// CPUs of a socket.
    pub const IN_SOCKET: &str = "CPUs in a socket";
}

/// Names of the facts that say for how many ticks the lock is held, hand-off included, where the
/// machine tells.
pub mod hold {
    /// With one CPU and no think time.
    pub const ONE: &str = "lock held, one CPU";
    /// The think time with which more CPUs are at it. Without any they would take turns in one
    /// order for ever, and the way to the next one would be that order's.
    pub const THINK: u64 = 500;
    /// With all CPUs of a socket.
    pub const SOCKET: &str = "lock held, one socket";
    /// With all CPUs.
    pub const ALL: &str = "lock held, all CPUs";
    /// With sections as long as the paper's: CPUs from which on the extremes are taken (S1-C04).
    pub const FEW: usize = 4;
    /// The least mean of all points with so many CPUs and more.
    pub const LEAST: &str = "paper's sections, lock held at least";
    /// The greatest.
    pub const GREATEST: &str = "paper's sections, lock held at most";
}

/// A point.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The locking.
    pub locking: String,
    /// The mean think time in ticks.
    pub think: u64,
    /// N.
    pub cpus: usize,
    /// X, in messages per second.
    pub throughput: f64,
}

/// The points of a report, and what is known of the machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// The points.
    pub points: Vec<Point>,
    /// Ticks in a second.
    pub hertz: f64,
    /// CPUs of the machine.
    pub cpus: usize,
    /// CPUs of a socket.
    pub in_socket: usize,
}

/// The case of a point.
pub fn case(locking: &str, think: u64, cpus: usize) -> String {
    format!("locking={locking} think={think} cpus={cpus}")
}

/// The point of a row, by its parameters.
fn point(row: &Row) -> Option<Point> {
    let number = |name| row.parameters.get(name)?.number();
    Some(Point {
        locking: row.parameters.get("locking")?.to_string(),
        think: number("think")?,
        cpus: number("cpus")? as usize,
        throughput: row.summary.median.as_f64(),
    })
}

impl Scene {
    /// The points of the small machine, if they have a metric of their own, else those of the only
    /// machine.
    pub fn small(rows: &[Row], known: &[Fact]) -> Scene {
        let scene = Scene::of(ARM, rows, known);
        match scene.points.is_empty() {
            true => Scene::of(METRIC, rows, known),
            false => Scene { cpus: SMALL, in_socket: SMALL, ..scene },
        }
    }

    /// The points whose sections are as long as the paper's, if there are some, else all others.
    pub fn as_paper(rows: &[Row], known: &[Fact]) -> Scene {
        let scene = Scene::of(PAPER, rows, known);
        if scene.points.is_empty() { Scene::of(METRIC, rows, known) } else { scene }
    }

    /// The points of rows of a metric, and a machine's facts.
    pub fn of(metric: &str, rows: &[Row], known: &[Fact]) -> Scene {
        let fact = |name: &str| {
            let found = known.iter().find(|fact| fact.name == name);
            found.map_or(0, |fact| fact.value)
        };
        Scene {
            points: rows.iter().filter(|row| row.metric == metric).filter_map(point).collect(),
            hertz: fact(facts::HERTZ) as f64,
            cpus: fact(facts::CPUS) as usize,
            in_socket: fact(facts::IN_SOCKET) as usize,
        }
    }

    /// X of a point.
    pub fn throughput(&self, locking: &str, think: u64, cpus: usize) -> Option<f64> {
        let same =
            |point: &&Point| (&*point.locking, point.think, point.cpus) == (locking, think, cpus);
        self.points.iter().find(same).map(|point| point.throughput)
    }

    /// A curve, by ascending numbers of CPUs.
    pub fn curve(&self, locking: &str, think: u64) -> Vec<(usize, f64)> {
        let same = |point: &&Point| point.locking == locking && point.think == think;
        let mut curve: Vec<(usize, f64)> =
            self.points.iter().filter(same).map(|point| (point.cpus, point.throughput)).collect();
        curve.sort_by_key(|(cpus, _)| *cpus);
        curve
    }

    /// Lockings, in order of appearance.
    pub fn lockings(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for point in &self.points {
            if !names.contains(&point.locking.as_str()) {
                names.push(&point.locking);
            }
        }
        names
    }

    /// Think times of a locking, ascending.
    pub fn thinks(&self, locking: &str) -> Vec<u64> {
        let own = self.points.iter().filter(|point| point.locking == locking);
        let mut times: Vec<u64> = own.map(|point| point.think).collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    /// The most CPUs that a locking was measured with.
    pub fn most(&self, locking: &str) -> usize {
        let own = self.points.iter().filter(|point| point.locking == locking);
        own.map(|point| point.cpus).max().unwrap_or(0)
    }

    /// Points of a locking with at most so many CPUs, for the queueing model: times in ticks, those
    /// without think time left out as in the paper (S1-E02).
    pub fn for_model(&self, locking: &str, most: usize) -> Vec<model::Point> {
        let fits = |p: &&Point| p.locking == locking && p.cpus <= most && p.think > 0;
        let own = self.points.iter().filter(fits);
        let point = |point: &Point| model::Point {
            cpus: point.cpus,
            throughput: point.throughput / self.hertz,
            think: Some(point.think as f64),
        };
        own.map(point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::Samples;

    #[test]
    fn rows_are_points() {
        let mut samples = Samples::default();
        samples.push("fastpath", METRIC, &case("big", 500, 2), vec![7, 9, 8]);
        samples.push("fastpath", METRIC, &case("big", 500, 1), vec![5]);
        samples.push("fastpath", METRIC, "else", vec![5]);
        samples.push("fastpath", "other", &case("big", 500, 3), vec![5]);
        let scene = Scene::of(METRIC, &samples.rows(), &[]);
        assert_eq!(scene.curve("big", 500), [(1, 5.0), (2, 8.0)]);
        assert_eq!((scene.lockings(), scene.thinks("big")), (vec!["big"], vec![500]));
        assert_eq!((scene.most("big"), scene.most("fine")), (2, 0));
        assert_eq!(scene.throughput("big", 500, 3), None);
    }
}
