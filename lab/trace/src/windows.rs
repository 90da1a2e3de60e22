//! How much CPU time a reservation had in windows of one length, wherever they begin.

use crate::reservations::{On, Times};
use crate::{Lives, Names, State, Trace, Waits};

/// The CPU time in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// When it begins, in ns since boot.
    pub from: u64,
    /// CPU time in it, in ns.
    pub time: u64,
}

/// The window with the least and that with the most CPU time, of all windows of so many ns within a
/// trace, of what runs on a reservation of the manifest, given by its index, or in it if it is a
/// class. None: the trace is shorter than a window.
pub fn windows(trace: &Trace, names: &Names, reservation: usize, ns: u64) -> Option<[Window; 2]> {
    let lives = Lives::of(trace, names);
    let waits = Waits::of(trace, &lives);
    let times = Times { trace, names, lives: &lives, waits: &waits };
    let is_in = |leaf: usize| {
        let class = |at: &usize| names.reservations.get(*at)?.class;
        let mut line = std::iter::successors(Some(leaf), class).take(names.reservations.len());
        line.any(|at| at == reservation)
    };
    let mut stretches = Vec::new();
    for life in &lives.all {
        for stretch in life.stretches.iter().filter(|it| it.state == State::Running) {
            if let On::Leaf(leaf) = times.on(life.thread, stretch.first)
                && is_in(leaf)
            {
                stretches.push((stretch.from, stretch.to));
            }
        }
    }
    extremes(&stretches, trace.span()?, ns)
}

/// Instants in order, and before each how many and their sum.
struct Instants {
    at: Vec<u64>,
    sums: Vec<u64>,
}

impl Instants {
    fn new(mut at: Vec<u64>) -> Instants {
        at.sort_unstable();
        let mut sums = vec![0];
        sums.extend(at.iter().scan(0, |sum, at| {
            *sum += at;
            Some(*sum)
        }));
        Instants { at, sums }
    }

    /// How long ago they were at an instant, all that were before it together.
    fn ago(&self, instant: u64) -> u64 {
        let count = self.at.partition_point(|at| *at < instant);
        count as u64 * instant - self.sums[count]
    }
}

/// The windows with the least and the most of some stretches, within a span.
fn extremes(stretches: &[(u64, u64)], (begin, end): (u64, u64), ns: u64) -> Option<[Window; 2]> {
    let last = end.checked_sub(ns).filter(|last| *last >= begin)?;
    let begun = Instants::new(stretches.iter().map(|stretch| stretch.0).collect());
    let ended = Instants::new(stretches.iter().map(|stretch| stretch.1).collect());
    let until = |instant: u64| begun.ago(instant) - ended.ago(instant);
    // What a window has changes at its ends' pace, so it turns only where one of them meets a
    // stretch's.
    let turns = begun.at.iter().chain(&ended.at).flat_map(|at| [*at, at.saturating_sub(ns)]);
    let starts = turns.filter(|from| (begin..=last).contains(from)).chain([begin, last]);
    let windows =
        || starts.clone().map(|from| Window { from, time: until(from + ns) - until(from) });
    let least = windows().min_by_key(|window| (window.time, window.from))?;
    let most = windows().min_by_key(|window| (std::cmp::Reverse(window.time), window.from))?;
    Some([least, most])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(stretches: &[(u64, u64)], ns: u64) -> Option<[(u64, u64); 2]> {
        let found = extremes(stretches, (0, 100), ns)?;
        Some(found.map(|window| (window.from, window.time)))
    }

    #[test]
    fn windows_begin_anywhere() {
        let stretches = [(10, 20), (25, 30), (70, 90)];
        assert_eq!(seen(&stretches, 20), Some([(30, 0), (70, 20)]));
        assert_eq!(seen(&stretches[..2], 20), Some([(30, 0), (10, 15)]));
        assert_eq!(seen(&stretches, 100), Some([(0, 35), (0, 35)]));
        assert_eq!(seen(&stretches, 101), None);
        assert_eq!(seen(&[], 10), Some([(0, 0), (0, 0)]));
        assert_eq!(seen(&[(0, 50), (0, 50)], 10), Some([(50, 0), (0, 20)]), "on two CPUs");
    }
}
