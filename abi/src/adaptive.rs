//! What a budget controller knows of a reservation (S2B-12), as the environment tells it: lines
//! `adaptive.NAME` with numbers, for each such reservation that the domain may control.

use crate::reservation::{Budget, Server, WHOLE};
use core::fmt;

/// The longest history, in control periods.
pub const HISTORY: u64 = 16;
/// The most such reservations in one class.
pub const CHILDREN: usize = 16;
/// The prefix of these lines; behind it follows the capability's name.
pub const PREFIX: &str = "adaptive.";

/// A reservation whose budget follows demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adaptive {
    /// Its class; those with the same number are siblings.
    pub class: u64,
    /// What the class has for its adaptive children together, in millionths of a CPU: what it has
    /// without the budgets of the others.
    pub supply: u32,
    /// Greater is more important.
    pub importance: u32,
    /// Periods of its server between two decisions.
    pub every: u32,
    /// Decisions that it looks back, [`HISTORY`] at most.
    pub history: u32,
    /// What it always keeps in each period, in nanoseconds.
    pub least: u64,
    /// What it begins with.
    pub limit: Budget,
}

impl Adaptive {
    /// What a line says, if it is one.
    pub fn parse(text: &str) -> Option<Adaptive> {
        let mut words = text.split(' ').map(|word| word.parse::<u64>().ok());
        let mut next = || words.next().flatten();
        let narrow = |word: Option<u64>| u32::try_from(word?).ok();
        let class = next()?;
        let supply = narrow(next()).filter(|supply| *supply <= WHOLE)?;
        let (importance, every) = (narrow(next())?, narrow(next())?);
        let (history, least) = (narrow(next())?, next()?);
        let (server, budget, period) = (next()?, next()?, next()?);
        let server = Server::ALL.into_iter().find(|known| *known as u64 == server)?;
        let limit = Budget { server, budget, period };
        Some(Adaptive { class, supply, importance, every, history, least, limit })
    }
}

impl fmt::Display for Adaptive {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Adaptive { class, supply, importance, every, history, least, limit } = self;
        let Budget { server, budget, period } = limit;
        write!(f, "{class} {supply} {importance} {every} {history} {least} ")?;
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
            class: 4,
            supply: 600_000,
            importance: 3,
            every: 5,
            history: 8,
            least: 200_000,
            limit: Budget::new(Server::Periodic, 2_670_000, 20_000_000),
        };
        let text = one.to_string();
        assert_eq!(Adaptive::parse(&text), Some(one));
        assert_eq!(Adaptive::parse(text.trim_end_matches(" 20000000")), None, "{text}");
        assert_eq!(Adaptive::parse(&text.replace(" 600000", " 1000001")), None);
        assert_eq!(Adaptive::parse(&text.replace(" 1 2670000", " 9 2670000")), None);
    }
}
