//! What times and throughputs are counted in.

use crate::cli::model::{Repairman, Time};
use crate::failure::usage;
use anyhow::Result;
use model::Interval;
use results::rounded;

/// The unit of all times, and how to print what depends on it.
pub struct Units {
    /// Units a second, if that is known.
    pub per_second: Option<f64>,
    /// Cycles, else nanoseconds.
    pub in_cycles: bool,
}

impl Units {
    /// Cycles where any are spoken of; nanoseconds where all times have a unit and no clock rate
    /// is given.
    pub fn of(asked: &Repairman) -> Result<Units> {
        if asked.hz.is_some() {
            return Ok(Units { per_second: asked.hz, in_cycles: true });
        }
        let times = asked.service.iter().chain(&asked.think).chain(&asked.predict);
        let times: Vec<&Time> = times.chain(&asked.hold).collect();
        let seconds = times.iter().filter(|time| matches!(time, Time::Seconds(_))).count();
        let needs_cycles = asked.fit.is_some() || asked.topology.is_some();
        match seconds {
            0 => Ok(Units { per_second: None, in_cycles: true }),
            _ if seconds == times.len() && !needs_cycles => {
                Ok(Units { per_second: Some(1e9), in_cycles: false })
            }
            _ => Err(usage(
                "some times are in seconds and others in cycles; give the clock rate, such as \
                 --hz 2GHz",
            )),
        }
    }

    /// A time in this unit.
    pub fn time(&self, time: Time) -> f64 {
        match (time, self.per_second) {
            (Time::Seconds(seconds), Some(rate)) => seconds * rate,
            (Time::Cycles(number) | Time::Seconds(number), _) => number,
        }
    }

    /// What the unit is called.
    pub fn name(&self) -> &'static str {
        if self.in_cycles { "cycles" } else { "ns" }
    }

    /// A time with its unit.
    pub fn spell(&self, time: f64) -> String {
        let digits = rounded(time, 4);
        let short = match digits.split_once('.') {
            Some(_) if !digits.contains('e') => digits.trim_end_matches('0').trim_end_matches('.'),
            _ => &digits,
        };
        format!("{short} {}", self.name())
    }

    /// What throughputs are called in tables.
    pub fn rate(&self) -> &'static str {
        if self.per_second.is_some() { "M/s" } else { "per 1,000 cycles" }
    }

    /// A throughput as tables have it.
    pub fn scaled(&self, throughput: f64) -> f64 {
        match self.per_second {
            Some(rate) => throughput * rate / 1e6,
            None => throughput * 1e3,
        }
    }

    /// The same as text.
    pub fn throughput(&self, throughput: f64) -> String {
        let scaled = self.scaled(throughput);
        if scaled.abs() >= PLAIN { format!("{scaled:.3}") } else { rounded(scaled, 3) }
    }

    /// A throughput with half the width of its interval, to the same digit.
    pub fn within(&self, interval: Interval) -> [String; 2] {
        let reach = self.scaled(interval.reach());
        let reach = match self.scaled(interval.value) >= PLAIN {
            true => format!("{reach:.3}"),
            false => rounded(reach, 1),
        };
        [self.throughput(interval.value), reach]
    }

    /// A throughput per second, if that is known.
    pub fn each_second(&self, throughput: f64) -> Option<String> {
        let each = throughput * self.per_second?;
        Some(rounded(each, if each < 1e3 { 4 } else { 1 }))
    }
}

/// Throughputs from here on have three decimals.
const PLAIN: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughputs_are_per_second_where_the_clock_is_known() {
        let cycles = Units { per_second: Some(2e9), in_cycles: true };
        assert_eq!(cycles.throughput(1.0 / 358.0), "5.587");
        assert_eq!(cycles.each_second(1.0 / 358.0).unwrap(), "5,586,592");
        assert_eq!(cycles.each_second(2.294e-4).unwrap(), "458,800");
        let interval = Interval { value: 2.5e-3, low: 2.4e-3, high: 2.6e-3 };
        assert_eq!(cycles.within(interval), ["5.000", "0.200"]);
        assert_eq!(
            [358.0, 4000.0, 0.25].map(|time| cycles.spell(time)),
            ["358 cycles", "4,000 cycles", "0.25 cycles"]
        );
        assert_eq!(cycles.time(Time::Seconds(179e-9)).round(), 358.0);
        let unknown = Units { per_second: None, in_cycles: true };
        assert_eq!(unknown.throughput(1.0 / 358.0), "2.793");
        assert_eq!(unknown.each_second(1.0), None);
    }
}
