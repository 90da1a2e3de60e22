//! Parameters of experiments: what `lab run EXPERIMENT --set NAME=VALUES` changes.

use crate::failure::{did_you_mean, usage};
use anyhow::Result;
use results::Value;
use serde::Serialize;
use std::fmt;

/// A parameter.
#[derive(Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name; rows that differ in it have it in their case.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// Which values it can have, and the usual ones.
    #[serde(flatten)]
    pub kind: Kind,
    /// The argument of programs that it is, if it is one: all values are its words.
    #[serde(skip)]
    pub argument: Option<&'static str>,
}

/// Which values a parameter can have, and the usual ones.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Kind {
    /// A number within bounds.
    Count { least: u64, most: u64, usual: &'static [u64] },
    /// A time in nanoseconds within bounds.
    Time { least: u64, most: u64, usual: &'static [u64] },
    /// Some of these numbers, usually all: others are not measured.
    Among { usual: &'static [u64] },
    /// Some of these names, usually all.
    Choice { usual: &'static [&'static str] },
}

impl Parameter {
    /// A number from the first bound to the second.
    pub const fn count(
        name: &'static str,
        [least, most]: [u64; 2],
        usual: &'static [u64],
        about: &'static str,
    ) -> Parameter {
        Parameter { name, about, kind: Kind::Count { least, most, usual }, argument: None }
    }

    /// Samples of a case, where programs take their number as this argument.
    pub const fn samples(usual: &'static [u64], argument: &'static str) -> Parameter {
        Parameter::count(SAMPLES, [1, 20_000], usual, "recorded for each case").sets(argument)
    }

    /// A time in nanoseconds.
    pub const fn time(
        name: &'static str,
        [least, most]: [u64; 2],
        usual: &'static [u64],
        about: &'static str,
    ) -> Parameter {
        Parameter { name, about, kind: Kind::Time { least, most, usual }, argument: None }
    }

    /// Some of these numbers.
    pub const fn among(
        name: &'static str,
        usual: &'static [u64],
        about: &'static str,
    ) -> Parameter {
        Parameter { name, about, kind: Kind::Among { usual }, argument: None }
    }

    /// Some of these names.
    pub const fn choice(
        name: &'static str,
        usual: &'static [&'static str],
        about: &'static str,
    ) -> Parameter {
        Parameter { name, about, kind: Kind::Choice { usual }, argument: None }
    }

    /// The same, given to programs as an argument.
    pub const fn sets(self, argument: &'static str) -> Parameter {
        Parameter { argument: Some(argument), ..self }
    }

    /// The usual values.
    pub fn usual(&self) -> Vec<Value> {
        match &self.kind {
            Kind::Count { usual, .. } | Kind::Among { usual } => {
                usual.iter().copied().map(Value::Count).collect()
            }
            Kind::Time { usual, .. } => usual.iter().copied().map(Value::Time).collect(),
            Kind::Choice { usual } => usual.iter().map(|v| Value::Name(v.to_string())).collect(),
        }
    }

    /// Whether a value is within its bounds.
    fn takes(&self, value: &Value) -> bool {
        match (&self.kind, value) {
            (Kind::Count { least, most, .. }, Value::Count(value))
            | (Kind::Time { least, most, .. }, Value::Time(value)) => {
                (least..=most).contains(&value)
            }
            (Kind::Among { .. } | Kind::Choice { .. }, value) => self.usual().contains(value),
            _ => false,
        }
    }

    /// Values in text: one, a list `a,b,c`, or ranges `a..b:step`, of which both ends are in.
    fn parse(&self, text: &str) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        for part in text.split(',') {
            let (from, rest) = part.split_once("..").unwrap_or((part, part));
            let (to, step) = rest.split_once(':').unwrap_or((rest, "1"));
            match (Value::parse(from.trim()), Value::parse(to.trim()), Value::parse(step.trim())) {
                (value, same, _) if value == same && !part.contains("..") => values.push(value),
                (Value::Count(from), Value::Count(to), Value::Count(step)) => {
                    values.extend(steps(from, to, step)?.map(Value::Count));
                }
                (Value::Time(from), Value::Time(to), Value::Time(step)) => {
                    values.extend(steps(from, to, step)?.map(Value::Time));
                }
                _ => return None,
            }
        }
        Some(values).filter(|values| values.iter().all(|value| self.takes(value)))
    }
}

/// A range, if it is one of no more values than a run could measure.
fn steps(from: u64, to: u64, step: u64) -> Option<impl Iterator<Item = u64>> {
    const MOST: u64 = 1000;
    let fits = step > 0 && from <= to && (to - from) / step < MOST;
    fits.then(|| (from..=to).step_by(step as usize))
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let spell =
            |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(",");
        let usual = spell(&self.usual());
        write!(f, "{}: ", self.name)?;
        match self.kind {
            Kind::Count { least, most, .. } => write!(f, "{least} to {most}, usually {usual}"),
            Kind::Time { least, most, .. } => {
                write!(f, "{} to {}, usually {usual}", Value::Time(least), Value::Time(most))
            }
            Kind::Among { .. } | Kind::Choice { .. } => write!(f, "some of {usual}"),
        }
    }
}

/// The parameter that `--samples` is short for.
pub const SAMPLES: &str = "samples";

/// A parameter with the values that a run has.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// The parameter.
    pub parameter: &'static Parameter,
    /// The values, at least one.
    pub values: Vec<Value>,
}

impl Set {
    /// The values that `NAME=VALUES` gives to a parameter of an experiment.
    ///
    /// # Errors
    /// One error that names the known parameters and their bounds.
    pub fn parse(experiment: &str, known: &'static [Parameter], text: &str) -> Result<Set> {
        let listed: String = known.iter().map(|known| format!("\n  {known}")).collect();
        let Some((name, values)) = text.split_once('=') else {
            return Err(usage(format!(
                "--set takes NAME=VALUES, such as threads=50..250:50, not `{text}`"
            )));
        };
        let Some(parameter) = known.iter().find(|parameter| parameter.name == name) else {
            let hint = did_you_mean(name, known.iter().map(|known| known.name));
            let listed = match known {
                [] => "; it has none".to_string(),
                _ => format!("{hint}; these are known:{listed}"),
            };
            return Err(usage(format!("`{experiment}` has no parameter `{name}`{listed}")));
        };
        match parameter.parse(values) {
            Some(values) if !values.is_empty() => Ok(Set { parameter, values }),
            _ => Err(usage(format!(
                "`{experiment}` cannot have {name}={values}; these are known:{listed}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static KNOWN: [Parameter; 3] = [
        Parameter::count("threads", [2, 250], &[50, 250], "in a chain").sets("sweep"),
        Parameter::time("period", [10_000, 25_000_000], &[25_000], "between samples"),
        Parameter::choice("locking", &["big", "fine"], "of the kernel"),
    ];

    #[test]
    fn values_are_single_listed_or_ranges() {
        let set = |text| {
            let set = Set::parse("elevator", &KNOWN, text).unwrap();
            set.values.iter().map(Value::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(set("threads=7"), "7");
        assert_eq!(set("threads=50..250:50"), "50 100 150 200 250");
        assert_eq!(set("threads=2,10..12, 99"), "2 10 11 12 99");
        assert_eq!(set("period=25us,1600us"), "25us 1600us");
        assert_eq!(set("period=1ms..2ms:500us"), "1ms 1500us 2ms");
        assert_eq!(set("locking=fine"), "fine");
    }

    #[test]
    fn what_cannot_be_set_is_one_error_with_what_can() {
        let said = |text| Set::parse("elevator", &KNOWN, text).unwrap_err().to_string();
        let unknown = said("thread=7");
        assert!(
            unknown.starts_with("`elevator` has no parameter `thread`; did you mean `threads`")
        );
        assert!(unknown.contains("threads: 2 to 250, usually 50,250"), "{unknown}");
        assert!(unknown.contains("period: 10us to 25ms, usually 25us"), "{unknown}");
        assert!(said("threads").starts_with("--set takes NAME=VALUES"));
        let wrong = ["threads=1", "threads=251", "threads=", "threads=5..2", "threads=1..9:0"];
        let more = ["threads=2us", "period=25", "locking=none", "locking=big..fine", "threads=x"];
        for text in wrong.into_iter().chain(more) {
            let (name, values) = text.split_once('=').unwrap();
            let start = format!("`elevator` cannot have {name}={values}; these are known:");
            assert!(said(text).starts_with(&start), "{text}: {}", said(text));
        }
    }
}
