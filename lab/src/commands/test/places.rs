//! Nothing depends on where it was built: no program names the checkout in what it loads, and a
//! copy of a checkout works on its own files, with programs that were built in another one.

use super::builds::Builds;
use super::findings::{Findings, nothing_of};
use super::giusto;
use super::job::{Class, Job};
use super::mutants::synchronise;
use super::process::{self, Ended};
use crate::cli::Group;
use crate::image::{self, Build};
use crate::machine::MACHINES;
use crate::scratch::Scratch;
use crate::workspace;
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use object::{Object, ObjectSegment};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No command here takes as long.
const LIMIT: Duration = Duration::from_secs(120);

/// The jobs.
pub fn jobs() -> Vec<Job> {
    let emulators = MACHINES.into_iter().filter(|machine| machine.emulator().is_some());
    let images = emulators.map(|machine| {
        let work = move |findings: &mut Findings| {
            let built = image::build(machine, Build::default())?;
            let own = workspace::program()?.to_path_buf();
            judge(findings, built.programs.into_values().chain([built.kernel, own]))
        };
        let name = format!("images of {} name no checkout", machine.name());
        Job::new(Group::Target, name, work).builds(Builds::of(machine, Build::default()))
    });
    let hosted = |builds: Builds, path: fn() -> Result<PathBuf>| {
        let name = format!("{builds} names no checkout");
        let work = move |findings: &mut Findings| judge(findings, [path()?]);
        Job::new(Group::Target, name, work).builds(builds)
    };
    let native = hosted(Builds::Native, image::build_native).class(Class::Deep);
    let hosted = [hosted(Builds::Twin, image::twin), native];
    let copy = Job::new(Group::Target, "a copied checkout uses its own files", |_| copied());
    images.chain(hosted).chain([copy]).collect()
}

fn judge(findings: &mut Findings, programs: impl IntoIterator<Item = PathBuf>) -> Result<()> {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for path in programs {
        seen += 1;
        if loads(&path, &workspace::root().display().to_string())? {
            wrong.push(workspace::shown(&path));
        }
    }
    ensure!(seen > 0, "there is no program");
    findings.record("no path of the checkout is loaded".to_string(), nothing_of(wrong));
    Ok(())
}

/// Whether a text is in what an executable loads, which debugging information is not.
fn loads(path: &Path, text: &str) -> Result<bool> {
    let data = fs::read(path)?;
    let file = object::File::parse(&*data).with_context(|| format!("{}", path.display()))?;
    let has = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let segments = file.segments().map(|segment| segment.data());
    Ok(segments.collect::<Result<Vec<_>, _>>()?.into_iter().any(has))
}

/// Copies the sources, changes a system there, and asks for it.
fn copied() -> Result<()> {
    let place = Scratch::new()?;
    let copy = place.path().join("copy");
    synchronise(workspace::root(), &copy)?;
    let system = copy.join("systems/hello.toml");
    let text = fs::read_to_string(&system)?;
    let (before, behind) = text.split_once("about = \"").context("it is about something")?;
    fs::write(&system, format!("{before}about = \"Of a copy. {behind}"))?;
    let told = |checkout: &Path, words: &[&str]| -> Result<Ended> {
        let mut command = giusto()?;
        command.args(words).env("GIUSTO_CHECKOUT", checkout).current_dir(place.path());
        process::run(&mut command, LIMIT)
    };
    let checked = told(&copy, &["check", "hello"])?;
    ensure!(checked.code() == Some(0), "check: {}", checked.output);
    ensure!(checked.output.contains("Of a copy."), "check: {}", checked.output);
    let made = told(&copy, &["new", "plant"])?;
    ensure!(made.code() == Some(0), "new: {}", made.output);
    let crates = fs::read_to_string(place.path().join("plant/Cargo.toml"))?;
    ensure!(crates.contains("\"../copy/user/rt\""), "new: {crates}");
    let moved = place.path().join("moved");
    fs::rename(&copy, &moved)?;
    let checked = told(&moved, &["check", "hello"])?;
    ensure!(checked.output.contains("Of a copy."), "check: {}", checked.output);
    let gone = told(&copy, &["check", "hello"])?;
    ensure!(gone.code() == Some(2), "a checkout that is gone: {:?}", gone.code());
    ensure!(
        gone.output.contains("no checkout or SDK of Giusto: start ./giusto"),
        "{}",
        gone.output
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_loads_is_found() {
        let own = std::env::current_exe().unwrap();
        assert!(loads(&own, std::hint::black_box("a place that is loaded")).unwrap());
        let absent: String = "dedaol ton si taht ecalp a".chars().rev().collect();
        assert!(!loads(&own, &absent).unwrap());
    }
}
