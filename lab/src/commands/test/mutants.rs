//! Each sabotage in tests/mutants/ must turn the tests red: by name with `test --mutants`, all of
//! them as jobs of a deep run. A patch may name tests that are tried first, for which little is
//! built; it survives if all of its groups pass.
//!
//! The work tree is copied once and kept in step, so that cargo builds again only what a patch
//! has changed. A mutant that does not build shows nothing: that is an error.

use super::builds::Builds;
use super::findings::{Summary, nothing_of};
use super::job::{Class, Job};
use super::patch::{KNOWN, Mutant};
use super::process;
use crate::cli::Group;
use crate::commands::{counted, print_json};
use crate::failure::{Verdict, usage};
use crate::output;
use crate::progress::Step;
use crate::workspace;
use anyhow::{Result, bail, ensure};
use fs_err as fs;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use walkdir::{DirEntry, WalkDir};

/// What became of a mutant.
#[derive(Debug, Serialize)]
struct Fate {
    mutant: String,
    about: String,
    killed: bool,
    /// Names of the tests that noticed.
    by: Vec<String>,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Fate { mutant, about, killed, by } = self;
        let fate = if *killed { "killed  " } else { "SURVIVED" };
        write!(f, "{fate} {mutant}: {about}")?;
        by.first().map_or(Ok(()), |by| write!(f, "\n         first noticed by: {by}"))
    }
}

/// Applies every patch, or those of these names, and expects failures.
pub fn mutants(names: &[String], as_json: bool) -> Result<Verdict> {
    let mutants = chosen(all()?, names)?;
    let (mut passed, mut fates) = (BTreeSet::new(), Vec::new());
    for mutant in &mutants {
        let fate = fate(mutant, |tests| match passed.insert(tests.clone()) {
            true => healthy(tests),
            false => Ok(()),
        })?;
        if !as_json {
            output::line(&fate);
        }
        fates.push(fate);
    }
    let survivors = fates.iter().filter(|fate| !fate.killed).count();
    if as_json {
        print_json(&serde_json::json!({"mutants": fates, "survivors": survivors}));
    } else {
        output::line(counted(survivors, "survivor"));
    }
    Ok(Verdict::from_bool(survivors == 0))
}

/// No mutant takes longer, however long it makes tests wait.
const LIMIT: Duration = Duration::from_secs(3600);

/// Held by a job while it has the copy.
static COPY: Mutex<()> = Mutex::new(());

/// Does something in a true copy of the work tree, with the directory that it is built in.
pub fn in_copy<T>(work: impl FnOnce(&Path, &Path) -> Result<T>) -> Result<T> {
    let _copy = COPY.lock().unwrap_or_else(PoisonError::into_inner);
    synchronise(workspace::root(), &copy())?;
    work(&copy(), &build())
}

/// A job for each mutant, and one without any. They share the copy, one after the other.
pub fn jobs() -> Result<Vec<Job>> {
    let job = |name: String, work: Box<dyn FnOnce() -> Result<()> + Send>| {
        let work = move |_: &mut _| {
            let _copy = COPY.lock().unwrap_or_else(PoisonError::into_inner);
            work()
        };
        let job = Job::new(Group::Mutants, name, work).class(Class::Deep).seconds(300.0);
        job.builds(Builds::Own("a copy of everything"))
    };
    let all_groups = Tests { groups: KNOWN.map(str::to_string).into(), first: None };
    let mut jobs =
        vec![job("no mutant at all".to_string(), Box::new(move || healthy(&all_groups)))];
    for mutant in all()? {
        let name = format!("{}: {}", mutant.name, mutant.about);
        // A job of its own looks at the tests without it.
        let work = move || match fate(&mutant, |_| Ok(()))? {
            fate if fate.killed => Ok(()),
            _ => bail!("it survives: no test of {} notices", mutant.groups.join(", ")),
        };
        jobs.push(job(name, Box::new(work)));
    }
    Ok(jobs)
}

/// Where the mutated copy lies.
fn copy() -> PathBuf {
    workspace::build_directory().join("mutants/tree")
}

/// Where it is built.
fn build() -> PathBuf {
    copy().with_file_name("build")
}

/// Tests that a mutant meets: those of groups, or those of them that have `first` in their names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Tests {
    groups: Vec<String>,
    first: Option<String>,
}

impl Tests {
    /// Those that it meets one after the other until one notices.
    fn of(mutant: &Mutant) -> Vec<Tests> {
        let all = Tests { groups: mutant.groups.clone(), first: None };
        let first = mutant.first.iter();
        let first = first.map(|first| Tests { first: Some(first.clone()), ..all.clone() });
        first.chain([all.clone()]).collect()
    }

    fn shown(&self) -> String {
        self.first.clone().unwrap_or_else(|| self.groups.join(", "))
    }
}

/// Without a sabotage everything must pass, or failing proves nothing.
fn healthy(tests: &Tests) -> Result<()> {
    synchronise(workspace::root(), &copy())?;
    let names = failures(&run(&copy(), "no mutant", tests)?);
    ensure!(names.is_empty(), "without any mutant, tests fail already: {}", names.join(", "));
    Ok(())
}

/// What becomes of a mutant. What fails without it, too, has not noticed it: tests that it meets
/// are first seen to `pass`.
fn fate(mutant: &Mutant, mut pass: impl FnMut(&Tests) -> Result<()>) -> Result<Fate> {
    let mut by = Vec::new();
    for tests in Tests::of(mutant) {
        pass(&tests)?;
        by = noticed(mutant, &tests)?;
        if !by.is_empty() {
            break;
        }
    }
    let (name, about) = (mutant.name.clone(), mutant.about.clone());
    Ok(Fate { mutant: name, about, killed: !by.is_empty(), by })
}

/// Applies a patch to the copy, and tests. Returns what fails.
fn noticed(mutant: &Mutant, tests: &Tests) -> Result<Vec<String>> {
    synchronise(workspace::root(), &copy())?;
    git(mutant, &copy(), &[])?;
    let summary = run(&copy(), &mutant.name, tests)?;
    let mut findings = summary.runs.iter().flat_map(|run| &run.findings);
    if let Some(broken) = findings.find(|finding| finding.broken) {
        let why = broken.failure.as_deref().unwrap_or_default();
        bail!("mutant `{}` does not build: {}: {why}", mutant.name, broken.check);
    }
    Ok(failures(&summary))
}

/// Every mutant.
fn all() -> Result<Vec<Mutant>> {
    read_all(&workspace::root().join("tests/mutants"))
}

fn read_all(directory: &Path) -> Result<Vec<Mutant>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .map_err(|error| usage(error.to_string()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "patch"));
    paths.sort();
    if paths.is_empty() {
        return Err(usage(format!("there is no mutant in {}", workspace::shown(directory))));
    }
    paths.iter().map(|path| Mutant::read(path)).collect()
}

/// All, or those of these names.
fn chosen(mutants: Vec<Mutant>, names: &[String]) -> Result<Vec<Mutant>> {
    let is = |mutant: &Mutant, name: &String| mutant.name == *name;
    if let Some(wrong) = names.iter().find(|name| !mutants.iter().any(|m| is(m, name))) {
        let all: Vec<&str> = mutants.iter().map(|mutant| mutant.name.as_str()).collect();
        return Err(usage(format!("there is no mutant `{wrong}`, only {}", all.join(", "))));
    }
    let wanted = |mutant: &Mutant| names.is_empty() || names.iter().any(|name| is(mutant, name));
    Ok(mutants.into_iter().filter(wanted).collect())
}

/// Makes the files of `to` those of `from`, without hidden history and build directories, writing
/// only what differs.
pub fn synchronise(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let wanted = files(from)?;
    for gone in files(to)?.difference(&wanted) {
        fs::remove_file(to.join(gone))?;
    }
    for path in wanted {
        let copy = to.join(&path);
        let contents = fs::read(from.join(&path))?;
        if fs::read(&copy).ok().as_deref() != Some(&contents) {
            fs::create_dir_all(copy.parent().unwrap_or(to))?;
            fs::copy(from.join(&path), &copy)?;
        }
    }
    Ok(())
}

/// The files of a work tree.
fn files(root: &Path) -> Result<BTreeSet<PathBuf>> {
    let apart = ["target", ".git"];
    let own =
        |entry: &DirEntry| entry.depth() == 0 || !apart.iter().any(|n| entry.file_name() == *n);
    let mut files = BTreeSet::new();
    for entry in WalkDir::new(root).into_iter().filter_entry(own) {
        let entry = entry?;
        if !entry.file_type().is_dir() {
            files.insert(entry.path().strip_prefix(root)?.to_path_buf());
        }
    }
    Ok(files)
}

/// Whether every patch applies to the work tree.
pub fn apply_all() -> Result<()> {
    let root = workspace::root();
    nothing_of(all()?.iter().filter_map(|mutant| git(mutant, root, &["--check"]).err()))
}

fn git(mutant: &Mutant, tree: &Path, options: &[&str]) -> Result<()> {
    // A copy lies inside a work tree, of which git must not think here.
    let output = Command::new("git")
        .args(["apply", "--whitespace=nowarn"])
        .args(options)
        .arg(&mutant.path)
        .env("GIT_CEILING_DIRECTORIES", tree.parent().unwrap_or(tree))
        .current_dir(tree)
        .output()
        .map_err(|error| usage(format!("cannot run git: {error}; see `./giusto doctor`")))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("mutant `{}` does not apply any more; redo it: {}", mutant.name, why.trim());
    }
    Ok(())
}

/// Runs tests in the copy.
fn run(copy: &Path, name: &str, tests: &Tests) -> Result<Summary> {
    let _step = Step::start(format!("{name}: {}", tests.shown()));
    let mut cargo =
        workspace::cargo(&["run", "-q", "-p", "lab", "--", "test", "--fail-fast", "--json"]);
    cargo.args(tests.groups.iter().flat_map(|group| ["--only", group])).args(&tests.first);
    cargo.current_dir(copy).env("CARGO_TARGET_DIR", build());
    let ended = process::run_apart(&mut cargo, LIMIT)?;
    serde_json::from_str(&ended.output)
        .map_err(|_| anyhow::anyhow!("`{name}`: the tests did not run:\n{}", ended.errors.trim()))
}

fn failures(summary: &Summary) -> Vec<String> {
    let failed = summary.runs.iter().filter(|run| run.failure().is_some());
    failed.map(|run| run.title()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn mutants_are_chosen_by_name() {
        let names = ["a", "b", "c"];
        let all = || {
            let diff = "Mutant: m\nCaught-by: host\n\n--- a/y.rs\n";
            let files = names.map(|name| (format!("{name}.patch"), diff));
            let files: Vec<_> = files.iter().map(|(path, diff)| (path.as_str(), *diff)).collect();
            read_all(tree(&files).path()).unwrap()
        };
        let chosen = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
            super::chosen(all(), &wanted)
                .map(|mutants| mutants.into_iter().map(|m| m.name).collect::<Vec<_>>())
        };
        assert_eq!(chosen(&[]).unwrap(), names);
        assert_eq!(chosen(&["c", "a"]).unwrap(), ["a", "c"]);
        let error = chosen(&["a", "d"]).unwrap_err().to_string();
        assert_eq!(error, "there is no mutant `d`, only a, b, c");
    }

    #[test]
    fn a_mutant_meets_the_tests_that_are_named_and_then_all_of_its_groups() {
        let mutant = |first: Option<&str>| Mutant {
            name: "m".to_string(),
            path: PathBuf::new(),
            about: String::new(),
            groups: vec!["host".to_string(), "target".to_string()],
            first: first.map(str::to_string),
        };
        let met = |first| Tests::of(&mutant(first)).iter().map(Tests::shown).collect::<Vec<_>>();
        assert_eq!(met(None), ["host, target"]);
        assert_eq!(met(Some("trace decode")), ["trace decode", "host, target"]);
    }

    #[test]
    fn a_copy_is_kept_in_step_and_only_differences_are_written() {
        let from = tree(&[("a/x.rs", "1"), ("y.rs", "2"), ("target/z", "3"), (".git/z", "4")]);
        let to = tree(&[("a/x.rs", "1"), ("y.rs", "old"), ("gone/w.rs", ""), ("target/b", "")]);
        let modified = |path: &str| fs::metadata(to.path().join(path)).unwrap().modified().unwrap();
        fs::File::open(to.path().join("a/x.rs"))
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        synchronise(from.path(), to.path()).unwrap();
        assert_eq!(modified("a/x.rs"), SystemTime::UNIX_EPOCH);
        assert_eq!(fs::read_to_string(to.path().join("y.rs")).unwrap(), "2");
        assert!(!to.path().join("gone/w.rs").exists());
        assert!(to.path().join("target/b").exists() && !to.path().join("target/z").exists());
        assert!(!to.path().join(".git").exists());
    }

    #[test]
    fn a_patch_is_applied_to_the_copy_alone() {
        let diff = "Mutant: m\nCaught-by: host\n\n--- a/y.rs\n+++ b/y.rs\n@@ -1 +1 @@\n-2\n+3\n";
        let root = tree(&[("y.rs", "2\n"), ("target/tree/y.rs", "2\n"), ("m.patch", diff)]);
        let copy = root.path().join("target/tree");
        let mutant = Mutant::read(&root.path().join("m.patch")).unwrap();
        git(&mutant, &copy, &["--check"]).unwrap();
        assert_eq!(fs::read_to_string(copy.join("y.rs")).unwrap(), "2\n");
        git(&mutant, &copy, &[]).unwrap();
        assert_eq!(fs::read_to_string(copy.join("y.rs")).unwrap(), "3\n");
        assert_eq!(fs::read_to_string(root.path().join("y.rs")).unwrap(), "2\n");
        let error = git(&mutant, &copy, &[]).unwrap_err().to_string();
        assert!(error.starts_with("mutant `m` does not apply any more"), "{error}");
    }
}
