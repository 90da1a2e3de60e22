//! The last whole run without a failure: of which source it was, and whether that lies here now.
//! Files are compared by git's name of all their contents, so that a commit counts as tested if
//! they were committed after the run.

use super::state;
use crate::durations::write;
use crate::failure::Verdict;
use crate::output;
use crate::scratch::Scratch;
use crate::workspace;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What is left of such a run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Green {
    /// The commit that was checked out, with a mark if files differed from it.
    commit: String,
    /// All files, by git's name of their contents.
    tree: String,
    /// How long it took.
    seconds: u64,
}

/// What [`status`] finds.
#[derive(Debug, PartialEq, Serialize)]
struct Status {
    #[serde(flatten)]
    green: Option<Green>,
    /// The commit that is checked out, with a mark if files differ from it.
    here: String,
    /// Whether the files that lie here are those of the run.
    tested: bool,
}

/// Git's name of everything that lies in the work tree and is not ignored; none without git.
pub fn tree() -> Option<String> {
    tree_of(workspace::root())
}

fn tree_of(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(root);
        git
    };
    let said = |mut git: Command| {
        let output = git.output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let folder = Scratch::new().ok()?;
    let path = |name| said(git(&["rev-parse", "--path-format=absolute", "--git-path", name]));
    let (index, objects) = (path("index")?, path("objects")?);
    // With the times of files in it, most of them need not be read.
    let own_index = folder.path().join("index");
    std::fs::copy(index, &own_index).ok()?;
    // Neither the index nor the objects of the user are touched.
    let apart = |arguments: &[&str]| {
        let mut git = git(arguments);
        git.env("GIT_INDEX_FILE", &own_index);
        git.env("GIT_OBJECT_DIRECTORY", folder.path());
        git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &objects);
        git
    };
    said(apart(&["add", "--all"]))?;
    said(apart(&["write-tree"]))
}

/// Keeps that a whole run, which began with these files, had no failure. If they have changed
/// meanwhile, nothing is known of any source.
pub fn keep(began_with: Option<String>, took: Duration) -> Result<()> {
    match began_with {
        Some(began_with) if tree().as_ref() == Some(&began_with) => {
            let seconds = took.as_secs();
            let green = Green { commit: workspace::commit(), tree: began_with, seconds };
            write(&state::path(FILE), &serde_json::to_string_pretty(&green)?)
        }
        _ => Ok(()),
    }
}

/// Where it is kept.
const FILE: &str = "green.json";

/// Says which commit the last whole run without a failure was on.
pub fn status(as_json: bool) -> Result<Verdict> {
    let text = std::fs::read_to_string(state::path(FILE)).unwrap_or_default();
    let status = Status::of(&text, tree().as_deref(), workspace::commit());
    if as_json {
        crate::commands::print_json(&status);
    } else {
        output::line(status.sentence());
    }
    Ok(Verdict::from_bool(status.tested))
}

impl Status {
    fn of(kept: &str, tree: Option<&str>, here: String) -> Status {
        let green: Option<Green> = serde_json::from_str(kept).ok();
        let tested = green.as_ref().is_some_and(|green| tree == Some(&green.tree));
        Status { green, here, tested }
    }

    fn sentence(&self) -> String {
        let Status { green, here, tested } = self;
        let Some(Green { commit, seconds, .. }) = green else {
            return format!("no whole run without a failure is known here; {here} is not tested");
        };
        let last = format!("the last whole run without a failure was on {commit}, in {seconds} s");
        match tested {
            true if commit == here => format!("{last}: what lies here"),
            true => format!("{last}: of the same files as {here}, which lies here"),
            false => format!("{last}; {here}, which lies here, is not tested"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: &str = r#"{"commit": "abc-modified", "tree": "t1", "seconds": 700}"#;

    #[test]
    fn what_lies_here_is_tested_if_its_files_are() {
        let status = |kept, tree| Status::of(kept, tree, "def".to_string());
        let same = status(KEPT, Some("t1"));
        assert!(same.tested);
        let last = "the last whole run without a failure was on abc-modified, in 700 s";
        assert_eq!(same.sentence(), format!("{last}: of the same files as def, which lies here"));
        let other = status(KEPT, Some("t2"));
        assert!(!other.tested && !status(KEPT, None).tested);
        assert_eq!(other.sentence(), format!("{last}; def, which lies here, is not tested"));
        for nothing in ["", "spoilt"] {
            let none = status(nothing, Some("t1"));
            assert!(!none.tested);
            assert!(none.sentence().ends_with("is known here; def is not tested"), "{none:?}");
        }
    }

    #[test]
    fn a_change_and_a_new_file_are_others_and_a_commit_of_them_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]);
            let output = git.args(arguments).current_dir(root).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_string()
        };
        let write = |name: &str, text| std::fs::write(root.join(name), text).unwrap();
        git(&["init", "-q"]);
        write(".gitignore", "target\n");
        write("a", "1");
        git(&["add", "a", ".gitignore"]);
        git(&["commit", "-q", "-m", "m"]);
        let first = tree_of(root).unwrap();
        assert_eq!(first, git(&["rev-parse", "HEAD^{tree}"]));
        write("target", "ignored");
        assert_eq!(tree_of(root).unwrap(), first);
        write("a", "22");
        let changed = tree_of(root).unwrap();
        write("b", "new");
        let grown = tree_of(root).unwrap();
        assert!(first != changed && changed != grown);
        assert_eq!(git(&["status", "--porcelain"]), "M a\n?? b", "the index is the user's");
        git(&["add", "--all"]);
        git(&["commit", "-q", "-m", "m"]);
        assert_eq!(
            (tree_of(root).unwrap(), git(&["rev-parse", "HEAD^{tree}"])),
            (grown.clone(), grown)
        );
    }
}
