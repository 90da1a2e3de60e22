//! The on-target suite: named checks of every mechanism, from inside.
//!
//! Each check starts from a clean bench: helper threads, objects and slots of the one before are
//! gone. The last line says how many passed and failed; any failure is the run's exit status.

mod bench;
mod capabilities;
mod cpus;
mod domains;
mod dying;
mod ends;
mod faults;
mod floods;
mod futexes;
mod given_up;
mod inherit;
#[cfg(target_os = "none")]
mod locks;
mod looks;
mod memory;
mod messages;
mod moves;
mod mutexes;
mod nested;
mod partner;
mod pointers;
mod queues;
mod reaching;
mod rearming;
#[cfg(target_os = "none")]
mod registers;
mod schedule;
mod sdk;
mod serving;
mod shootdown;
mod signals;
mod statistics;
mod threads;
mod timeouts;
mod told;
mod transfer;
mod typed;
mod vectors;

use bench::{Bench, Checks};
use rt::{Env, println, system};

pub use partner::main as partner;

/// All checks, by subject.
const SUBJECTS: &[(&str, Checks)] = &[
    ("messages", messages::CHECKS),
    ("transfer", transfer::CHECKS),
    ("timeouts", timeouts::CHECKS),
    ("capabilities", capabilities::CHECKS),
    ("signals", signals::CHECKS),
    ("threads", threads::CHECKS),
    ("faults", faults::CHECKS),
    ("memory", memory::CHECKS),
    ("domains", domains::CHECKS),
    ("schedule", schedule::CHECKS),
    ("vectors", vectors::CHECKS),
    ("pointers", pointers::CHECKS),
    #[cfg(target_os = "none")]
    ("registers", registers::CHECKS),
    ("cpus", cpus::CHECKS),
    ("moves", moves::CHECKS),
    ("shootdown", shootdown::CHECKS),
    ("floods", floods::CHECKS),
    ("futexes", futexes::CHECKS),
    ("given-up", given_up::CHECKS),
    ("inherit", inherit::CHECKS),
    ("serving", serving::CHECKS),
    ("queues", queues::CHECKS),
    ("mutexes", mutexes::CHECKS),
    #[cfg(target_os = "none")]
    ("locks", locks::CHECKS),
    ("reaching", reaching::CHECKS),
    ("rearming", rearming::CHECKS),
    ("statistics", statistics::CHECKS),
    ("looks", looks::CHECKS),
    ("sdk", sdk::CHECKS),
    ("typed", typed::CHECKS),
    ("told", told::CHECKS),
    ("nested", nested::CHECKS),
    ("ends", ends::CHECKS),
    ("dying", dying::CHECKS),
    ("dying", dying::LAST),
];

/// The suite: every kind of capability, memory `shared`. The argument `only` picks subjects, such
/// as `memory+domains`; `tries` is how often a check may be repeated where time is not the
/// machine's own (a host that does something else for a while makes a deadline late). Each
/// repetition is told. `statistics` says whether the kernel keeps some, `yes` or `no`; without it
/// either will do.
pub fn main(env: &Env) {
    let (console, bench) = (env.console(), Bench::new(env));
    let (mut passed, mut failed) = (0u64, 0u64);
    let (only, tries) = (env.arg("only"), env.number("tries", 1));
    let wanted = |name: &str| only.is_none_or(|only| only.split('+').any(|one| one == name));
    for (subject, checks) in SUBJECTS.iter().filter(|(name, _)| wanted(name)) {
        for (name, check) in *checks {
            let held = (1..=tries).any(|attempt| {
                let result = check(&bench);
                bench.clean();
                match result {
                    Ok(()) => println!(console, "ok {subject}: {name}"),
                    Err(why) if attempt < tries => {
                        println!(console, "again {subject}: {name}: {why}");
                    }
                    Err(why) => println!(console, "FAILED {subject}: {name}: {why}"),
                }
                result.is_ok()
            });
            passed += u64::from(held);
            failed += u64::from(!held);
        }
    }
    println!(console, "{passed} passed, {failed} failed");
    let status = u64::from(failed > 0 || passed == 0);
    system::shutdown(env.cap("system"), status).expect("the run ends");
}
