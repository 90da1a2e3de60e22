//! Claims of the papers: what a run makes of each, and the bands by which that is judged.

use crate::figure::rounded;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What became of a published claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Its identity in the ledger.
    pub id: String,
    /// What it says.
    pub statement: String,
    /// Whether it held.
    pub verdict: Verdict,
    /// The figures that decided, in words.
    pub evidence: String,
    /// The figures that decided, each with its band.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<Judged>,
}

/// Whether a claim held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It held.
    Reproduced,
    /// It did not hold.
    Contradicted,
    /// This machine cannot tell; the evidence says why.
    NotObservable,
    /// The run left out what decides it, such as a kernel; the evidence says what.
    NotJudged,
}

impl Verdict {
    /// The verdict as the schema spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Contradicted => "contradicted",
            Verdict::NotObservable => "not-observable",
            Verdict::NotJudged => "not-judged",
        }
    }

    /// The verdict in words.
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::NotObservable => "not observable",
            Verdict::NotJudged => "not judged",
            decided => decided.name(),
        }
    }
}

/// A figure beside its band.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// What was measured.
    pub quantity: String,
    /// How much it is.
    pub value: f64,
    /// Of what; empty for plain numbers.
    pub unit: String,
    /// Where it must lie for the claim to hold.
    pub bound: Bound,
}

impl Judged {
    /// Whether the figure is within its band.
    pub fn holds(&self) -> bool {
        self.bound.holds(self.value)
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Judged { quantity, value, unit, bound } = self;
        let space = if unit.is_empty() { "" } else { " " };
        let outside = if self.holds() { "" } else { ", outside" };
        write!(f, "{quantity}: {}{space}{unit} ({bound}{outside})", rounded(*value, 3))
    }
}

/// Where a figure must lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// From the first to the second, both included.
    Within(f64, f64),
    /// Not below.
    AtLeast(f64),
    /// Not above.
    AtMost(f64),
    /// Greater.
    Above(f64),
    /// Less.
    Below(f64),
}

impl Bound {
    /// Whether a figure lies there; what is no number lies nowhere.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Bound::Within(from, to) => from <= value && value <= to,
            Bound::AtLeast(least) => value >= least,
            Bound::AtMost(most) => value <= most,
            Bound::Above(limit) => value > limit,
            Bound::Below(limit) => value < limit,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Bound::Within(from, to) => write!(f, "{from} to {to}"),
            Bound::AtLeast(least) => write!(f, "at least {least}"),
            Bound::AtMost(most) => write!(f, "at most {most}"),
            Bound::Above(limit) => write!(f, "above {limit}"),
            Bound::Below(limit) => write!(f, "below {limit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_have_a_name_in_files_and_words_for_people() {
        for (verdict, name, words) in [
            (Verdict::Reproduced, "reproduced", "reproduced"),
            (Verdict::NotObservable, "not-observable", "not observable"),
            (Verdict::NotJudged, "not-judged", "not judged"),
        ] {
            assert_eq!((verdict.name(), verdict.words()), (name, words));
            assert_eq!(serde_json::to_string(&verdict).unwrap(), format!("{name:?}"));
        }
    }

    #[test]
    fn a_figure_lies_within_its_band_or_not() {
        for (bound, inside, outside) in [
            (Bound::Within(1.0, 2.0), [1.0, 2.0], [0.9, 2.1]),
            (Bound::AtLeast(1.0), [1.0, 9.0], [0.9, -1.0]),
            (Bound::AtMost(1.0), [1.0, -9.0], [1.1, 9.0]),
            (Bound::Above(1.0), [1.1, 9.0], [1.0, 0.0]),
            (Bound::Below(1.0), [0.9, -9.0], [1.0, 2.0]),
        ] {
            assert!(inside.iter().all(|value| bound.holds(*value)), "{bound}");
            assert!(!outside.iter().any(|value| bound.holds(*value)), "{bound}");
            assert!(!bound.holds(f64::NAN), "{bound}");
        }
    }

    #[test]
    fn a_figure_is_told_with_its_band() {
        let (quantity, unit) = ("of perfect scaling".to_string(), String::new());
        let mut judged = Judged { quantity, value: 0.78349, unit, bound: Bound::AtLeast(0.78) };
        assert_eq!(judged.to_string(), "of perfect scaling: 0.783 (at least 0.78)");
        (judged.value, judged.unit) = (12_345.6, "ticks".to_string());
        judged.bound = Bound::Within(1.0, 2.5);
        let text = "of perfect scaling: 12,346 ticks (1 to 2.5, outside)";
        assert_eq!(judged.to_string(), text);
    }
}
