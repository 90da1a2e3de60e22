//! Finds systems by name or path.

use crate::failure::{did_you_mean, usage};
use crate::workspace;
use abi::Rights;
use anyhow::{Context, Result};
use manifest::{Endpoint, Memory, System, Target};
use std::path::{Path, PathBuf};

/// The named systems, in order.
pub fn names() -> Vec<String> {
    let entries = std::fs::read_dir(workspace::root().join("systems"));
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".toml")?.into()))
        .collect();
    names.sort();
    names
}

/// The manifest that `system` means: a path, or the name of one in systems/.
pub fn path(system: &str) -> Result<PathBuf> {
    let given = Path::new(system);
    if given.is_file() {
        return Ok(given.to_path_buf());
    }
    let named = workspace::root().join("systems").join(format!("{system}.toml"));
    // A path that works in the root of the work tree works everywhere.
    let inside = workspace::root().join(given);
    if let Some(found) = [named, inside].into_iter().find(|path| path.is_file()) {
        return Ok(found);
    }
    let names = names();
    let stem = given.file_stem().and_then(|stem| stem.to_str()).unwrap_or(system);
    let hint = did_you_mean(stem, names.iter().map(String::as_str));
    Err(usage(format!(
        "there is no system `{system}`, neither as a file nor in systems/ ({}){hint}",
        names.join(", ")
    )))
}

/// Reads and checks a manifest, given by path or name.
pub fn load(system: &str) -> Result<System> {
    let path = path(system)?;
    let shown = workspace::shown(&path);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {shown}"))?;
    Ok(manifest::parse(&shown, &text)?)
}

/// The system `pairs` with a pair on each of so many CPUs: the first is that of the manifest, the
/// others have no part in it but `done`. A pair's recording is a memory of its own.
pub fn pairs(cpus: u32) -> Result<System> {
    let mut system = load("pairs")?;
    let (pair, recording) = (system.endpoints[0].clone(), system.memories[0].clone());
    let domains = system.domains.clone();
    system.cpus = cpus;
    for cpu in 1..cpus {
        let [endpoint, memory] = [system.endpoints.len(), system.memories.len()];
        system.endpoints.push(Endpoint { name: format!("pair-{cpu}"), ..pair.clone() });
        system.memories.push(Memory { name: format!("recording-{cpu}"), ..recording.clone() });
        for mut domain in domains.clone() {
            domain.name = format!("{}-{cpu}", domain.name);
            domain.cpu = cpu;
            domain.args.retain(|(name, _)| name != "others");
            domain.maps.iter_mut().for_each(|map| map.memory = memory);
            for (name, value) in &mut domain.args {
                if name == "recording" {
                    *value = format!("recording-{cpu}");
                }
            }
            for cap in &mut domain.caps {
                match cap.target {
                    Target::Endpoint(0) => cap.target = Target::Endpoint(endpoint),
                    Target::Endpoint(_) => cap.rights = Rights::SEND,
                    _ => {}
                }
            }
            system.domains.push(domain);
        }
    }
    set_arguments(&mut system, "others", &|_| u64::from(cpus) - 1);
    set_arguments(&mut system, "seed", &|domain| domain as u64 / 2 + 1);
    Ok(system)
}

/// Sets an argument wherever a domain has it, by the domain's number.
pub fn set_arguments(system: &mut System, name: &str, value: &dyn Fn(usize) -> u64) {
    for (number, domain) in system.domains.iter_mut().enumerate() {
        let own = domain.args.iter_mut().filter(|(own, _)| own == name);
        own.for_each(|(_, text)| *text = value(number).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_system_lists_the_known_ones() {
        let error = path("no-such-system").unwrap_err();
        assert!(error.is::<crate::failure::Usage>());
        assert!(error.to_string().starts_with("there is no system `no-such-system`"));
    }
}
