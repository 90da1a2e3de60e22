//! The command line of `test`.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Which tests to run.
#[derive(Clone, Debug, Default, Args)]
pub struct Test {
    /// The folder of a system, whose tests.toml says what to check; or only checks whose line in
    /// `--list` contains one of these: what needs not be built for them is not.
    #[arg(value_name = "FOLDER|NAME")]
    pub names: Vec<String>,
    /// Only what is quick.
    #[arg(long)]
    pub quick: bool,
    /// What is not run each time: every configuration, searches, mutants. It takes hours, and goes
    /// on where it was interrupted.
    #[arg(long, conflicts_with = "quick")]
    pub deep: bool,
    /// Write the recorded figures, and what commands print, into the pages that show them.
    #[arg(long, conflicts_with_all = ["list", "status"])]
    pub update: bool,
    /// Start a deep run from its beginning.
    #[arg(long, requires = "deep")]
    pub restart: bool,
    /// List the checks, with when they run and what they build, and run none.
    #[arg(long)]
    pub list: bool,
    /// Say on which commit the last whole run without a failure was, and whether that is what lies
    /// here: exit status 0 if it is, else 1.
    #[arg(long, conflicts_with = "mutants")]
    #[arg(conflicts_with_all = ["quick", "deep", "list", "fail_fast", "only", "names", "junit"])]
    pub status: bool,
    /// Stop at the first check that fails.
    #[arg(long)]
    pub fail_fast: bool,
    /// Write the results for other tools, in JUnit's format.
    #[arg(long, value_name = "FILE", value_parser = super::written)]
    pub junit: Option<PathBuf>,
    /// Only these groups; may be given several times.
    #[arg(long, value_name = "GROUP")]
    pub only: Vec<Group>,
    /// Apply the patches in tests/mutants/, or those of these names, to a copy of the work tree:
    /// each must fail a test. All of them take hours.
    #[arg(long, value_name = "NAME", num_args = 0..)]
    #[arg(conflicts_with_all = ["quick", "deep", "list", "fail_fast", "only", "names", "junit"])]
    pub mutants: Option<Vec<String>>,
}

/// A group of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// The source is formatted.
    Format,
    /// The project's own rules.
    Tidy,
    /// Tests on the host.
    Host,
    /// Clippy is content.
    Lint,
    /// The suites on the machines.
    Target,
    /// The simulation takes the same steps as the machines.
    Agreement,
    /// Golden figures.
    Golden,
    /// What pages show.
    Docs,
    /// The demonstration.
    Demo,
    /// The tests of a system.
    System,
    /// Searches by machine.
    Search,
    /// Each sabotage is noticed.
    Mutants,
}

impl Group {
    /// Its name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
    }
}
