//! How late threads of a user's system may wake: limits of a test, and what a run says to them.

use crate::commands::trace::names;
use crate::failure::{did_you_mean, usage};
use anyhow::{Result, bail, ensure};
use manifest::System;
use manifest::units::{NANOSECONDS, scaled};
use serde::Deserialize;
use std::collections::BTreeMap;
use trace::Traces;

/// Bytes of the trace that a run is judged by.
pub const TRACE: u64 = 64 << 20;

/// Limits as `tests.toml` has them.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Asked {
    /// For the threads of all domains.
    All(String),
    /// By domain.
    Each(BTreeMap<String, String>),
}

/// The limit of a domain.
#[derive(Clone)]
pub struct Limit {
    /// Its name; `None`: this is for all that have none of their own.
    domain: Option<String>,
    /// Its number in a trace.
    number: u32,
    /// Nanoseconds from the instant for which a thread waits until it runs.
    ns: u64,
}

impl Asked {
    /// The limits for a system.
    pub fn limits(&self, system: &System) -> Result<Vec<Limit>> {
        let each = match self {
            Asked::All(text) => {
                return Ok(vec![Limit { domain: None, number: 0, ns: time(text)? }]);
            }
            Asked::Each(each) => each,
        };
        let limit = |(name, text): (&String, &String)| {
            let names = || system.domains.iter().map(|domain| domain.name.as_str());
            let Some(index) = names().position(|domain| domain == name) else {
                let hint = did_you_mean(name, names());
                return Err(usage(format!("`latency`: no domain is called `{name}`{hint}")));
            };
            Ok(Limit { domain: Some(name.clone()), number: index as u32 + 1, ns: time(text)? })
        };
        each.iter().map(limit).collect()
    }
}

/// A time of at least a nanosecond.
pub fn time(text: &str) -> Result<u64> {
    let ns = scaled(text, &NANOSECONDS).filter(|ns| *ns >= 1.0);
    let wrong = || usage(format!("`{text}` is no time; write for example \"50us\""));
    ns.map(|ns| ns as u64).ok_or_else(wrong)
}

/// Judges a run by its trace. A limit that no wake-up was measured against does not hold.
pub fn judge(limits: &[Limit], bytes: &[u8], system: &System) -> Result<()> {
    let traces = Traces::decode(bytes)?;
    let wake_ups = trace::wakeups(&traces);
    for limit in limits {
        let whose = limit.domain.as_deref().unwrap_or("any thread");
        let own =
            |wake_up: &&trace::WakeUp| limit.domain.is_none() || wake_up.domain == limit.number;
        let worst = wake_ups.iter().filter(own).max_by_key(|wake_up| wake_up.latency());
        let Some(worst) = worst else { bail!("no wake-up of {whose} was seen by the clock") };
        if worst.latency() > limit.ns {
            let why = trace::explained(&traces, &names(system), worst);
            let why = why.map_or(String::new(), |why| format!("\n{why}"));
            bail!("{whose} woke {} ns late; the limit is {} ns{why}", worst.latency(), limit.ns);
        }
    }
    ensure!(traces.lost() == 0, "the trace was full before the run ended: shorten the run");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(text: &str) -> Result<Vec<Limit>> {
        #[derive(Deserialize)]
        struct Table {
            latency: Asked,
        }
        let system = crate::systems::load("hello")?;
        toml::from_str::<Table>(text).unwrap().latency.limits(&system)
    }

    #[test]
    fn limits_are_for_all_or_by_domain() {
        let all = limits("latency = \"50us\"").unwrap();
        assert_eq!((all[0].domain.as_deref(), all[0].ns), (None, 50_000));
        let each = limits("latency = { guest = \"1ms\" }").unwrap();
        assert_eq!((each[0].domain.as_deref(), each[0].ns), (Some("guest"), 1_000_000));
        let said = |text: &str| limits(text).err().unwrap().to_string();
        assert!(said("latency = \"soon\"").starts_with("`soon` is no time"));
        let unknown = said("latency = { guets = \"1ms\" }");
        assert!(unknown.ends_with("is called `guets`; did you mean `guest`?"), "{unknown}");
    }
}
