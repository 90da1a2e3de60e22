//! The controller's log: budgets over time, as the paper's Figure 6 draws them.

use crate::machine::word_at;
use anyhow::{Context, Result, ensure};
use results::{Case, Curves, Source};

/// Words of a record, and where they are in it.
const RECORD: usize = 8;
const AT: usize = 0;
const SERVER: usize = 1;
const BUDGET: usize = 3;

/// A server that is controlled, and what it begins with.
#[derive(Debug, PartialEq)]
pub struct Begun {
    /// Its name.
    pub name: String,
    /// Nanoseconds in each period.
    pub budget: u64,
    /// Nanoseconds.
    pub period: u64,
}

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

/// The budgets of a server over time: when, and nanoseconds in each period from then on.
fn steps<'a>(
    server: usize,
    begun: &'a Begun,
    changes: &'a [Change],
) -> impl Iterator<Item = (u64, u64)> + 'a {
    let own = changes.iter().filter(move |change| change.server == server);
    [(0, begun.budget)].into_iter().chain(own.map(|change| (change.at, change.budget)))
}

/// What a server has in the mean of a time from boot on, in millionths of the CPU; none if it is
/// not controlled.
pub fn mean(begun: &[Begun], changes: &[Change], name: &str, time: u64) -> Option<u64> {
    let server = begun.iter().position(|it| it.name == name)?;
    let own: Vec<(u64, u64)> = steps(server, &begun[server], changes).collect();
    let ends = own[1..].iter().map(|(at, _)| *at).chain([time]);
    let each = own.iter().zip(ends).map(|((at, budget), end)| {
        u128::from(end.min(time).saturating_sub(*at)) * u128::from(*budget)
    });
    let whole = u128::from(time.max(1)) * u128::from(begun[server].period);
    Some((each.sum::<u128>() * u128::from(abi::reservation::WHOLE) / whole) as u64)
}

/// Budgets over time as steps, in percent of the CPU: seconds since boot across.
pub fn curves(name: &str, title: &str, begun: &[Begun], changes: &[Change]) -> Curves {
    let of = |(server, begun): (usize, &Begun)| {
        let percent = |budget: u64| 100.0 * budget as f64 / begun.period as f64;
        let mut points = Vec::new();
        for (at, budget) in steps(server, begun, changes) {
            let at = at as f64 / super::SECOND as f64;
            points.extend(points.last().map(|before: &(f64, f64)| (at, before.1)));
            points.push((at, percent(budget)));
        }
        Case::of(&begun.name, Source::Set, points)
    };
    let cases = begun.iter().enumerate().map(of).collect();
    Curves::of(name, title, ["seconds", "% of the CPU"], cases)
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
        let begun = [("a", 2, 20), ("b", 5, 10), ("c", 3, 10)];
        let begun =
            begun.map(|(name, budget, period)| Begun { name: name.to_string(), budget, period });
        let curves = curves("name", "title", &begun, &changes);
        let points = |server: usize| curves.cases[server].trails[0].points.clone();
        assert_eq!(points(0), [(0.0, 10.0), (1.0, 10.0), (1.0, 20.0)]);
        assert_eq!(points(1), [(0.0, 50.0)]);
        assert_eq!(points(2), [(0.0, 30.0), (2.0, 30.0), (2.0, 10.0)]);
        let mean = |name| mean(&begun, &changes, name, 4_000_000_000);
        assert_eq!([mean("a"), mean("b"), mean("c")], [175_000, 500_000, 200_000].map(Some));
        assert_eq!(mean("d"), None);
    }

    #[test]
    fn a_log_without_room_is_told() {
        assert!(changes(&log(2, &[[0; RECORD]])).is_err());
        assert!(changes(&[]).is_err());
    }
}
