//! Finds systems by name or path.

use crate::cli::{Under, fault};
use crate::failure::{did_you_mean, usage};
use crate::machine::Machine;
use crate::workspace;
use abi::Rights;
use anyhow::Result;
use manifest::{Endpoint, Memory, System, Target};
use std::collections::BTreeSet;
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

/// The manifest in the folder of a system.
pub const MANIFEST: &str = "system.toml";
/// The tests of a system, beside its manifest.
pub const TESTS: &str = "tests.toml";

/// The manifest that `system` means: a path of it or of its folder, or the name of one in systems/.
pub fn path(system: &str) -> Result<PathBuf> {
    let given = Path::new(system);
    if given.is_file() {
        return Ok(given.to_path_buf());
    }
    if given.is_dir() && given.join(MANIFEST).is_file() {
        return Ok(given.join(MANIFEST));
    }
    let named = workspace::root().join("systems").join(format!("{system}.toml"));
    // A path that works in the root of the work tree works everywhere.
    let inside = workspace::root().join(given);
    if let Some(found) = [named, inside].into_iter().find(|path| path.is_file()) {
        return Ok(found);
    }
    Err(missing(system))
}

/// Why nothing is found: what was given is a folder, a path, or a name.
fn missing(system: &str) -> anyhow::Error {
    let given = Path::new(system);
    let names = names();
    let stem = given.file_stem().and_then(|stem| stem.to_str()).unwrap_or(system);
    let hint = did_you_mean(stem, names.iter().map(String::as_str));
    usage(if given.is_dir() {
        format!("the folder `{system}` has no {MANIFEST}; `./giusto new` makes a system")
    } else if given.components().count() > 1 || given.extension().is_some() {
        format!("there is no file `{system}`{hint}")
    } else {
        let names = names.join(", ");
        format!("there is no system `{system}`, neither as a file nor in systems/ ({names}){hint}")
    })
}

/// Reads and checks a manifest, given by path or name.
pub fn load(system: &str) -> Result<System> {
    let path = path(system)?;
    let shown = workspace::shown(&path);
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|error| usage(format!("cannot read {shown}: {error}")))?;
    Ok(manifest::parse_in(path.parent().unwrap_or(Path::new("")), &shown, &text)?)
}

/// Gives an argument, `name=value`, to all programs that the manifest gives one of that name. What
/// is a number there stays one.
pub fn set_argument(system: &mut System, argument: &str) -> Result<()> {
    let Some((name, value)) = argument.split_once('=') else {
        return Err(usage(format!("--arg takes NAME=VALUE, not `{argument}`")));
    };
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    let args = system.domains.iter().flat_map(|domain| {
        domain.args.iter().map(move |(name, value)| (domain, name.as_str(), value))
    });
    let of_name = || args.clone().filter(|(_, known, _)| *known == name);
    if let Some((domain, _, given)) = of_name().find(|(.., given)| is_number(given))
        && !is_number(value)
    {
        return Err(usage(format!(
            "argument `{name}` of program {} is a number, for instance {given}, not `{value}`",
            domain.program
        )));
    }
    let known: BTreeSet<&str> = args.clone().map(|(_, name, _)| name).collect();
    if known.contains(name) {
        set(system, name, value);
        return Ok(());
    }
    let message = format!("no program of system `{}` takes an argument `{name}`", system.name);
    let hint = did_you_mean(name, known);
    Err(usage(message + &hint + &taken_arguments(system)))
}

/// The system as the command line changes it beside its kernel.
pub fn change(system: &mut System, under: &Under, machine: &dyn Machine) -> Result<()> {
    let is_chaotic = under.chaos > 0 || under.chaotic().is_some();
    if machine.emulator().is_some() && is_chaotic {
        return Err(usage("--chaos is the twin's; add `--machine twin`"));
    }
    if under.chaos == 0 && is_chaotic {
        return Err(usage("--chaos-from and --chaos-until say where --chaos N injects: give it"));
    }
    if under.chaotic().is_some_and(|span| span.is_empty()) {
        return Err(usage("--chaos-from is not before --chaos-until: nothing lies between them"));
    }
    under.args.iter().try_for_each(|arg| set_argument(system, arg))?;
    under.faults.iter().try_for_each(|fault| set_fault(system, fault))
}

/// Lets something go wrong with a device, as `DEVICE=FAULT` says.
pub fn set_fault(system: &mut System, given: &str) -> Result<()> {
    let Some((name, fault)) = given.split_once('=') else {
        return Err(usage(format!("--fault takes DEVICE=FAULT, not `{given}`")));
    };
    let fault = fault::parse(fault).map_err(usage)?;
    let devices = system.devices.iter_mut().flat_map(|devices| &mut devices.setup.devices);
    let mut devices: Vec<_> = devices.collect();
    let Some(at) = devices.iter().position(|device| device.name == name) else {
        let hint = did_you_mean(name, devices.iter().map(|device| device.name.as_str()));
        return Err(usage(format!("there is no device `{name}`{hint}")));
    };
    devices[at].faults.push(fault);
    Ok(())
}

/// A line for each program with the domains that it runs in and the arguments that these give it.
fn taken_arguments(system: &System) -> String {
    let mut programs: Vec<(String, Vec<&str>)> = Vec::new();
    for domain in &system.domains {
        let args: Vec<&str> = domain.args.iter().map(|(name, _)| name.as_str()).collect();
        let args = if args.is_empty() { "none".to_string() } else { args.join(", ") };
        let program = format!("program {}: {args}", domain.program);
        match programs.iter_mut().find(|(known, _)| *known == program) {
            Some((_, domains)) => domains.push(&domain.name),
            None => programs.push((program, vec![&domain.name])),
        }
    }
    let line = |(program, domains): (String, Vec<&str>)| {
        let plural = if domains.len() == 1 { "" } else { "s" };
        format!("\n  domain{plural} {}, {program}", domains.join(", "))
    };
    programs.into_iter().map(line).collect()
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
    set(&mut system, "others", &(cpus - 1).to_string());
    set_each(&mut system, "seed", &|domain| (domain / 2 + 1).to_string());
    Ok(system)
}

/// Sets an argument of all programs that have it.
pub fn set(system: &mut System, name: &str, value: &str) {
    set_each(system, name, &|_| value.to_string());
}

/// [`set`], to a value that goes by the domain's number.
pub fn set_each(system: &mut System, name: &str, value: &dyn Fn(usize) -> String) {
    for (number, domain) in system.domains.iter_mut().enumerate() {
        let args = domain.args.iter_mut().filter(|(own, _)| own == name);
        args.for_each(|(_, text)| *text = value(number));
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

    #[test]
    fn a_path_that_leads_to_no_system_is_told_from_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| path(folder.path().join(name).to_str().unwrap()).unwrap_err();
        let said = inside("").to_string();
        assert!(said.starts_with("the folder `") && said.contains("has no system.toml"), "{said}");
        let said = inside("helo.toml").to_string();
        assert!(said.starts_with("there is no file `"), "{said}");
        assert!(said.ends_with("; did you mean `hello`?"), "{said}");
    }

    #[test]
    fn an_argument_takes_the_place_of_the_manifests() {
        let mut system = load("stress").unwrap();
        set_argument(&mut system, "seed=77").unwrap();
        let args = &system.domains[0].args;
        assert!(args.contains(&("seed".to_string(), "77".to_string())));
        let said = |arg: &str| set_argument(&mut load("stress").unwrap(), arg).unwrap_err();
        assert!(said("sed=1").is::<crate::failure::Usage>());
        let why = said("sed=1").to_string();
        let first = "no program of system `stress` takes an argument `sed`; did you mean `seed`?";
        assert_eq!(why.lines().next(), Some(first));
        assert!(why.contains("\n  domain stress, program stress: seed, "), "{why}");
        let hello = set_argument(&mut load("hello").unwrap(), "seed=1").unwrap_err().to_string();
        assert!(hello.contains("\n  domain guest, program hello-client: none"), "{hello}");
        assert!(said("seed").to_string().starts_with("--arg takes NAME=VALUE"));
        for wrong in ["x", "", "-1", "1.5", "18446744073709551616"] {
            let why = said(&format!("seed={wrong}")).to_string();
            let number = "argument `seed` of program stress is a number, for instance ";
            assert!(why.starts_with(number) && why.ends_with(&format!("not `{wrong}`")), "{why}");
        }
    }
}
