//! Tests on the host. Cargo builds their programs and says where they lie; each test then runs in a
//! process of its own, which is judged by its exit status.

use super::builds::Builds;
use super::findings::{Findings, built};
use super::job::{Choice, Class, Job};
use super::process::{self, Ended};
use crate::cli::Group;
use crate::failure::interrupted;
use crate::image::executables;
use crate::machine::Interrupts;
use crate::progress::Late;
use crate::workspace;
use anyhow::{Result, bail};
use cargo_metadata::{Artifact, TargetKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use walkdir::{DirEntry, WalkDir};

/// No build takes longer, on a slow host.
const LIMIT: Duration = Duration::from_secs(3600);
/// No test takes longer: one that does hangs.
const TEST_LIMIT: Duration = Duration::from_secs(60);

/// Lines of a failed test's output that are shown.
const SHOWN: usize = 60;

/// The seed of all properties, unless it is set: a commit has the same verdict each time. Other
/// cases are for `--deep`.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1");

/// Runs cargo; what it prints on standard output, or why it failed.
pub fn cargo(arguments: &[&str], environment: &[(&str, &str)]) -> Result<String> {
    let mut command = workspace::cargo(arguments);
    command.envs(environment.iter().copied());
    let ended = process::run_apart(&mut command, LIMIT)?;
    match ended.failure(usize::MAX) {
        None => Ok(ended.output),
        Some(failure) => bail!(failure),
    }
}

/// What a build prints for programs, or why it failed, which stands on standard error alone.
fn messages(mut ended: Ended) -> Result<String> {
    let messages = std::mem::take(&mut ended.output);
    match ended.failure(usize::MAX) {
        None => Ok(messages),
        Some(failure) => bail!(failure),
    }
}

/// Models that take more than some seconds.
const LONG_MODELS: [&str; 2] =
    ["a_writer_is_alone_and_readers_are_not", "the_ends_find_each_other"];

/// What takes long for what it finds, and belongs to whole runs: the program, and how names of
/// tests begin.
const LENGTHY: [(&str, &str); 6] = [
    ("kernel/hosted", "trains::mixed::"),
    ("kernel/hosted", "trains::random::"),
    ("lab", "commands::check::truth::"),
    ("lab", "experiment::latency::blame::"),
    ("manifest/mutations", ""),
    ("policies", "tree::tests::inside::"),
];

/// When a test runs.
fn class(program: &str, test: &str) -> Class {
    let is_of = |(of, begin): &(&str, &str)| *of == program && test.starts_with(begin);
    if LENGTHY.iter().any(is_of) { Class::Usual } else { Class::Quick }
}

/// Tests that run the simulation: the program and the module, which is a file.
const SIMULATED: [(&str, &str); 15] = [
    ("lab", "commands::cyclictest"),
    ("lab", "commands::rtsim"),
    ("lab", "commands::run"),
    ("lab", "commands::trace"),
    ("lab", "commands::trace::auto"),
    ("lab", "commands::twin::fuzz"),
    ("lab", "experiment::latency::blame"),
    ("lab", "experiment::lock_scaling::pairs"),
    ("lab", "experiment::partitions"),
    ("lab", "experiment::setup"),
    ("lab", "experiment::user_system"),
    ("lab", "fuzz"),
    ("lab", "machine::twin"),
    ("lab", "machine::twin::client"),
    ("lab/stopping", ""),
];

/// What a test waits for.
fn builds(program: &str, test: &str) -> Builds {
    let module = test.split("::tests::").next().filter(|module| *module != test);
    let one = (program, module.unwrap_or_default());
    if SIMULATED.contains(&one) { Builds::Twin } else { Builds::Own("its package") }
}

/// A program with tests.
struct Program {
    /// The package, and the test's file if it is one of its own.
    name: String,
    path: PathBuf,
    directory: PathBuf,
}

/// The tests that were asked for; only packages that may have some of them are built.
pub fn jobs(choice: &Choice) -> Result<Vec<Job>> {
    let (mut all, mut wanted) = (Vec::new(), Vec::new());
    for (package, directory) in packages()? {
        let words = || vocabulary(&package, &directory);
        if choice.asked().is_empty() || may_name(choice.asked(), &words()?) {
            wanted.push(package.clone());
        }
        all.push(package);
    }
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let title = format!("building the tests of {}", wanted.join(", "));
    if wanted == all {
        return programs(title, &chosen(&all));
    }
    let Targets { named, libraries } = Targets::of(&wanted)?;
    let mut jobs = Vec::new();
    if !named.is_empty() {
        // Features go by the packages that are named: with all of them, what was built for a whole
        // run is built from the same.
        let named = named.iter().map(String::as_str);
        jobs.extend(programs(
            title.clone(),
            &chosen(&all).into_iter().chain(named).collect::<Vec<_>>(),
        )?);
    }
    // What is asked for as `package/file` is in no library.
    let in_libraries = choice.asked().iter().any(|name| !name.contains('/'));
    if in_libraries && !libraries.is_empty() {
        let only = chosen(&libraries).into_iter().chain(["--lib"]);
        jobs.extend(programs(title, &only.collect::<Vec<_>>())?);
    }
    Ok(jobs)
}

/// Names packages for cargo.
fn chosen(packages: &[String]) -> Vec<&str> {
    packages.iter().flat_map(|package| ["-p", package]).collect()
}

/// Where packages have tests.
struct Targets {
    /// Cargo's arguments for files with tests, and for programs that have some.
    named: Vec<String>,
    /// Packages whose libraries have some. Cargo cannot be asked for one of several libraries.
    libraries: Vec<String>,
}

impl Targets {
    fn of(packages: &[String]) -> Result<Targets> {
        let mut targets = Targets { named: Vec::new(), libraries: Vec::new() };
        for package in workspace::metadata(workspace::root())?.packages {
            let name = package.name.to_string();
            let tested = package.targets.iter().filter(|target| target.test);
            for target in tested.filter(|_| packages.contains(&name)) {
                let is = |kind| target.kind.contains(&kind);
                match () {
                    () if is(TargetKind::Test) => targets.name("--test", &target.name),
                    () if is(TargetKind::Bin) => targets.name("--bin", &target.name),
                    () if is(TargetKind::CustomBuild) => {}
                    () => targets.libraries.push(name.clone()),
                }
            }
        }
        Ok(targets)
    }

    fn name(&mut self, kind: &str, target: &str) {
        self.named.extend([kind.to_string(), target.to_string()]);
    }
}

/// The models of the locks, which loom explores. All packages are named, so that cargo takes what
/// their tests are built from; one of them has models.
pub fn models(choice: &Choice) -> Result<Vec<Job>> {
    if !choice.may_take(Class::Usual) && !choice.may_take(Class::Deep) {
        return Ok(Vec::new());
    }
    let words = vocabulary("locks", &workspace::root().join("locks"))?;
    if !choice.asked().is_empty() && !may_name(choice.asked(), &words) {
        return Ok(Vec::new());
    }
    let title = "building the models of the locks".to_string();
    let packages = packages()?;
    let named = packages.iter().flat_map(|(package, _)| ["-p", package]);
    let models = ["--features", "locks/loom,ring/loom", "--test", "loom"];
    let jobs = programs(title, &named.chain(models).collect::<Vec<_>>())?;
    let class = |job: Job| {
        let long = LONG_MODELS.iter().any(|name| job.name.ends_with(name));
        job.class(if long { Class::Deep } else { Class::Usual })
    };
    Ok(jobs.into_iter().map(class).collect())
}

/// Builds programs with tests; each test is a job.
fn programs(title: String, what: &[&str]) -> Result<Vec<Job>> {
    let mut step = Late::new(title);
    let build = ["test", "--no-run", "--message-format", "json-render-diagnostics"];
    let mut cargo = workspace::cargo(&[&build, what].concat());
    let interrupts = Interrupts::watch();
    let ended = process::run_shown(&mut cargo, LIMIT, |line| step.said(line))?;
    drop(step);
    if ended.status.is_none() && interrupts.any() {
        // No job has begun: there is nothing to tell.
        interrupted();
    }
    let messages = built(messages(ended))?;
    let mut jobs = Vec::new();
    let packages = packages()?;
    for program in executables(&messages).into_iter().filter_map(|one| program(one, &packages)) {
        jobs.extend(tests(program)?);
    }
    Ok(jobs)
}

/// The host's packages with their directories.
pub fn packages() -> Result<Vec<(String, PathBuf)>> {
    let metadata = workspace::metadata(workspace::root())?;
    let directory = |manifest: &Path| manifest.parent().unwrap_or(manifest).to_path_buf();
    let of = |package: &cargo_metadata::Package| {
        (package.name.to_string(), directory(package.manifest_path.as_std_path()))
    };
    Ok(metadata.workspace_default_packages().into_iter().map(of).collect())
}

/// What the names of a package's tests are made of: the group, the package, files and functions.
fn vocabulary(package: &str, directory: &Path) -> Result<Vec<String>> {
    let mut words = vec![Group::Host.name(), package.to_string()];
    for folder in ["src", "tests"].map(|folder| directory.join(folder)) {
        for path in sources(&folder) {
            let text = std::fs::read_to_string(&path)?;
            let tests = tests_in(&text);
            if !tests.is_empty() {
                words.extend(tests);
                words.push(path.strip_prefix(directory).unwrap_or(&path).display().to_string());
            }
        }
    }
    Ok(words)
}

/// The functions of a file that are tests.
pub fn tests_in(text: &str) -> Vec<String> {
    let mut lines = text.lines().map(str::trim_start);
    let mut names = Vec::new();
    while lines.any(|line| line == "#[test]") {
        let function = lines.find_map(|line| line.strip_prefix("fn ")).unwrap_or_default();
        let end = function.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        names.push(function[..end.unwrap_or(function.len())].to_string());
    }
    names
}

/// Every Rust source below a folder, which need not be there.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let walk = WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    let is_source = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    walk.map(DirEntry::into_path).filter(is_source).collect()
}

/// Whether one of the names may be that of a test made of such words.
fn may_name(names: &[String], words: &[String]) -> bool {
    names.iter().any(|name| {
        let mut parts = name.split([' ', '/', ':']).filter(|part| !part.is_empty());
        parts.all(|part| words.iter().any(|word| word.contains(part)))
    })
}

/// The program with tests that cargo has built.
fn program(built: Artifact, packages: &[(String, PathBuf)]) -> Option<Program> {
    let path = built.executable.filter(|_| built.profile.test)?.into_std_path_buf();
    let directory = built.manifest_path.parent()?.as_std_path().to_path_buf();
    let (package, _) = packages.iter().find(|(_, its)| *its == directory)?;
    let target = built.target.name;
    let own = target == package.replace('-', "_") || target == *package;
    let name = if own { package.clone() } else { format!("{package}/{target}") };
    Some(Program { name, path, directory })
}

impl Program {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.env("LD_LIBRARY_PATH", libraries());
        command.args(arguments).current_dir(&self.directory);
        command.env("CARGO_MANIFEST_DIR", &self.directory);
        if let Ok(program) = workspace::program() {
            command.env("CARGO_BIN_EXE_lab", program);
        }
        if std::env::var_os(SEED.0).is_none() {
            command.env(SEED.0, SEED.1);
        }
        command
    }

    /// The names of its tests, all or those that are ignored.
    fn list(&self, which: &[&str]) -> Result<Vec<String>> {
        let arguments = [&["--list", "--format", "terse"], which].concat();
        let ended = process::run_apart(&mut self.command(&arguments), LIMIT)?;
        if let Some(failure) = ended.failure(SHOWN) {
            bail!("{} does not list its tests: {failure}", self.name);
        }
        let test = |line: &str| Some(line.strip_suffix(": test")?.to_string());
        Ok(ended.output.lines().filter_map(test).collect())
    }
}

/// The compiler's own libraries, which tests of macros are linked to.
fn libraries() -> &'static Path {
    static LIBRARIES: LazyLock<PathBuf> = LazyLock::new(|| {
        let asked = Command::new("rustc").args(["--print", "target-libdir"]).output();
        let printed = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        PathBuf::from(printed.unwrap_or_default().trim())
    });
    &LIBRARIES
}

/// The tests of a program. One that is ignored does not run, which is no pass.
fn tests(program: Program) -> Result<Vec<Job>> {
    let ignored: BTreeSet<String> = program.list(&["--ignored"])?.into_iter().collect();
    let program = Arc::new(program);
    let job = |test: String| {
        let (program, ignored) = (Arc::clone(&program), ignored.contains(&test));
        let name = format!("{} {test}", program.name);
        let (builds, class) = (builds(&program.name, &test), class(&program.name, &test));
        let work = move |_: &mut Findings| {
            if ignored {
                bail!("the test is marked to be ignored");
            }
            let mut command = program.command(&["--exact", &test, "--nocapture"]);
            match process::run(&mut command, TEST_LIMIT)?.failure(SHOWN) {
                None => Ok(()),
                Some(failure) => bail!(failure),
            }
        };
        Job::new(Group::Host, name, work).class(class).builds(builds).seconds(0.1)
    };
    Ok(program.list(&[])?.into_iter().map(job).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_with_tests_are_read_from_cargos_messages() {
        let packages = [("trace".to_string(), PathBuf::from("/w/lab/trace"))];
        let name = |test: bool, target: &str| {
            let message = serde_json::json!({"reason": "compiler-artifact", "package_id": "p",
                "manifest_path": "/w/lab/trace/Cargo.toml", "features": [], "filenames": [],
                "fresh": true, "executable": format!("/t/{target}-1"),
                "target": {"name": target, "kind": ["lib"], "crate_types": ["lib"],
                    "src_path": "", "edition": "2024"},
                "profile": {"test": test, "opt_level": "0", "debuginfo": 0,
                    "debug_assertions": true, "overflow_checks": true}});
            let [built] = <[Artifact; 1]>::try_from(executables(&message.to_string())).ok()?;
            program(built, &packages).map(|program| program.name)
        };
        assert_eq!(name(true, "trace"), Some("trace".to_string()));
        assert_eq!(name(true, "whole"), Some("trace/whole".to_string()));
        assert_eq!(name(false, "trace"), None, "a program that is no test");
        assert!(executables(r#"{"reason":"build-finished","success":true}"#).is_empty());
    }

    #[test]
    fn why_a_build_failed_stands_on_standard_error() {
        let built = |script: &str| {
            let mut shell = Command::new("sh");
            messages(process::run_apart(shell.args(["-c", script]), LIMIT).unwrap())
        };
        assert_eq!(built("echo {}; echo warning >&2").unwrap(), "{}\n");
        let failure = built("echo {}; echo 'error: why' >&2; exit 101").unwrap_err();
        assert_eq!(failure.to_string(), "exit status: 101\nerror: why");
    }

    #[test]
    fn tests_that_run_the_simulation_wait_for_it() {
        let own = Builds::Own("its package");
        assert_eq!(builds("lab", "commands::cyclictest::tests::a_histogram"), Builds::Twin);
        assert_eq!(builds("lab", "commands::check::tests::a_test"), own);
        assert_eq!(builds("lab/stopping", "a_test"), Builds::Twin);
        assert_eq!(builds("trace", "fuzz::tests::a_test"), own);
        for (program, module) in SIMULATED {
            let path = match program.split_once('/') {
                Some((package, file)) => format!("{package}/tests/{file}"),
                None => format!("{program}/src/{}", module.replace("::", "/")),
            };
            let paths = [".rs", "/mod.rs"].map(|end| workspace::root().join(path.clone() + end));
            assert!(paths.iter().any(|path| path.is_file()), "{module} of {program} is no file");
        }
    }

    #[test]
    fn quick_runs_leave_out_what_takes_long() {
        let class = |test| class("kernel/hosted", test);
        assert_eq!(class("trains::random::random_programs_with_heaps"), Class::Usual);
        assert_eq!(class("trains::stories::a_train_returns"), Class::Quick);
    }

    #[test]
    fn a_package_is_built_if_it_may_have_the_test() {
        let directory = workspace::root().join("lab/trace");
        let words = vocabulary("trace", &directory).unwrap();
        let may = |name: &str| may_name(&[name.to_string()], &words);
        assert!(may("trace") && may("host: trace") && may("decode::tests"));
        assert!(!may("no_such_test") && !may("kernel/hosted fuzz"));
        let text = "fn no() {}\n#[test]\n#[should_panic]\nfn yes() {\n    #[test]\n    fn any(";
        assert_eq!(tests_in(text), ["yes", "any"]);
        let names: Vec<String> = packages().unwrap().into_iter().map(|(name, _)| name).collect();
        assert!(["kernel", "locks", "trace"].iter().all(|name| names.contains(&name.to_string())));
    }

    #[test]
    fn files_programs_and_libraries_with_tests_are_told_apart() {
        let of = |package: &str| {
            let targets = Targets::of(&[package.to_string()]).unwrap();
            (targets.named.join(" "), targets.libraries.join(" "))
        };
        let (named, libraries) = of("kernel");
        assert!(named.contains("--test hosted") && !named.contains("--bin"), "{named}");
        assert_eq!(libraries, "kernel");
        let (named, libraries) = of("lab");
        assert!(named.contains("--bin lab") && named.contains("--test stopping"), "{named}");
        assert_eq!(libraries, "", "a program");
        assert!(!of("native").0.contains("giusto-native"), "it has no tests");
        assert_eq!(of("giusto-service-macro").1, "giusto-service-macro");
    }

    #[test]
    fn a_test_is_judged_by_its_exit_status() {
        let program = |script: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("program");
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&path, mode).unwrap();
            let directory = folder.path().to_path_buf();
            let jobs = tests(Program { name: "p".to_string(), path, directory }).unwrap();
            let run = |job: Job| {
                let name = job.name.clone();
                (name, job.work(&mut Findings::default()).map_err(|error| error.to_string()))
            };
            jobs.into_iter().map(run).collect::<Vec<_>>()
        };
        let ran = program(
            "case \"$*\" in *--ignored) echo 'sleeps: test' ;;
             --list*) echo 'works: test'; echo 'breaks: test'; echo 'sleeps: test' ;;
             *breaks*) echo why; exit 101 ;; esac",
        );
        let names: Vec<&str> = ran.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["p works", "p breaks", "p sleeps"]);
        assert_eq!(ran[0].1, Ok(()));
        assert_eq!(ran[1].1.as_ref().unwrap_err(), "exit status: 101\nwhy\n".trim_end());
        assert!(ran[2].1.is_err(), "ignored");
    }
}
