//! Commands that are about Giusto itself, whose source an SDK has only in part.

use super::test;
use crate::cli::Lab;
use crate::commands::Command;
use crate::failure::usage;
use crate::workspace;
use anyhow::Result;

/// Refuses a command for which an SDK has not what it takes.
pub fn check(command: &Command) -> Result<()> {
    match (workspace::sdk(), about_giusto(command)) {
        (Some(_), Some(what)) => Err(usage(format!(
            "{what} is about Giusto's own source: give it in a checkout of Giusto; this is an SDK"
        ))),
        _ => Ok(()),
    }
}

/// The command, if it is about Giusto itself.
fn about_giusto(command: &Command) -> Option<&'static str> {
    Some(match command {
        Command::Demo => "`demo`",
        Command::Book => "`book`",
        Command::Sdk(_) => "`sdk`",
        Command::Tidy { .. } => "`tidy`",
        Command::Test(asked) if !test::is_of_systems(asked) => "`test` without a system's folder",
        Command::Lab(Lab::Claims(_)) => "`lab claims`",
        Command::Lab(Lab::Run(run)) if run.all => "`lab run --all`",
        Command::Lab(Lab::Run(run)) if run.update_golden => "`lab run --update-golden`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    #[test]
    fn what_is_about_a_users_system_is_not_about_giusto() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().to_str().unwrap();
        fs_err::write(place.path().join("system.toml"), "").unwrap();
        let of_giusto = |words: &[&str]| {
            let words = ["giusto"].iter().chain(words);
            about_giusto(&Cli::try_parse_from(words).unwrap().command).is_some()
        };
        for words in [&["tidy"][..], &["test"], &["test", "shell"], &["test", "--deep", folder]] {
            assert!(of_giusto(words), "{words:?}");
        }
        for words in [&["run", folder][..], &["test", folder, "name"], &["lab", "list"]] {
            assert!(!of_giusto(words), "{words:?}");
        }
        assert!(of_giusto(&["lab", "run", "--all"]));
        assert!(!of_giusto(&["lab", "run", "sections", "--system", folder]));
    }
}
