//! The command line.

use crate::kernels::{KERNELS, LOCKINGS};
use crate::think::Scatter;

/// How to use the program.
pub const USAGE: &str = "\
usage: giusto-native cost    [--kernel K] [--lockings L,..] [--trips N] [--rounds N]
       giusto-native scaling [--kernel K] [--lockings L,..] [--cpus N,..] [--think T,..]
                             [--scatter exponential|constant] [--rounds N] [--warm-up US]
                             [--window US] [--seed S]
       giusto-native lines   [--cpus N] [--rounds N]

Prints one JSON document. `./giusto lab run lock-cost --machine native` uses it.";

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Ticks of a message under each locking.
    Cost,
    /// Messages a second of several CPUs.
    Scaling,
    /// Ticks that a cache line takes.
    Lines,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What to do.
    pub command: Command,
    /// The kernel.
    pub kernel: String,
    /// Its lockings.
    pub lockings: Vec<&'static str>,
    /// Numbers of CPUs.
    pub cpus: Vec<u32>,
    /// Mean think times in ticks.
    pub think: Vec<u64>,
    /// How they scatter.
    pub scatter: Scatter,
    /// Round trips in a batch.
    pub trips: u64,
    /// How often everything is measured.
    pub rounds: u64,
    /// Microseconds before a window.
    pub warm_up: u64,
    /// Microseconds of a window.
    pub window: u64,
    /// The seed of think times.
    pub seed: u64,
}

impl Request {
    /// Reads a command line; the error is a sentence.
    pub fn parse(words: &[String]) -> Result<Request, String> {
        let Some((command, options)) = words.split_first() else {
            return Err("a command is missing: cost, scaling or lines".to_string());
        };
        let command = match command.as_str() {
            "cost" => Command::Cost,
            "scaling" => Command::Scaling,
            "lines" => Command::Lines,
            other => return Err(format!("`{other}` is none of cost, scaling and lines")),
        };
        let mut request = Request {
            command,
            kernel: KERNELS[0].to_string(),
            lockings: LOCKINGS.map(|(name, _)| name).to_vec(),
            cpus: vec![1],
            think: vec![0],
            scatter: Scatter::Exponential,
            trips: 100,
            rounds: 200,
            warm_up: 500,
            window: 2000,
            seed: 1,
        };
        for pair in options.chunks(2) {
            let [option, value] = pair else {
                return Err(format!("a value is missing behind `{}`", pair[0]));
            };
            request.set(option, value)?;
        }
        Ok(request)
    }

    fn set(&mut self, option: &str, value: &str) -> Result<(), String> {
        match option {
            "--kernel" => self.kernel = value.to_string(),
            "--lockings" => self.lockings = lockings(value)?,
            "--cpus" => self.cpus = numbers(option, value, 1)?,
            "--think" => self.think = numbers(option, value, 0)?,
            "--trips" => self.trips = number(option, value, 1)?,
            "--rounds" => self.rounds = number(option, value, 1)?,
            "--warm-up" => self.warm_up = number(option, value, 0)?,
            "--window" => self.window = number(option, value, 1)?,
            "--seed" => self.seed = number(option, value, 0)?,
            "--scatter" => {
                self.scatter = match value {
                    "exponential" => Scatter::Exponential,
                    "constant" => Scatter::Constant,
                    _ => return Err(format!("{option} is exponential or constant, not `{value}`")),
                }
            }
            _ => return Err(format!("there is no option `{option}`")),
        }
        Ok(())
    }
}

fn lockings(value: &str) -> Result<Vec<&'static str>, String> {
    let known = |name: &str| {
        let found = LOCKINGS.iter().find(|(known, _)| *known == name).map(|(known, _)| *known);
        let names = LOCKINGS.map(|(known, _)| known).join(", ");
        found.ok_or_else(|| format!("there is no locking `{name}`; take some of {names}"))
    };
    value.split(',').map(known).collect()
}

fn number<T: TryFrom<u64>>(option: &str, value: &str, least: u64) -> Result<T, String> {
    let parsed = value.parse().ok().filter(|number: &u64| *number >= least);
    let fits = parsed.and_then(|number| T::try_from(number).ok());
    fits.ok_or_else(|| format!("{option} takes whole numbers from {least}, not `{value}`"))
}

fn numbers<T: TryFrom<u64>>(option: &str, value: &str, least: u64) -> Result<Vec<T>, String> {
    value.split(',').map(|word| number(option, word, least)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Request, String> {
        Request::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let request = parse("scaling --cpus 1,2 --think 0,500 --lockings big --seed 9").unwrap();
        assert_eq!((request.cpus, request.think), (vec![1, 2], vec![0, 500]));
        assert_eq!((request.lockings, request.seed), (vec!["big"], 9));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, what) in [
            ("", "a command is missing"),
            ("ping", "`ping` is none of"),
            ("cost --kernel", "a value is missing"),
            ("cost --lockings bigger", "no locking `bigger`"),
            ("cost --rounds 0", "from 1, not `0`"),
            ("cost --colour red", "no option `--colour`"),
            ("scaling --cpus 1,x", "not `x`"),
            ("scaling --scatter wide", "exponential or constant"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(what), "{line}: {error}");
        }
    }
}
