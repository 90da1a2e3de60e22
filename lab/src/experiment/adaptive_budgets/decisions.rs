//! The controller's log: budgets over time, as the paper's Figure 6 draws them.

use super::SERVERS;
use crate::machine::word_at;
use anyhow::{Context, Result, ensure};
use results::{Case, Curves, Points, Source};

/// Words of a record, and where they are in it.
const RECORD: usize = 8;
const AT: usize = 0;
const SERVER: usize = 1;
const BUDGET: usize = 3;

/// A server's budget from an instant on.
#[derive(Debug, PartialEq)]
pub struct Change {
    /// Nanoseconds since boot.
    pub at: u64,
    /// Which server.
    pub server: usize,
    /// Nanoseconds in each period.
    pub budget: u64,
}

/// The changes that a log holds.
///
/// # Errors
/// The log had no room for all of them.
pub fn changes(log: &[u8]) -> Result<Vec<Change>> {
    let count = word_at(log, 0).context("the log is empty")? as usize;
    let change = |record: usize| {
        let word = |field| word_at(log, 1 + record * RECORD + field);
        Some(Change { at: word(AT)?, server: word(SERVER)? as usize, budget: word(BUDGET)? })
    };
    let changes: Vec<Change> = (0..count).map_while(change).collect();
    let lost = count - changes.len();
    ensure!(lost == 0, "{lost} decisions found no room in the log: shorten the run");
    Ok(changes)
}

/// Budgets over time as steps, in percent of the CPU: seconds since boot across.
pub fn curves(
    name: &str,
    title: &str,
    begun: &[(u64, u64); SERVERS.len()],
    changes: &[Change],
) -> Curves {
    let of = |server: usize| {
        let (budget, period) = begun[server];
        let percent = |budget: u64| 100.0 * budget as f64 / period as f64;
        let mut points = vec![(0.0, percent(budget))];
        for change in changes.iter().filter(|change| change.server == server) {
            let at = change.at as f64 / super::SECOND as f64;
            let before = points.last().map_or(0.0, |point| point.1);
            points.extend([(at, before), (at, percent(change.budget))]);
        }
        let trail = Points { source: Source::Set, points, band: Vec::new() };
        Case { name: SERVERS[server].to_string(), trails: vec![trail] }
    };
    Curves {
        name: name.to_string(),
        title: title.to_string(),
        across: "seconds".to_string(),
        upwards: "% of the CPU".to_string(),
        cases: (0..SERVERS.len()).map(of).collect(),
        marks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(count: u64, records: &[[u64; RECORD]]) -> Vec<u8> {
        let words = [count].into_iter().chain(records.iter().flatten().copied());
        words.flat_map(u64::to_le_bytes).collect()
    }

    #[test]
    fn budgets_are_steps() {
        let records = [[1_000_000_000, 0, 0, 4, 0, 0, 0, 0], [2_000_000_000, 2, 0, 1, 0, 0, 0, 0]];
        let changes = changes(&log(2, &records)).unwrap();
        assert_eq!(changes[1], Change { at: 2_000_000_000, server: 2, budget: 1 });
        let curves = curves("name", "title", &[(2, 20), (5, 10), (3, 10)], &changes);
        let points = |server: usize| curves.cases[server].trails[0].points.clone();
        assert_eq!(points(0), [(0.0, 10.0), (1.0, 10.0), (1.0, 20.0)]);
        assert_eq!(points(1), [(0.0, 50.0)]);
        assert_eq!(points(2), [(0.0, 30.0), (2.0, 30.0), (2.0, 10.0)]);
    }

    #[test]
    fn a_log_without_room_is_told() {
        assert!(changes(&log(2, &[[0; RECORD]])).is_err());
        assert!(changes(&[]).is_err());
    }
}
