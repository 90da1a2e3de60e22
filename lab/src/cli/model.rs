//! The command line of the queueing models.

use crate::machine::topologies::{THIS_HOST, TOPOLOGIES};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use units::{HERTZ, NANOSECONDS, Unit, scaled};

const EXAMPLES: &str = "\
Examples:
  ./giusto lab model repairman --service 358 --think 4000 --cpus 1..28
  ./giusto lab model repairman --service 179ns --think 2us --cpus 14 --simulate
  ./giusto lab model repairman --service 9 --think 99 --cpus 1..4 --topology arm
  ./giusto lab model repairman --fit points.csv --hz 2GHz --cpus 1..28 \\
      --predict 500,8000 --plot fit.svg

Times are in cycles, or have a unit (ns, us, ms, s). points.csv has the columns
cpus, throughput (per second with --hz, else per cycle) and, if several delays
were measured, think (cycles).";

/// Queueing models.
#[derive(Debug, Subcommand)]
pub enum Model {
    /// How many CPUs one lock carries: throughput, waiting and knee; solved, simulated, fitted.
    #[command(after_help = EXAMPLES)]
    Repairman(Repairman),
}

/// A lock and what its users do in between.
#[derive(Debug, Args)]
pub struct Repairman {
    /// s: how long a CPU has the lock, hand-off included.
    #[arg(long, value_name = "S", value_parser = time, allow_negative_numbers = true,
          required_unless_present_any = ["fit", "predict"])]
    pub service: Option<Time>,
    /// a: the mean time between release and next request; may be several.
    #[arg(long, value_name = "A", value_parser = time, allow_negative_numbers = true,
          required_unless_present_any = ["fit", "predict"], value_delimiter = ',', num_args = 1..)]
    pub think: Vec<Time>,
    /// Numbers of CPUs, such as 14, 1,2,4 or 1..28; with --fit those of the points by default.
    #[arg(long, value_name = "N", value_parser = cpus, allow_hyphen_values = true,
          required_unless_present_any = ["fit", "predict"])]
    pub cpus: Option<Cpus>,
    /// The clock rate, such as 2GHz or 2.0e9: figures are then also per second.
    #[arg(long, value_name = "HZ", value_parser = hertz, allow_negative_numbers = true)]
    pub hz: Option<f64>,
    /// How service times scatter.
    #[arg(long, value_name = "D", value_enum, default_value_t = Shape::Both)]
    pub distribution: Shape,
    /// Also simulate, with 95 % confidence intervals.
    #[arg(long)]
    pub simulate: bool,
    /// Also simulate service that depends on the way from the lock's last owner to the next, on a
    /// paper's machine or with the lines that `lab run cache-lines` has measured.
    #[arg(long, value_name = "T", value_parser = topologies())]
    pub topology: Option<String>,
    /// With --topology: how long the lock is held with all lines at hand; by default 164 cycles.
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true,
          requires = "topology")]
    pub hold: Option<Time>,
    /// With --topology: lines that a hand-off fetches one after the other; by default 1.75.
    #[arg(long, value_name = "LINES", value_parser = transfers, allow_negative_numbers = true,
          requires = "topology")]
    pub transfers: Option<f64>,
    /// The seed of simulations.
    #[arg(long, default_value = "1", value_name = "SEED", value_parser = super::seed)]
    pub seed: u64,
    /// Fit s and a to the points of this file.
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["service", "think"])]
    pub fit: Option<PathBuf>,
    /// With --fit: predict these delays, too, with the same s.
    #[arg(long, value_name = "A", value_parser = time, allow_negative_numbers = true,
          requires = "fit", conflicts_with_all = ["service", "think"],
          value_delimiter = ',', num_args = 1..)]
    pub predict: Vec<Time>,
    /// Draw points, curves, simulations and asymptotes into this file.
    #[arg(long, value_name = "FILE.svg", value_parser = super::plot)]
    pub plot: Option<PathBuf>,
}

/// How service times scatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    /// As the paper's model has it.
    Exponential,
    /// Not at all.
    Deterministic,
    /// Both, one after the other.
    Both,
}

/// A time above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    /// In cycles.
    Cycles(f64),
    /// In seconds.
    Seconds(f64),
}

/// Numbers of CPUs, each once, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus(pub Vec<usize>);

fn topologies() -> PossibleValuesParser {
    let papers = TOPOLOGIES.iter().map(|measured| measured.name);
    PossibleValuesParser::new(papers.chain([THIS_HOST]))
}

/// A quantity above zero.
fn above_zero(text: &str, units: &[Unit]) -> Option<f64> {
    scaled(text, units).filter(|value| *value > 0.0)
}

/// A time in cycles or with a unit.
pub fn time(text: &str) -> Result<Time, String> {
    let seconds = above_zero(text, &NANOSECONDS).map(|nanoseconds| nanoseconds / 1e9);
    let cycles = || above_zero(text, &[("", 1)]).map(Time::Cycles);
    seconds.map(Time::Seconds).or_else(cycles).ok_or_else(|| {
        "give a time above zero, in cycles or with a unit, such as 358 or 179ns".to_string()
    })
}

/// A clock rate in hertz.
fn hertz(text: &str) -> Result<f64, String> {
    above_zero(&text.to_lowercase(), &HERTZ)
        .ok_or_else(|| "give a rate above zero, such as 2GHz or 2.0e9".to_string())
}

/// A number of lines.
fn transfers(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "give zero or more, such as 1.75".to_string())
}

/// Numbers and ranges with both ends, separated by commas.
pub fn cpus(text: &str) -> Result<Cpus, String> {
    let most = model::MOST_CPUS;
    let wrong = || format!("give numbers from 1 to {most}, such as 14, 1,2,4 or 1..28");
    let number = |text: &str| {
        let number = text.trim().parse().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(wrong)
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => all.push(number(part)?),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first > last {
                    return Err(format!("{first}..{last} is empty; begin with the lower number"));
                }
                all.extend(first..=last);
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(Cpus(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_cycles_or_have_a_unit() {
        assert_eq!(time("358"), Ok(Time::Cycles(358.0)));
        assert_eq!(time("4e3"), Ok(Time::Cycles(4000.0)));
        assert_eq!(time("2 us"), Ok(Time::Seconds(2e-6)));
        for wrong in ["", "0", "-1", "0ns", "-3us", "nan", "inf", "five", "3 weeks", "1e999"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn clock_rates_have_units() {
        for text in ["2GHz", "2.0e9", "2000 MHz", "2e6khz", "2000000000Hz"] {
            assert_eq!(hertz(text), Ok(2e9), "{text}");
        }
        for wrong in ["", "0", "-2GHz", "2THz", "fast"] {
            assert!(hertz(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn cpus_are_numbers_lists_and_ranges() {
        let good = [
            ("14", vec![14]),
            ("4,1,2,2", vec![1, 2, 4]),
            ("1..4", vec![1, 2, 3, 4]),
            ("1..3, 8,2..4", vec![1, 2, 3, 4, 8]),
            ("7..7", vec![7]),
        ];
        for (text, numbers) in good {
            assert_eq!(cpus(text), Ok(Cpus(numbers)), "{text}");
        }
        for wrong in ["", "0", "-1", "1025", "1..", "..4", "4..1", "1..=4", "1,", "a", "1.5"] {
            assert!(cpus(wrong).is_err(), "{wrong}");
        }
    }
}
