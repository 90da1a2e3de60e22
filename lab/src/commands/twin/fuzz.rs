//! `twin fuzz`: one seed after the other, until enough is done, one fails, or an interrupt ends it.
//! Each way it says what it has done.

use crate::cli;
use crate::commands::print_json;
use crate::failure::Verdict;
use crate::fuzz::{self, Plan, Reach};
use crate::machine::Interrupts;
use crate::output;
use crate::progress::Step;
use anyhow::Result;
use serde_json::{Value, json};
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

/// An interrupt from a terminal reaches the simulation's process as well as this one: so long after
/// its end this one knows.
const GRACE: Duration = Duration::from_millis(200);

/// What was done.
struct Done<'a> {
    asked: &'a cli::Fuzz,
    /// The seed behind the last that was run to its end.
    next: u64,
    seconds: f64,
    reach: Reach,
    /// What the seed `next` came upon.
    failure: Option<String>,
    interrupted: bool,
}

/// Searches as the command line says.
pub fn fuzz(asked: &cli::Fuzz, as_json: bool) -> Result<Verdict> {
    let done = search(asked)?;
    if as_json {
        print_json(&done.summary());
    } else {
        output::line(&done);
    }
    Ok(match done {
        Done { failure: Some(_), .. } => Verdict::Failed,
        Done { interrupted: true, .. } => Verdict::Interrupted,
        _ => Verdict::Held,
    })
}

fn search(asked: &cli::Fuzz) -> Result<Done<'_>> {
    let step = Step::start("fuzzing the system-call interface");
    let interrupts = Interrupts::watch();
    let started = Instant::now();
    let limit = asked.minutes.map(|minutes| Duration::from_secs(minutes * 60));
    let (mut reach, mut next, mut failure) = (Reach::default(), asked.seed, None);
    let enough = |reach: &Reach| match limit {
        Some(limit) => started.elapsed() > limit,
        None => reach.steps >= asked.steps,
    };
    while !interrupts.any() && !enough(&reach) {
        step.detail(&format!("seed {next:#x}, {} steps", reach.steps));
        let plan = Plan::on(next, &asked.on)?;
        failure = fuzz::run(&plan, &mut reach).err();
        if failure.is_some() {
            thread::sleep(GRACE);
            break;
        }
        next += 1;
    }
    let interrupted = interrupts.any();
    // The seed that an interrupt has ended is the first of the next run.
    let failure = failure.filter(|_| !interrupted);
    let seconds = started.elapsed().as_secs_f64();
    Ok(Done { asked, next, seconds, reach, failure, interrupted })
}

impl Done<'_> {
    fn summary(&self) -> Value {
        let mut summary = json!({
            "held": self.failure.is_none(),
            "interrupted": self.interrupted,
            "seeds": [self.asked.seed, self.next],
            "cpus": self.asked.on.cpus,
            "steps": self.reach.steps,
            "seconds": self.seconds,
            "reach": self.reach.summary(),
            "missing": self.reach.missing(),
        });
        if let Some(failure) = &self.failure {
            summary["seed"] = json!(self.next);
            summary["failure"] = json!(failure);
        }
        summary
    }

    /// The command that repeats the seed that failed.
    fn replay(&self) -> String {
        let cli::Fuzzed { cpus, locking, kernel, chaos } = &self.asked.on;
        let chaos = &chaos.map(|chaos| chaos.to_string());
        let given = [("locking", locking), ("kernel", kernel), ("chaos", chaos)].into_iter();
        let given = given.filter_map(|(key, value)| Some(format!(" --{key} {}", value.as_ref()?)));
        let given: String = given.collect();
        format!("./giusto twin replay {:#x} --cpus {cpus}{given}", self.next)
    }
}

impl fmt::Display for Done<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Done { asked, next, seconds, reach, failure, interrupted } = self;
        if *interrupted {
            writeln!(f, "interrupted; --seed {next:#x} goes on from here")?;
        }
        match next - asked.seed {
            0 => write!(f, "no seed came to its end")?,
            _ => write!(f, "seeds {:#x} to {:#x}", asked.seed, next - 1)?,
        }
        let steps = reach.steps;
        write!(f, ": {steps} steps in {seconds:.1} s, every invariant held after each")?;
        let ((all, done), ended, most) = (reach.calls(), reach.shutdowns, reach.most_blocked);
        write!(
            f,
            "\n{all} system calls, {done} did what was asked; {ended} runs ended by a program; at \
             most {most} threads blocked at once"
        )?;
        if let Some(failure) = failure {
            write!(f, "\nseed {next:#x}: {failure}\nreplay it with: {}", self.replay())?;
            return Ok(());
        }
        reach.missing().iter().try_for_each(|missing| write!(f, "\nnot reached: {missing}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(steps: u64) -> cli::Fuzz {
        let locking = Some("fine".to_string());
        cli::Fuzz {
            steps,
            minutes: None,
            seed: 7,
            on: cli::Fuzzed { cpus: 2, locking, kernel: None, chaos: None },
        }
    }

    #[test]
    fn what_ends_well_says_how_much_it_did() {
        let asked = asked(1);
        let done = search(&asked).unwrap();
        assert!(done.reach.steps > 0 && done.failure.is_none() && !done.interrupted);
        let (said, told) = (done.to_string(), done.summary());
        let steps = done.reach.steps;
        assert!(said.starts_with(&format!("seeds 0x7 to 0x7: {steps} steps in ")), "{said}");
        assert_eq!(told["seeds"], json!([7, 8]));
        assert_eq!((&told["held"], &told["steps"]), (&json!(true), &json!(steps)));
    }

    #[test]
    fn what_fails_says_how_much_it_did_and_how_to_repeat_it() {
        let asked = asked(1);
        let failure = Some("an invariant".to_string());
        let (reach, interrupted) = (Reach::default(), false);
        let done = Done { asked: &asked, next: 9, seconds: 1.0, reach, failure, interrupted };
        let said = done.to_string();
        let last = "seed 0x9: an invariant\n\
                    replay it with: ./giusto twin replay 0x9 --cpus 2 --locking fine";
        assert!(said.starts_with("seeds 0x7 to 0x8: 0 steps") && said.ends_with(last), "{said}");
        assert_eq!(done.summary()["seed"], json!(9));
    }
}
