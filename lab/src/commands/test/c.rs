//! Programs in C, by each compiler: the library beside the host's own, and on each machine systems
//! in which programs in C and in Rust talk to each other.

use super::builds::Builds;
use super::configuration::Configuration;
use super::findings::{Findings, built};
use super::job::{Class, Job};
use super::suites;
use crate::cli::Group;
use crate::faults;
use crate::image::c::{self, Compiler};
use crate::image::{self, Images};
use crate::machine::{self, MACHINES, Machine, Outcome, Simulation};
use crate::scratch::Scratch;
use crate::{systems, workspace};
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use manifest::System;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The compilers; the second knows C++ too.
pub(super) const COMPILERS: [&str; 2] = ["cc", CLANG];
const CLANG: &str = "clang";
/// Where the programs are, from the root of the work tree.
const FOLDER: &str = "tests/c";
/// After which a program has not ended.
const TIMEOUT: Duration = Duration::from_secs(60);
/// What the library and all programs are to be compiled with without a word.
pub(super) const STRICT: [&str; 5] = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
/// Sources of the library that are compared with the host's.
const COMPARED: [&str; 4] = ["string.c", "format.c", "snprintf.c", "malloc.c"];
/// The programs, each with its sources and how far it is optimised.
const PROGRAMS: [(&str, &str, &[&str]); 5] = [
    ("suite.elf", "-O2", &["suite.c", "strings.c", "formats.c", "heap.c", "kernel.c"]),
    ("greeter.elf", "-O2", &["greeter.c"]),
    ("careless.elf", "-O0", &["careless.c"]),
    ("reservations.elf", "-O2", &["reservations.c"]),
    (
        "mutexes.elf",
        "-O2",
        &["threads.c", "mutexes.c", "protocols.c", "conditions.c", "helpers.c", "cost.c"],
    ),
];
/// Panics of the mixed system: the domain, the place, and what is said.
const PANICS: [(&str, &str, &str); 7] = [
    ("asserted", "tests/c/careless.c:30", "assertion failed: how != ASSERTED"),
    ("freed-twice", "user/c/src/malloc.c:", "a block of the heap is used that was freed"),
    ("written-beyond", "user/c/src/malloc.c:", "a block of the heap was written beyond"),
    ("smashed", "user/c/src/panic.c:", "a local variable was written beyond, in the function at"),
    ("misformatted", "user/c/src/format.c:", "no such conversion in the format: %d of %f"),
    ("missed", "tests/c/careless.c:53", "the manifest gives no capability 'what it lacks'"),
    ("mute", "user/c/src/malloc.c:", "a block of the heap was written beyond"),
];

/// Faults of the mixed system, and where they happen.
const FAULTS: [(&str, &str); 2] = [
    ("null-used used a null pointer (address 0x0)", "main at tests/c/careless.c:47"),
    ("stack overflow of overflown (", "deeper at tests/c/careless.c:"),
];
/// Where a program stores less than a register of a device's.
const NARROW: [&str; 3] = ["narrow.c:9", "narrow.c:11", "narrow.c:13"];
/// How often the simulation injects something in a run with a seed, and so many seeds.
const CHAOS: u64 = 3;
const SEEDS: u64 = 10;
/// What a program says that has failed twice.
const BEGUN: [&str; 6] = [
    "first: run 1, by statics 1",
    "first: run 2, by statics 1",
    "first: run 3, by statics 1",
    "second: run 1, by statics 1",
    "second: run 2, by statics 1",
    "second: run 3, by statics 1",
];

/// Four jobs for each compiler.
pub fn jobs() -> Vec<Job> {
    let of = |name: &'static str| {
        let host = format!("the library for C beside the host's, by {name}");
        let host = Job::new(Group::Host, host, move |_| compare(&Compiler::find(name)?));
        let [target, twin] = MACHINES.map(|machine| {
            let title = format!("programs in C on {}, by {name}", machine.name());
            Job::new(Group::Target, title, move |findings| runs(name, machine, findings))
        });
        let race = format!("helpers of a condition in C that come and go, by {name}");
        let race = Job::new(Group::Host, race, move |_| come_and_go(&Compiler::find(name)?));
        let target = target.builds(Builds::usual()).seconds(4.0);
        let twin = twin.builds(Builds::Twin).seconds(2.0);
        let [race, target, twin] = [race, target, twin].map(|job| job.class(class(name)));
        [host, race, target, twin]
    };
    COMPILERS.into_iter().flat_map(of).collect()
}

/// When programs in C run that a compiler has made: those of the first in each usual run.
pub(super) fn class(compiler: &str) -> Class {
    if compiler == COMPILERS[0] { Class::Usual } else { Class::Deep }
}

/// The path of a file of the tests.
pub(super) fn path(name: &str) -> PathBuf {
    workspace::root().join(FOLDER).join(name)
}

/// Compiles parts of the library for the host and lets them meet the host's own.
fn compare(compiler: &Compiler) -> Result<()> {
    let place = Scratch::new()?;
    let mut library = compiler.command();
    library.current_dir(place.path()).args(["-c", "-O2"]).args(compiler.compile_flags()?);
    library.arg("-fno-stack-protector").arg("-include").arg(path("host/names.h"));
    let compared = |path: &PathBuf| COMPARED.iter().any(|name| path.ends_with(name));
    done(library.args(c::sources()?.iter().filter(|path| compared(path))))?;
    let mut program = compiler.command();
    program.current_dir(place.path()).args(["-std=c11", "-O1", "-fno-builtin", "-no-pie"]);
    program.arg(path("host/compare.c")).args(COMPARED.map(|name| name.replace(".c", ".o")));
    done(program.args(["-o", "compare"]))?;
    done(&mut Command::new(place.path().join("compare")))
}

/// Helpers come and go between the two steps of a wait, where a stub stands for the kernel.
fn come_and_go(compiler: &Compiler) -> Result<()> {
    let place = Scratch::new()?;
    let mut program = compiler.command();
    program.current_dir(place.path()).args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1"]);
    let library = workspace::root().join("user/c");
    for folder in [path("host/race"), library.join("include"), library.join("src")] {
        program.arg("-I").arg(folder);
    }
    program.arg(path("host/race/helpers.c")).arg(library.join("src/helpers.c"));
    done(program.args(["-o", "race"]))?;
    done(&mut Command::new(place.path().join("race")))
}

fn runs(name: &'static str, machine: &'static dyn Machine, findings: &mut Findings) -> Result<()> {
    let compiler = Compiler::find(name)?;
    let simulated = machine.emulator().is_none();
    if !simulated {
        findings.record("the library for C compiles without a warning", strict(&compiler));
    }
    if !simulated && name == CLANG {
        findings.record("the headers for C are headers for C++", headers(&compiler));
    }
    let place = Scratch::new()?;
    for (program, optimised, sources) in PROGRAMS {
        let mut compile = compiler.command();
        compile.args(STRICT).args(["-g", optimised]).args(compiler.compile_flags()?);
        compile.args(sources.iter().map(|source| path(source))).args(compiler.link_flags()?);
        done(compile.arg("-o").arg(place.path().join(program)))?;
    }
    let run = |manifest: &str, argument| run(place.path(), manifest, machine, argument);
    let (suite, _, outcome) = run("suite.toml", None)?;
    let one = Configuration::plain(machine, "c-suite");
    ensure!(suite.name == one.system, "the suite is called {}", suite.name);
    suites::judge(findings, &one, &outcome);
    // The simulation's counter counts no instructions.
    let (_, _, outcome) = run("mutexes.toml", simulated.then_some("counts=0"))?;
    suites::judge(findings, &Configuration::plain(machine, "c-mutexes"), &outcome);
    let (_, _, outcome) = run("reservations.toml", None)?;
    findings.record("a program in C makes and uses reservations", held(&outcome));
    mixed(findings, run("mixed.toml", None)?);
    if name == COMPILERS[0] {
        again(findings, machine)?;
    }
    if simulated {
        let system = systems::load(path("registers.toml").to_str().context("a path is text")?)?;
        let images = built(image::build_for(machine, &system))?;
        let outcome = machine::boot(&machine::Boot::new(machine, &images, &system))?;
        suites::judge(findings, &Configuration::plain(machine, "c-registers"), &outcome);
        let told = faults::told(&outcome, &system, &images);
        for (fault, place) in told.iter().map(Some).chain([None; NARROW.len()]).zip(NARROW) {
            let right = fault.is_some_and(|it| it.what.contains("no register of 64 bits whole"));
            let right = right && fault.is_some_and(|it| it.at.iter().any(|at| at.ends_with(place)));
            let name = format!("a store of half a register is refused: {place}");
            findings.record(name, right.then_some(()).ok_or_else(|| format!("{told:?}")));
        }
    }
    Ok(())
}

/// A server in C for a client in Rust, and programs in C that panic and fault.
fn mixed(findings: &mut Findings, (system, images, outcome): (System, Images, Outcome)) {
    findings.record("a client in Rust is answered by a server in C", answered(&outcome));
    let told = faults::told(&outcome, &system, &images);
    for (domain, place, said) in PANICS {
        let what = format!("{domain} panicked: {said}");
        let at = format!(", at {place}");
        let right = told.iter().any(|it| it.what.starts_with(&what) && it.what.contains(&at));
        let failure = || format!("`{what}` and `{place}` are missing in:\n{}", outcome.console);
        let name = format!("a panic in C is told with its reason and place: {domain}");
        findings.record(name, right.then_some(()).ok_or_else(failure));
    }
    for (what, place) in FAULTS {
        let is_there = |at: &String| at.starts_with(place);
        let right = told.iter().any(|it| it.what.starts_with(what) && it.at.iter().any(is_there));
        let failure = || format!("`{what}` at {place} is missing in {told:?}");
        let name = format!("a fault in C is told with its place: {what}");
        findings.record(name, right.then_some(()).ok_or_else(failure));
    }
}

/// Sources that a manifest names: programs that are restarted have statics of their own, whatever
/// the simulation injects.
fn again(findings: &mut Findings, machine: &'static dyn Machine) -> Result<()> {
    let system = systems::load(path("again.toml").to_str().context("a path is text")?)?;
    let images = built(image::build_for(machine, &system))?;
    let simulated = machine.emulator().is_none();
    for seed in 1..=if simulated { SEEDS } else { 1 } {
        let chaos = if simulated { CHAOS } else { 0 };
        let simulation = Simulation { chaos, check: simulated, ..Simulation::default() };
        let boot = machine::Boot::new(machine, &images, &system).seed(seed).timeout(TIMEOUT);
        let boot = boot.simulation(simulation);
        let outcome = machine::boot(&boot)?;
        let begun = BEGUN.iter().all(|line| outcome.console.contains(line));
        let failure = outcome.failure();
        let right = failure.is_none() && begun && outcome.console == machine::boot(&boot)?.console;
        let failure = || format!("{}\n{}", failure.unwrap_or_default(), outcome.console);
        let name = format!("a program in C begins with its own statics, seed {seed}, and repeats");
        findings.record(name, right.then_some(()).ok_or_else(failure));
    }
    Ok(())
}

/// Whether sources and headers are as C says, for a compiler that looks into all of them.
fn strict(compiler: &Compiler) -> Result<()> {
    let mut flags = compiler.compile_flags()?;
    // In headers of the system's a compiler finds nothing.
    let ours = flags.iter_mut().find(|flag| *flag == "-isystem").context("there are headers")?;
    *ours = "-I".to_string();
    done(compiler.command().args(STRICT).arg("-fsyntax-only").args(flags).args(c::sources()?))
}

/// Whether all headers can be included in C++.
fn headers(compiler: &Compiler) -> Result<()> {
    let place = Scratch::new()?;
    let mut text = String::new();
    for entry in fs::read_dir(workspace::root().join("user/c/include"))? {
        let name = entry?.file_name();
        if Path::new(&name).extension() == Some(OsStr::new("h")) {
            text.push_str(&format!("#include <{}>\n", name.to_string_lossy()));
        }
    }
    text.push_str("int main() { assert(giusto_signal(giusto_cap(\"a\")) == 0); return 0; }\n");
    let source = place.path().join("headers.cc");
    fs::write(&source, text)?;
    let flags = ["-x", "c++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"];
    done(compiler.command().args(flags).args(compiler.compile_flags()?).arg(source))
}

/// Boots a system of the tests, whose programs are in a folder, with an argument set.
pub(super) fn run(
    folder: &Path,
    manifest: &str,
    machine: &'static dyn Machine,
    argument: Option<&str>,
) -> Result<(System, Images, Outcome)> {
    let place = folder.join(manifest);
    fs::copy(path(manifest), &place)?;
    let mut system = systems::load(place.to_str().context("a path is text")?)?;
    system.add_panics();
    argument.map_or(Ok(()), |argument| systems::set_argument(&mut system, argument))?;
    let images = built(image::build_for(machine, &system))?;
    let boot = machine::Boot::new(machine, &images, &system).seed(1).timeout(TIMEOUT);
    let outcome = machine::boot(&boot)?;
    Ok((system, images, outcome))
}

fn answered(outcome: &Outcome) -> Result<()> {
    let failure = outcome.failure();
    ensure!(failure.is_none(), "{}", failure.unwrap_or_default());
    let last = "guest: greeting 3 came back as 9; the server has seen 3";
    ensure!(outcome.console.contains(last), "`{last}` is missing in:\n{}", outcome.console);
    Ok(())
}

/// Whether a program that counts what does not hold has ended well, and has said what does.
fn held(outcome: &Outcome) -> Result<()> {
    let failure = outcome.failure();
    let all = outcome.console.contains("ok and is not there any more");
    ensure!(failure.is_none() && all, "{}\n{}", failure.unwrap_or_default(), outcome.console);
    Ok(())
}

/// Runs a program that must say nothing on standard error, and end well.
pub(super) fn done(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let said = command.output().with_context(|| format!("cannot run {name}"))?;
    let errors = String::from_utf8_lossy(&said.stderr);
    ensure!(said.status.success() && errors.is_empty(), "{name}: {}\n{errors}", said.status);
    Ok(())
}
