//! What is said of the source itself: its format, lints, the project's own rules.

use super::builds::Builds;
use super::host::cargo;
use super::job::{Class, Job};
use super::{giusto, mutants, process};
use crate::cli::Group;
use crate::machine::MACHINES;
use anyhow::{Result, bail, ensure};
use std::process::Command;
use std::time::Duration;

/// The rules take no longer on a slow host.
const LIMIT: Duration = Duration::from_secs(600);

/// Features of a port that the usual image has none of, as far as they go together.
const EVERYTHING: &str = "fine,elided,log,trace,statistics,profile";

/// Lints and the format, which only words of cargo say.
fn said_by_cargo(group: Group, name: &str, arguments: Vec<&'static str>) -> Job {
    Job::new(group, name, move |_| cargo(&arguments, &[]).map(drop))
}

/// What the compiler says of links in the documentation. It is asked as clippy asks it, so that
/// what one of them has read of the crates serves the other.
fn documented() -> Job {
    let work = |_: &mut _| {
        let driver = driver()?;
        let environment = [
            ("RUSTDOCFLAGS", "-D warnings"),
            ("RUSTC_WORKSPACE_WRAPPER", driver.as_str()),
            ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"),
        ];
        cargo(&[&["doc", "-q", "--no-deps"][..], &WITH].concat(), &environment).map(drop)
    };
    let job = Job::new(Group::Lint, "documentation, host crates", work);
    job.builds(Builds::Own("host crates, for clippy")).seconds(15.0)
}

/// The compiler with clippy's lints, where cargo has it.
fn driver() -> Result<String> {
    let mut rustc = Command::new("rustc");
    let ended = process::run_apart(rustc.args(["--print", "sysroot"]), LIMIT)?;
    let toolchain = fs_err::canonicalize(ended.output.trim())?;
    Ok(toolchain.join("bin/clippy-driver").display().to_string())
}

/// Features of host crates: those with which most of the source is read.
const WITH: [&str; 2] = ["--features", "twin/programs"];

/// What cargo-deny is asked: `deny.toml` says what is allowed.
const DENY: [&str; 4] = ["deny", "check", "licenses", "sources"];

/// All of it.
pub fn jobs() -> Vec<Job> {
    let format = vec!["fmt", "--all", "--", "--check", "--color", "never"];
    let clippy =
        [&["clippy", "-q", "--all-targets"][..], &WITH, &["--", "-D", "warnings"]].concat();
    let mut jobs = vec![
        Job::new(Group::Tidy, "the project's own rules", |_| rules()).class(Class::Quick),
        // Not among the host's tests: in a mutant's copy its own patch does not apply.
        Job::new(Group::Tidy, "mutants apply", |_| mutants::apply_all()).class(Class::Quick),
        said_by_cargo(Group::Format, "formatting", format).class(Class::Quick),
        said_by_cargo(Group::Lint, "clippy, host crates", clippy)
            .builds(Builds::Own("host crates, for clippy"))
            .seconds(120.0),
        documented(),
        said_by_cargo(Group::Lint, "licences and origins of packages", DENY.to_vec())
            .class(Class::Deep)
            .seconds(5.0),
    ];
    for machine in MACHINES.iter().filter_map(|machine| machine.emulator()) {
        let port = ["clippy", "-q", "--target", machine.target(), "-p", machine.port()];
        let deny = ["--", "-D", "warnings"];
        let programs = ["giusto-rt", "giusto-service", "giusto-sync", "programs"];
        let programs: Vec<&str> = programs.iter().flat_map(|name| ["-p", name]).collect();
        let whole = [&port, &programs[..], &["--features", EVERYTHING], &deny].concat();
        let name = machine.name();
        for (what, class, arguments) in [
            (format!("clippy, crates of {name} with all that they can have"), Class::Usual, whole),
            (
                format!("clippy, the port of {name} as it is"),
                Class::Deep,
                [&port[..], &deny].concat(),
            ),
        ] {
            let builds = Builds::Own("the port, for clippy");
            let job = said_by_cargo(Group::Lint, &what, arguments);
            jobs.push(job.builds(builds).class(class));
        }
    }
    jobs
}

/// As a user asks for them: the page on contributing shows the same command.
fn rules() -> Result<()> {
    let ended = process::run_apart(giusto()?.arg("tidy"), LIMIT)?;
    if let Some(failure) = ended.failure(usize::MAX) {
        bail!(failure);
    }
    ensure!(ended.output == "0 findings\n", "it says `{}`", ended.output);
    Ok(())
}
