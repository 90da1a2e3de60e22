//! What can stand beside each other: kernels, lockings, commits and saved runs, told by name.

use crate::failure::{did_you_mean, usage};
use crate::workspace;
use anyhow::Result;
use manifest::{ALL_KERNELS, LOCKINGS};
use std::path::PathBuf;
use std::process::Command;

/// Both sides of a comparison.
#[derive(Debug, PartialEq)]
pub enum Sides {
    /// Two kernels.
    Kernels([String; 2]),
    /// Two lockings.
    Lockings([String; 2]),
    /// Two commits, by their hashes.
    Commits([String; 2]),
    /// The directories of two runs.
    Runs([PathBuf; 2]),
}

/// One side: a kind with what it names there.
#[derive(Clone, Debug, PartialEq)]
enum Side {
    Kernel(String),
    Locking(String),
    Commit(String),
    Run(PathBuf),
}

impl Side {
    fn kind(&self) -> &'static str {
        match self {
            Side::Kernel(_) => "kernel",
            Side::Locking(_) => "locking",
            Side::Commit(_) => "commit",
            Side::Run(_) => "run",
        }
    }
}

impl Sides {
    /// Recognises two names; refuses what names nothing, several things, or things of two kinds.
    pub fn of(a: &str, b: &str) -> Result<Sides> {
        let (first, second) = (candidates(a), candidates(b));
        let both = |one: &&Side| second.iter().any(|other| other.kind() == one.kind());
        let shared: Vec<&Side> = first.iter().filter(both).collect();
        match (shared.as_slice(), first.is_empty(), second.is_empty()) {
            (_, true, _) => Err(unknown(a)),
            (_, _, true) => Err(unknown(b)),
            ([], ..) => Err(usage(format!(
                "`{a}` is a {} and `{b}` a {}; compare two of one kind",
                kinds(&first),
                kinds(&second)
            ))),
            ([_, _, ..], ..) => Err(usage(format!(
                "`{a}` and `{b}` may each be a {}; say which, such as {}:{a} {0}:{b}",
                kinds(&first),
                first[0].kind()
            ))),
            ([one], ..) => {
                let kind = one.kind();
                let other = second.iter().find(|other| other.kind() == kind);
                let other = other.expect("a kind of both sides is one of the second");
                Ok(Sides::paired((*one).clone(), other.clone()))
            }
        }
    }

    fn paired(a: Side, b: Side) -> Sides {
        match (a, b) {
            (Side::Kernel(a), Side::Kernel(b)) => Sides::Kernels([a, b]),
            (Side::Locking(a), Side::Locking(b)) => Sides::Lockings([a, b]),
            (Side::Commit(a), Side::Commit(b)) => Sides::Commits([a, b]),
            (Side::Run(a), Side::Run(b)) => Sides::Runs([a, b]),
            (a, b) => unreachable!("a {} beside a {}", a.kind(), b.kind()),
        }
    }
}

/// Everything that a name may mean; a kind in front, as in `commit:big`, leaves one.
fn candidates(text: &str) -> Vec<Side> {
    let (wanted, name) = text.split_once(':').unwrap_or(("", text));
    let listed = |names: &[&str]| names.contains(&name).then(|| name.to_string());
    let all = [
        listed(&ALL_KERNELS).map(Side::Kernel),
        listed(&LOCKINGS).map(Side::Locking),
        run(name).map(Side::Run),
        commit(name).map(Side::Commit),
    ];
    all.into_iter().flatten().filter(|side| wanted.is_empty() || side.kind() == wanted).collect()
}

/// The directory of a saved run: itself, or EXPERIMENT/NUMBER below the results.
fn run(name: &str) -> Option<PathBuf> {
    let places = [PathBuf::from(name), workspace::results().join(name)];
    places.into_iter().find(|place| place.join("result.json").is_file())
}

/// The hash of a commit, of which an SDK has none.
fn commit(name: &str) -> Option<String> {
    if workspace::sdk().is_some() {
        return None;
    }
    let wanted = format!("{name}^{{commit}}");
    let mut git = Command::new("git");
    git.args(["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]);
    let output = git.current_dir(workspace::root()).output().ok()?;
    let hash = String::from_utf8_lossy(&output.stdout).trim().to_string();
    (output.status.success() && !hash.is_empty()).then_some(hash)
}

fn kinds(sides: &[Side]) -> String {
    sides.iter().map(Side::kind).collect::<Vec<_>>().join(" or a ")
}

fn unknown(name: &str) -> anyhow::Error {
    let hint = did_you_mean(name, ALL_KERNELS.into_iter().chain(LOCKINGS));
    usage(format!("`{name}` is no kernel, locking, saved run or commit{hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(a: &str, b: &str) -> String {
        Sides::of(a, b).unwrap_err().to_string()
    }

    #[test]
    fn kinds_are_told_by_name() {
        let kernels = Sides::Kernels(["fastpath", "ipc-heap"].map(str::to_string));
        assert_eq!(Sides::of("fastpath", "ipc-heap").unwrap(), kernels);
        assert_eq!(Sides::of("kernel:fastpath", "ipc-heap").unwrap(), kernels);
        let tree = Sides::Kernels(["strict-eager", "tree"].map(str::to_string));
        assert_eq!(Sides::of("strict-eager", "tree").unwrap(), tree);
        let lockings = Sides::Lockings(["big", "fine"].map(str::to_string));
        assert_eq!(Sides::of("big", "locking:fine").unwrap(), lockings);
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("result.json"), "{}").unwrap();
        let path = directory.path().display().to_string();
        let runs = Sides::Runs([directory.path().into(), directory.path().into()]);
        assert_eq!(Sides::of(&path, &path).unwrap(), runs);
        assert!(matches!(Sides::of("HEAD", "HEAD~1").unwrap(), Sides::Commits(_)));
    }

    #[test]
    fn what_cannot_be_compared_is_one_clear_error() {
        let unknown = refused("fastpth", "slowpath");
        assert!(unknown.contains("`fastpth` is no kernel, locking, saved run or commit; did you"));
        assert!(unknown.contains("`fastpath`?"), "{unknown}");
        let mixed = refused("fastpath", "big");
        assert!(mixed.contains("a kernel and `big` a locking; compare two of one kind"), "{mixed}");
        let error = refused("locking:fastpath", "big");
        assert!(error.contains("`locking:fastpath` is no"), "{error}");
    }
}
