//! What goes wrong outside of a device.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Of a fault that has no beginning, it is an instant before this one, in nanoseconds.
const SOON: u64 = 100_000_000;

/// A fault of a device: what, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What goes wrong.
    pub what: What,
    /// Since when, in nanoseconds since the start.
    pub after: Option<u64>,
    /// How long, in nanoseconds; `None`: for ever.
    pub lasts: Option<u64>,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// Its wires keep what they have.
    Stuck,
    /// What is put on its wires, and what they measure, comes so many nanoseconds later.
    Late(u64),
    /// What its wires have is wrong by up to so many millionths of their unit, by the seed.
    Noisy(u64),
    /// One in so many of its requests for an interrupt gets lost, by the seed; until the device
    /// asks anew.
    Lost(u64),
}

impl Fault {
    /// Since when it lasts, with a number by the seed: what is stuck without a beginning gets stuck
    /// soon, all else is there from the start.
    pub(crate) fn begins(&self, dice: u64) -> u64 {
        match (self.after, self.what) {
            (Some(after), _) => after,
            (None, What::Stuck) => dice % SOON,
            (None, _) => 0,
        }
    }
}

/// Reads `stuck`, `late 2ms`, `noisy 0.5` or `lost 10`, each with `after 50ms` or `for 20ms` behind
/// it, or both.
impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        let mut words = text.split_whitespace();
        let kind = words.next().unwrap_or_default();
        let mut argument =
            |what: &str| words.next().ok_or_else(|| format!("`{kind}` needs {what}"));
        let what = match kind {
            "stuck" => What::Stuck,
            "late" => What::Late(time(argument("a time: `late 2ms`")?)?),
            "noisy" => What::Noisy(millionths(argument("a number: `noisy 0.5`")?)?),
            "lost" => What::Lost(count(argument("a number: `lost 10`")?)?),
            _ => return Err(format!("no fault is called `{kind}`: stuck, late, noisy or lost")),
        };
        let mut fault = Fault { what, after: None, lasts: None };
        while let Some(word) = words.next() {
            let when = match word {
                "after" => &mut fault.after,
                "for" => &mut fault.lasts,
                _ => return Err(format!("`{word}` says nothing of a fault: `after` or `for`")),
            };
            let given = words.next().ok_or_else(|| format!("`{word}` needs a time"))?;
            if when.replace(time(given)?).is_some() {
                return Err(format!("`{word}` stands there twice"));
            }
        }
        Ok(fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.what {
            What::Stuck => write!(f, "stuck")?,
            What::Late(by) => write!(f, "late {by}ns")?,
            What::Noisy(by) => write!(f, "noisy {}", by as f64 / 1e6)?,
            What::Lost(one_in) => write!(f, "lost {one_in}")?,
        }
        self.after.map_or(Ok(()), |after| write!(f, " after {after}ns"))?;
        self.lasts.map_or(Ok(()), |lasts| write!(f, " for {lasts}ns"))
    }
}

/// A time in nanoseconds.
fn time(text: &str) -> Result<u64, String> {
    let units = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let number = |(unit, size)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(size)
    };
    let found = units.into_iter().find_map(number);
    found.ok_or_else(|| format!("`{text}` is no time: a whole number and ns, us, ms or s"))
}

fn millionths(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (0.0..1e9).contains(number));
    let number: f64 = number.ok_or_else(|| format!("`{text}` is no number from 0 on"))?;
    Ok((number * 1e6) as u64)
}

fn count(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{text}` is no whole number from 1 on"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_and_spelled() {
        for text in ["stuck", "late 2000000ns after 5ns", "noisy 0.5 for 7ns", "lost 10"] {
            assert_eq!(text.parse::<Fault>().map(|fault| fault.to_string()), Ok(text.to_string()));
        }
        let fault: Fault = "stuck for 20ms after 50ms".parse().expect("it is right");
        assert_eq!((fault.after, fault.lasts), (Some(50_000_000), Some(20_000_000)));
        for text in ["", "slow", "late", "late 2", "noisy x", "noisy -1", "lost 0", "stuck when 2s"]
        {
            assert!(text.parse::<Fault>().is_err(), "{text}");
        }
        for text in ["stuck after", "stuck after 1s after 2s"] {
            assert!(text.parse::<Fault>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_stuck_gets_so_by_the_seed_unless_it_is_said_when() {
        let begins = |text: &str| text.parse::<Fault>().expect("it is right").begins(SOON + 7);
        assert_eq!(
            [begins("stuck"), begins("stuck after 1s"), begins("lost 2")],
            [7, 10 * SOON, 0]
        );
    }
}
