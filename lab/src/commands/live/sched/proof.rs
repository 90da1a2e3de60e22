//! What the analysis no longer proves after a change, which the kernel's admission does not ask.

use crate::commands::check;
use crate::live::{Entry, Picture};
use crate::systems;
use manifest::{System, spell_duration};
use std::collections::BTreeMap;

/// Deadlines that were proved before and are not any more, in words; none if the manifest cannot be
/// read again, or says nothing to prove.
pub fn lost(entry: &Entry, before: &Picture, after: &Picture) -> Vec<String> {
    let Ok(system) = systems::load(&entry.manifest.to_string_lossy()) else { return Vec::new() };
    let proved = |picture: &Picture| {
        let system = as_in(system.clone(), picture);
        let deadlines = system
            .reservations
            .iter()
            .filter_map(|one| one.timing.map(|timing| (one.name.clone(), timing.deadline)));
        let mut bounds = check::bounds(&system);
        // The analysis takes a manifest's word that a job fits its budget.
        let exceeds = |name: &String| {
            let one = system.reservations.iter().find(|one| one.name == *name);
            let job = one.and_then(|one| one.execution.zip(one.limit));
            job.is_some_and(|(time, limit)| time > limit.budget)
        };
        bounds.retain(|name, _| !exceeds(name));
        (deadlines.collect::<BTreeMap<String, u64>>(), bounds)
    };
    let (old, new) = (proved(before), proved(after));
    let each = new.0.iter().filter_map(|(name, deadline)| {
        let was = old.0.get(name).zip(old.1.get(name));
        was.filter(|(deadline, bound)| bound <= deadline)?;
        let due = spell_duration(*deadline);
        match new.1.get(name) {
            Some(bound) if bound <= deadline => None,
            Some(bound) => {
                let bound = spell_duration(*bound);
                Some(format!("by the analysis, jobs of {name} may now take {bound}; due in {due}"))
            }
            None => Some(format!(
                "by the analysis, nothing bounds jobs of {name} any more, due in \
                                  {due}"
            )),
        }
    });
    each.collect()
}

/// The system with what its reservations are like in a picture.
fn as_in(mut system: System, picture: &Picture) -> System {
    system.cpus = u32::try_from(picture.cpus).unwrap_or(system.cpus);
    system.kernel.clone_from(&picture.kernel);
    system.add_control();
    for one in &mut system.reservations {
        let now = picture.reservations.iter().find(|now| now.name == one.name);
        if let Some(now) = now {
            one.share = now.share.unwrap_or(one.share);
            (one.limit, one.timing) = (now.limit, now.timing);
            one.windows.clone_from(&now.windows);
        }
    }
    system
}
