//! Programs that compute in no time: a simulation's figures about them mean nothing.

use crate::machine::Outcome;
use manifest::System;
use std::collections::BTreeSet;

/// The domains whose threads run on a reservation.
pub fn of_reservation<'a>(system: &'a System, name: &str) -> Vec<&'a str> {
    let at = system.reservations.iter().position(|node| node.name == name);
    let runs = |domain: &&manifest::Domain| at.is_some() && domain.reservation == at;
    system.domains.iter().filter(runs).map(|domain| domain.name.as_str()).collect()
}

/// What is to be said of groups of domains that a figure is about, if a simulation was the machine
/// and no domain of one of them has called `work`.
pub fn sentence<'a>(outcome: &Outcome, groups: &[Vec<&'a str>]) -> Option<String> {
    let worked = outcome.simulated.worked.as_ref()?;
    let is_idle =
        |group: &&Vec<&'a str>| !group.iter().any(|name| worked.iter().any(|known| known == name));
    let idle: BTreeSet<&str> = groups.iter().filter(is_idle).flatten().copied().collect();
    if idle.is_empty() {
        return None;
    }
    let (verb, whose) = if idle.len() == 1 { ("calls", "its") } else { ("call", "their") };
    let names = idle.into_iter().collect::<Vec<_>>().join(", ");
    Some(format!(
        "{names} {verb} no `work`: {whose} response on the simulation means nothing; state it with \
         rt::system::work, or run on QEMU"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Exit, Simulated};

    #[test]
    fn only_what_never_works_in_a_simulation_is_told() {
        let ran = |worked: Option<&[&str]>| Outcome {
            simulated: Simulated {
                worked: worked.map(|names| names.iter().map(|name| name.to_string()).collect()),
                ..Simulated::default()
            },
            ..Outcome::made_up(Exit::Done(0), "")
        };
        let groups = [vec!["pump"], vec!["sensor", "helper"]];
        assert_eq!(sentence(&ran(None), &groups), None, "an emulator");
        assert_eq!(sentence(&ran(Some(&["pump", "helper"])), &groups), None);
        let one = sentence(&ran(Some(&["helper"])), &groups).unwrap();
        assert!(one.starts_with("pump calls no `work`: its response on the simulation"), "{one}");
        let all = sentence(&ran(Some(&[])), &groups).unwrap();
        assert!(all.starts_with("helper, pump, sensor call no `work`: their response"), "{all}");
    }
}
