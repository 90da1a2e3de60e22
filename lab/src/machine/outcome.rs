//! How a run of a machine ended.

use super::{Doing, Finding, Samples};
use std::collections::BTreeMap;

/// Lines of console that a failure shows.
const SHOWN_LINES: usize = 15;

pub use abi::log::STUCK;

/// How a machine stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A program shut it down with this status.
    Done(u32),
    /// The kernel panicked.
    Panic,
    /// It was still running at the timeout and was ended.
    Hang,
    /// All of its threads waited, and the kernel said that nothing would wake one.
    Stuck,
    /// The user ended it.
    Interrupted,
    /// The emulator failed or stopped by itself.
    Emulator(String),
}

/// What is left of a simulation alone.
#[derive(Debug, Default)]
pub struct Simulated {
    /// What the wires of its plant had, as CSV with a heading, if that was recorded.
    pub wires: String,
    /// The names of domains whose threads called `rt::system::work`; none if it was no simulation.
    pub worked: Option<Vec<String>>,
    /// In how many places something could have been injected.
    pub places: u64,
}

/// What is left of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The name of the machine that ran.
    pub machine: &'static str,
    /// How it ended.
    pub exit: Exit,
    /// Everything that was printed on the console.
    pub console: String,
    /// Contents of the memory objects that the manifest marks for the host, by name.
    pub memories: BTreeMap<String, Vec<u8>>,
    /// The kernel's name as the running kernel printed it; empty if it never did.
    pub kernel: String,
    /// The kernel's backtrace after a panic, a line for each function.
    pub backtrace: Vec<String>,
    /// What was found in its page tables, if they were to be judged.
    pub findings: Vec<Finding>,
    /// What each thread was doing, if the run did not come to an end of its own, or a message was
    /// given up.
    pub threads: Vec<Doing>,
    /// By the index of an endpoint, how many messages were given up there before they were
    /// received; none that has no such.
    pub given_up: Vec<(u32, u32)>,
    /// The kernel's primitive steps as words, if it kept a log of them.
    pub log: Vec<u64>,
    /// Where the time went, if the kernel took samples.
    pub samples: Option<Samples>,
    /// What a simulation tells besides.
    pub simulated: Simulated,
}

#[cfg(test)]
impl Outcome {
    /// A made-up run that ended in a way and printed a text.
    pub fn made_up(exit: Exit, console: &str) -> Outcome {
        Outcome {
            machine: "made-up",
            exit,
            console: console.to_string(),
            memories: BTreeMap::new(),
            kernel: String::new(),
            backtrace: Vec::new(),
            findings: Vec::new(),
            threads: Vec::new(),
            given_up: Vec::new(),
            log: Vec::new(),
            samples: None,
            simulated: Simulated::default(),
        }
    }
}

impl Outcome {
    /// One message about what went wrong, or `None` if the run ended with status 0.
    pub fn failure(&self) -> Option<String> {
        let what = match &self.exit {
            Exit::Done(0) => return None,
            Exit::Done(status) => format!("the system shut itself down with status {status}"),
            Exit::Panic => "the kernel panicked".to_string(),
            Exit::Hang => "the system was still running at the timeout and was ended".to_string(),
            Exit::Stuck => STUCK.to_string(),
            Exit::Interrupted => "interrupted".to_string(),
            Exit::Emulator(what) => what.clone(),
        };
        let mut message = format!("{what}\n{}", self.last_lines());
        if !self.backtrace.is_empty() {
            message += "\nbacktrace:\n  ";
            message += &self.backtrace.join("\n  ");
        }
        Some(message)
    }

    fn last_lines(&self) -> String {
        let lines: Vec<&str> = self.console.lines().collect();
        if lines.is_empty() {
            return "the console is empty: the kernel did not get to its first line".to_string();
        }
        let from = lines.len().saturating_sub(SHOWN_LINES);
        let shown: Vec<String> = lines[from..].iter().map(|line| format!("  | {line}")).collect();
        format!("the console's last lines:\n{}", shown.join("\n"))
    }

    /// Steps of the counter, which may be instructions, from kernel entry to the first user
    /// instruction, if the kernel says so.
    pub fn boot_steps(&self) -> Option<u64> {
        self.number("boot: ", " counter steps to the first user instruction")
    }

    /// The number in the console line that starts with `before` and goes on with `after`.
    fn number(&self, before: &str, after: &str) -> Option<u64> {
        self.console.lines().find_map(|line| {
            let rest = line.strip_prefix(before)?;
            let end = rest.find(|c: char| !c.is_ascii_digit())?;
            rest[end..].starts_with(after).then(|| rest[..end].parse().ok())?
        })
    }
}

/// The kernel's name in the first line of a console: `giusto VERSION, kernel NAME`.
pub fn kernel_name(console: &str) -> Option<&str> {
    let line = console.lines().find(|line| line.starts_with("giusto "))?;
    let name = line.split_once(", kernel ")?.1.split_whitespace().next()?;
    Some(name.trim_end_matches([',', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(exit: Exit, console: &str) -> Outcome {
        let backtrace = vec!["panic at a.rs:1".to_string()];
        Outcome { backtrace, ..Outcome::made_up(exit, console) }
    }

    #[test]
    fn a_failure_says_what_and_shows_the_console() {
        assert_eq!(outcome(Exit::Done(0), "hello").failure(), None);
        let message = outcome(Exit::Hang, "one\ntwo\n").failure().unwrap();
        assert!(message.starts_with("the system was still running at the timeout"));
        assert!(message.contains("  | one\n  | two"));
        assert!(message.ends_with("backtrace:\n  panic at a.rs:1"));
        let message = outcome(Exit::Emulator("no such board".to_string()), "").failure().unwrap();
        assert!(message.contains("no such board") && message.contains("console is empty"));
    }

    #[test]
    fn the_kernel_names_itself() {
        let console = "noise\ngiusto 0.1.0, kernel direct-lazy\nhello";
        assert_eq!(kernel_name(console), Some("direct-lazy"));
        assert_eq!(kernel_name("KERNEL PANIC: no"), None);
    }

    #[test]
    fn numbers_are_read_from_the_console() {
        let outcome = outcome(Exit::Done(0), "x\nboot: 1234 counter steps to the first\n");
        assert_eq!(outcome.number("boot: ", " counter steps"), Some(1234));
        assert_eq!(outcome.number("boot: ", " cycles"), None);
        assert_eq!(outcome.number("text: ", " bytes"), None);
    }
}
