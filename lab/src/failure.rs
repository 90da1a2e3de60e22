//! How a command ends.

use manifest::Problems;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// What a command found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything that was asked held.
    Held,
    /// A check failed; the command has said which.
    Failed,
    /// A tool is missing, or a manifest is wrong; the command has said which, or where.
    Unable,
    /// A thread woke up later than was asked for; the command has said why.
    Late,
    /// A thread was stopped by a fault without a handler, or panicked; the command has said where.
    Faulted,
    /// The kernel panicked; its message and backtrace have been shown.
    Panicked,
    /// An interrupt ended it; the command has said what it had done.
    Interrupted,
}

impl Verdict {
    /// All of them, by their exit statuses.
    pub const ALL: [Verdict; 7] = [
        Verdict::Held,
        Verdict::Failed,
        Verdict::Unable,
        Verdict::Late,
        Verdict::Faulted,
        Verdict::Panicked,
        Verdict::Interrupted,
    ];

    /// [`Verdict::Held`] if `held`.
    pub fn from_bool(held: bool) -> Verdict {
        if held { Verdict::Held } else { Verdict::Failed }
    }

    /// The exit status that says so.
    pub fn status(self) -> u8 {
        match self {
            Verdict::Held => 0,
            Verdict::Failed => 1,
            Verdict::Unable => 2,
            Verdict::Late => 3,
            Verdict::Faulted => 4,
            Verdict::Panicked => abi::boot::EXIT_PANIC as u8,
            Verdict::Interrupted => INTERRUPT_STATUS,
        }
    }

    /// The same, for `main`.
    pub fn exit_code(self) -> ExitCode {
        ExitCode::from(self.status())
    }

    /// What the status means, as the help and the page of all commands have it.
    pub fn meaning(self) -> &'static str {
        match self {
            Verdict::Held => "everything held",
            Verdict::Failed => "a check failed",
            Verdict::Unable => "the usage or a manifest is wrong, or a tool is missing",
            Verdict::Late => "a wake-up, a response or a section took longer than its limit",
            Verdict::Faulted => "a program faulted without a handler, or panicked",
            Verdict::Panicked => "the kernel panicked",
            Verdict::Interrupted => "an interrupt (Ctrl-C) ended the command",
        }
    }
}

/// The command could not even start: a wrong command line, or a tool that is missing.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A [`Usage`] error.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage(message.into()).into()
}

/// 2 for [`Usage`] errors and wrong manifests, 1 for everything else that went wrong.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(if error.is::<Usage>() || error.is::<Problems>() { 2 } else { 1 })
}

/// What the shell expects of a program that an interrupt ended.
const INTERRUPT_STATUS: u8 = 130;

/// What to say when an interrupt ends the program.
static FAREWELL: Mutex<Option<String>> = Mutex::new(None);

/// Sets what is said when an interrupt ends the program; what was to be said before.
pub fn on_interrupt(text: Option<String>) -> Option<String> {
    std::mem::replace(&mut FAREWELL.lock().unwrap_or_else(PoisonError::into_inner), text)
}

/// Ends the program after an interrupt.
pub fn interrupted() -> ! {
    if let Some(text) = &*FAREWELL.lock().unwrap_or_else(PoisonError::into_inner) {
        eprintln!("\n{text}");
    }
    std::process::exit(INTERRUPT_STATUS.into())
}

/// The candidate that `word` was most likely meant to be, as a question to append to an error.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let meant = manifest::nearest(word, &candidates);
    meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_is_suggested_and_a_wild_guess_is_not() {
        let names = ["hello", "shell", "selftest"];
        assert_eq!(did_you_mean("helo", names), "; did you mean `hello`?");
        assert_eq!(did_you_mean("xyz", names), "");
    }

    #[test]
    fn usage_errors_are_told_from_failed_checks() {
        let code = |error: &anyhow::Error| format!("{:?}", exit_code(error));
        assert_eq!(code(&usage("no such board")), format!("{:?}", ExitCode::from(2)));
        assert_eq!(code(&anyhow::anyhow!("panic")), format!("{:?}", ExitCode::from(1)));
    }

    #[test]
    fn every_status_is_another_one() {
        assert!(Verdict::ALL.map(Verdict::status).is_sorted_by(|one, next| one < next));
    }
}
