//! What is said of a tree.

use crate::Time;
use crate::text::time;
use crate::verdict::Verdict;
use std::fmt;

/// All that is said of a tree, each part in the order of the tree, parents first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The classes.
    pub classes: Vec<ClassReport>,
    /// The servers.
    pub servers: Vec<ServerReport>,
    /// The tasks.
    pub leaves: Vec<LeafReport>,
}

/// What is said of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassReport {
    /// Names from the root on, with `/` between them.
    pub path: String,
    /// Its policy's name.
    pub policy: &'static str,
    /// What it has in the long run, `(period, budget)` in ns; `None` if nothing is sure.
    pub supply: Option<(Time, Time)>,
    /// Whether each of its children gets what it needs. Does not look into them.
    pub fits: bool,
    /// Why, in plain words.
    pub reason: String,
}

/// What is said of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerReport {
    /// Names from the root on.
    pub path: String,
    /// Its period, in ns.
    pub period: Time,
    /// Its budget, in ns.
    pub budget: Time,
    /// Whether it gets its budget in each period, and by when.
    pub verdict: Verdict,
    /// The smallest budget at this period with which everything inside fits, and its siblings that
    /// fit still do; if its own does not do, the nearest above it that was found, or below it. By
    /// search over the exact test, so a nearer one can be missed, but what is said was tested.
    /// `None`: nothing inside has a deadline, or no budget was found.
    pub nearest: Option<Time>,
    /// The same for a server whose budget may come whenever in a period, whatever its siblings do.
    pub smallest: Option<Time>,
    /// The same by the line below the supply (ledger S2B-04, the closed form's test); for periodic
    /// servers and hard constant-bandwidth servers.
    pub smallest_linear: Option<Time>,
}

/// What is said of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafReport {
    /// Names from the root on.
    pub path: String,
    /// Its deadline, in ns.
    pub deadline: Time,
    /// Whether it meets its deadline.
    pub verdict: Verdict,
    /// If it does not: the longest execution time with which it does, everything else unchanged.
    /// `None`: there is none, or none was found within the limits.
    pub largest_execution: Option<Time>,
}

impl Report {
    /// Whether everything fits for sure.
    pub fn fits(&self) -> bool {
        self.classes.iter().all(|class| class.fits)
            && self.leaves.iter().all(|leaf| leaf.verdict.fits())
    }
}

impl fmt::Display for Report {
    /// A line for each class, server and task.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ClassReport { path, policy, fits, reason, .. } in &self.classes {
            let fits = if *fits { "fits" } else { "does not fit" };
            writeln!(f, "{path} ({policy}) {fits}: {reason}")?;
        }
        for ServerReport { path, period, budget, verdict, smallest, .. } in &self.servers {
            write!(f, "{path} ({} every {}) {verdict}", time(*budget), time(*period))?;
            match smallest {
                Some(smallest) => writeln!(f, "; smallest budget {}", time(*smallest))?,
                None => writeln!(f)?,
            }
        }
        for LeafReport { path, verdict, largest_execution, .. } in &self.leaves {
            write!(f, "{path} {verdict}")?;
            match largest_execution {
                Some(largest) => writeln!(f, "; would fit with {}", time(*largest))?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}
