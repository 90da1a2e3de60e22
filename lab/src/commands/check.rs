//! `check`: is a manifest right, and what does it ask for?

use super::{print_json, wrapped};
use crate::failure::{Verdict, did_you_mean};
use crate::machine::{MACHINES, Machine};
use crate::{image, output};
use crate::{systems, workspace};
use anyhow::Result;
use manifest::{Origin, Problems, System};
use serde_json::json;

/// Checks a manifest.
pub fn check(system: &str, as_json: bool) -> Result<Verdict> {
    let checked = systems::load(system).and_then(|system| {
        check_programs(&system)?;
        Ok(system)
    });
    let (system, problems) = match checked {
        Ok(system) => (Some(system), None),
        Err(error) => (None, Some(error.downcast::<Problems>()?)),
    };
    if as_json {
        let name = system.as_ref().map(|system| system.name.as_str());
        let notes = system.as_ref().map(notes);
        print_json(&json!({"system": name, "problems": problems, "notes": notes}));
    } else if let Some(system) = &system {
        output::line(system.summary().trim_end());
        let notes = notes(system);
        notes.iter().for_each(|note| output::line(wrapped(note, "\nnote: ", "      ").trim_end()));
    }
    if let Some(problems) = &problems {
        eprintln!("{problems}");
    }
    Ok(if problems.is_none() { Verdict::Held } else { Verdict::Unable })
}

/// What a good manifest asks for that not every machine can do.
fn notes(system: &System) -> Vec<String> {
    let (able, unable): (Vec<_>, Vec<_>) =
        MACHINES.into_iter().partition(|machine| system.cpus <= machine.most_cpus());
    let able: Vec<String> =
        able.into_iter().map(|machine| format!("`--machine {}`", machine.name())).collect();
    let note = |machine: &dyn Machine| {
        let (name, most, cpus) = (machine.name(), machine.most_cpus(), system.cpus);
        let able = able.join(" or ");
        format!("machine {name} has at most {most} CPUs; a system of {cpus} runs with {able}")
    };
    unable.into_iter().map(note).collect()
}

/// Checks that there is a program for every domain, without building any.
fn check_programs(system: &System) -> Result<()> {
    let programs = programs()?;
    let own = system.domains.iter().filter(|domain| domain.origin == Origin::Giusto);
    let missing = own.filter(|domain| !programs.contains(&domain.program));
    let problems = missing.map(|domain| {
        let hint = did_you_mean(&domain.program, programs.iter().map(String::as_str));
        let message = format!("there is no program `{}`{hint}", domain.program);
        let help = format!("the programs are {}", programs.join(", "));
        system.source.problem(&domain.program_at, message, help)
    });
    match problems.chain(image::problems(system)).collect::<Vec<_>>() {
        none if none.is_empty() => Ok(()),
        problems => Err(Problems(problems).into()),
    }
}

/// Names of the programs that cargo would build.
fn programs() -> Result<Vec<String>> {
    let metadata = workspace::metadata(workspace::root())?;
    let package = metadata.packages.iter().find(|package| package.name == "programs");
    let targets = package.map_or(&[][..], |package| &package.targets);
    Ok(targets.iter().filter(|target| target.is_bin()).map(|bin| bin.name.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Usage;
    use crate::image;

    #[test]
    fn what_a_machine_cannot_do_is_noted_and_refused_there() {
        let mut system = systems::load("hello").unwrap();
        for machine in MACHINES {
            system.cpus = machine.most_cpus();
            let about = format!("machine {} ", machine.name());
            assert!(!notes(&system).iter().any(|note| note.starts_with(&about)), "{about}");
        }
        let [usual, .., simulation] = MACHINES;
        system.cpus = usual.most_cpus() + 1;
        let said = "machine qemu-x86_64 has at most 8 CPUs; a system of 9 runs with \
                    `--machine twin`";
        assert_eq!(notes(&system), [said]);
        let refused = image::build_for(usual, &system).err().unwrap();
        assert!(refused.is::<Usage>() && refused.to_string().contains("at most 8 CPUs"));
        assert!(system.cpus <= simulation.most_cpus());
    }
}
