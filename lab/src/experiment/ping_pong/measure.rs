use super::{SERVER_ABOVE, SERVER_BELOW, WORDS};
use crate::experiment::measured::{CALL_REPLY, round_trips};
use crate::experiment::run::{boot_fact, round_trip_facts};
use crate::experiment::{Boots, Emulated, Measured};
use anyhow::Result;

/// Cases of partners of unequal priority, with the server's; the client's is [`CLIENT`].
const UNEQUAL: [(&str, u8); 2] = [(SERVER_ABOVE, CLIENT + 10), (SERVER_BELOW, CLIENT - 10)];
const CLIENT: u8 = 100;

/// The systems that run the cases.
const SYSTEMS: [&str; 2] = ["ping-across", "ping-same"];

/// On the emulator, which also counts what single instructions do.
pub fn emulated(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = measure(setup, kernel)?;
    let counts = round_trip_facts(setup, SYSTEMS[0], kernel)?;
    measured.facts.splice(0..0, counts);
    Ok(measured)
}

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    // The programs number the cases of both systems in a row.
    let of = |place: &'static str| WORDS.iter().map(move |words| format!("{place} words={words}"));
    let cases: Vec<String> = of("across").chain(of("same")).collect();
    for system in SYSTEMS {
        let trips = round_trips(&setup.boot(system, kernel)?, kernel)?;
        for (metric, spans) in CALL_REPLY.into_iter().zip(trips) {
            measured.push(kernel, metric, &cases, spans)?;
        }
    }
    for (case, priority) in UNEQUAL {
        let outcome = setup.boot_changed(SYSTEMS[0], kernel, &mut |system| {
            for domain in &mut system.domains {
                domain.priority = if domain.name == "server" { priority } else { CLIENT };
            }
        })?;
        for (metric, mut spans) in CALL_REPLY.into_iter().zip(round_trips(&outcome, kernel)?) {
            // Of the message lengths only the first, no words.
            spans.cases.retain(|number, _| *number == 0);
            measured.push(kernel, metric, &[case], spans)?;
        }
    }
    measured.facts.push(boot_fact(setup, "hello", kernel)?);
    Ok(measured)
}
