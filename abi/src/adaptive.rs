//! What a budget controller knows of a reservation (S2B-12), as the environment tells it: lines
//! `adaptive.NAME` with numbers, for each such reservation that the domain may control.

use crate::reservation::{Budget, Server, WHOLE};
use core::fmt;

/// The longest history, in control periods.
pub const HISTORY: u64 = 16;
/// The most such reservations that one controller has.
pub const MOST: usize = 16;
/// The prefix of these lines; behind it follows the capability's name.
pub const PREFIX: &str = "adaptive.";

/// A reservation whose budget follows demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adaptive {
    /// A number of its own.
    pub number: u64,
    /// The number of its class; those with the same one are siblings.
    pub class: u64,
    /// What the class has for its adaptive children together, in millionths of a CPU: without the
    /// budgets of the others. If the class is adaptive too, what it keeps for them at least.
    pub supply: u32,
    /// What children with fixed budgets have of it, in millionths of a CPU.
    pub taken: u32,
    /// Greater is more important.
    pub importance: u32,
    /// Periods of its server between two decisions.
    pub every: u32,
    /// Decisions that it looks back, [`HISTORY`] at most.
    pub history: u32,
    /// What it always keeps in each period, in nanoseconds.
    pub least: u64,
    /// The time within which its class promises the budget, in nanoseconds: its period, or in EDF
    /// its jobs' deadline if that is shorter.
    pub within: u64,
    /// What it begins with.
    pub limit: Budget,
}

impl Adaptive {
    /// What a line says, if it is one.
    pub fn parse(text: &str) -> Option<Adaptive> {
        let mut words = text.split(' ').map(|word| word.parse::<u64>().ok());
        let mut next = || words.next().flatten();
        let narrow = |word: Option<u64>| u32::try_from(word?).ok();
        let (number, class) = (next()?, next()?);
        let [supply, taken] = [next(), next()].map(narrow);
        let [supply, taken] = [supply?, taken?];
        if supply.max(taken) > WHOLE {
            return None;
        }
        let (importance, every) = (narrow(next())?, narrow(next())?);
        let (history, least, within) = (narrow(next())?, next()?, next()?);
        let (server, budget, period) = (next()?, next()?, next()?);
        let server = Server::ALL.into_iter().find(|known| *known as u64 == server)?;
        let limit = Budget { server, budget, period };
        Some(Adaptive {
            number,
            class,
            supply,
            taken,
            importance,
            every,
            history,
            least,
            within,
            limit,
        })
    }
}

impl fmt::Display for Adaptive {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Adaptive { number, class, supply, taken, importance, .. } = self;
        let Adaptive { every, history, least, within, limit, .. } = self;
        let Budget { server, budget, period } = limit;
        write!(f, "{number} {class} {supply} {taken} {importance} {every} {history} ")?;
        write!(f, "{least} {within} ")?;
        write!(f, "{} {budget} {period}", *server as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::string::ToString;

    #[test]
    fn what_is_written_is_read() {
        let one = Adaptive {
            number: 7,
            class: 4,
            supply: 600_000,
            taken: 50_000,
            importance: 3,
            every: 5,
            history: 8,
            least: 200_000,
            within: 15_000_000,
            limit: Budget::new(Server::Periodic, 2_670_000, 20_000_000),
        };
        let text = one.to_string();
        assert_eq!(Adaptive::parse(&text), Some(one));
        assert_eq!(Adaptive::parse(text.trim_end_matches(" 20000000")), None, "{text}");
        for part in [" 600000", " 50000"] {
            assert_eq!(Adaptive::parse(&text.replace(part, " 1000001")), None);
        }
        assert_eq!(Adaptive::parse(&text.replace(" 1 2670000", " 9 2670000")), None);
    }
}
