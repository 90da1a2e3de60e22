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
       giusto-native ring    [--kernel K] [--threads N] [--sizes N,..] [--hops N] [--rounds N]
                             [--seed S]
       giusto-native queue   [--kernel K] [--threads N] [--sizes N,..] [--rounds N] [--seed S]
       giusto-native mix     [--kernel K] [--work T] [--messages N] [--rounds N] [--seed S]

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
    /// Ticks of hops in a ring of threads.
    Ring,
    /// Ticks of clients that queue for a server.
    Queue,
    /// Ticks of messages between programs that use memory.
    Mix,
}

/// Commands by name.
const COMMANDS: [(&str, Command); 6] = [
    ("cost", Command::Cost),
    ("scaling", Command::Scaling),
    ("lines", Command::Lines),
    ("ring", Command::Ring),
    ("queue", Command::Queue),
    ("mix", Command::Mix),
];

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
    /// Threads of a ring, or the most clients of a queue.
    pub threads: u64,
    /// Potatoes, or clients that queue.
    pub sizes: Vec<u64>,
    /// Hops in a series.
    pub hops: u64,
    /// Mean ticks of work between two messages.
    pub work: u64,
    /// Messages that are recorded.
    pub messages: u64,
    /// The seed of all that is random.
    pub seed: u64,
}

impl Request {
    /// Reads a command line; the error is a sentence.
    pub fn parse(words: &[String]) -> Result<Request, String> {
        let Some((command, options)) = words.split_first() else {
            return Err(format!("a command is missing, one of {}", names(&COMMANDS)));
        };
        let known = COMMANDS.iter().find(|(name, _)| name == command);
        let Some((_, command)) = known.copied() else {
            return Err(format!("`{command}` is none of {}", names(&COMMANDS)));
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
            threads: 250,
            sizes: vec![1],
            hops: 37_500,
            work: 9_311,
            messages: 20_000,
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
            "--threads" => self.threads = number(option, value, 2)?,
            "--sizes" => self.sizes = numbers(option, value, 1)?,
            "--hops" => self.hops = number(option, value, 1)?,
            "--work" => self.work = number(option, value, 1)?,
            "--messages" => self.messages = number(option, value, 1)?,
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
        let names = names(&LOCKINGS);
        found.ok_or_else(|| format!("there is no locking `{name}`; take some of {names}"))
    };
    value.split(',').map(known).collect()
}

fn names<T>(known: &[(&str, T)]) -> String {
    known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
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
