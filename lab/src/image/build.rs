//! How a kernel image, and the programs that it boots, are built.

use crate::failure::usage;
use anyhow::Result;
use manifest::{ALL_KERNELS, System, TREE};
use std::fmt;

/// How a kernel image, and the programs that it boots, are built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Build {
    /// The kernels in the image.
    pub kernels: Kernels,
    /// What guards the kernel.
    pub locking: Locking,
    /// What the kernel tells about itself while it runs.
    pub watch: Watch,
    /// Whether the scheduling tree can decide by chance.
    pub chance: bool,
    /// Whether programs are for a debugger.
    pub debugged: bool,
}

/// The kernels in an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kernels {
    /// All but the one with the scheduling tree.
    #[default]
    Usual,
    /// The one with the scheduling tree.
    Tree,
    /// One, with as little else as can be.
    Least(&'static str),
    /// One, without debugging information, to boot anywhere.
    Shipped(&'static str),
}

/// What guards a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Locking {
    /// Nothing: it has one CPU.
    #[default]
    None,
    /// One lock.
    Big,
    /// Locks of single objects.
    Fine,
    /// One lock that transactions leave out.
    Elided,
    /// Nothing, but it has all else that several CPUs need; for one.
    Unguarded,
}

/// What a kernel tells about itself while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Watch {
    /// Nothing.
    #[default]
    Nothing,
    /// A trace.
    Trace,
    /// Statistics.
    Statistics,
    /// A trace and statistics.
    Both,
    /// Samples of where its time goes.
    Samples,
    /// Its primitive steps.
    Log,
}

impl Kernels {
    /// Those of the image that has a kernel among others.
    pub fn with(kernel: &str) -> Kernels {
        if kernel == TREE { Kernels::Tree } else { Kernels::Usual }
    }

    /// A kernel alone, to boot anywhere.
    pub fn shipped(kernel: &str) -> Result<Kernels> {
        let known = ALL_KERNELS.into_iter().find(|one| *one == kernel);
        known.map(Kernels::Shipped).ok_or_else(|| usage(format!("there is no kernel `{kernel}`")))
    }
}

impl Locking {
    /// The locking of a name, one of [`LOCKINGS`](manifest::LOCKINGS).
    pub fn named(name: &str) -> Locking {
        match name {
            "big" => Locking::Big,
            "fine" => Locking::Fine,
            "elided" => Locking::Elided,
            _ => Locking::None,
        }
    }

    /// The port's feature.
    fn feature(self) -> Option<&'static str> {
        match self {
            Locking::None => None,
            Locking::Big => Some("smp"),
            Locking::Fine => Some("fine"),
            Locking::Elided => Some("elided"),
            Locking::Unguarded => Some("unguarded"),
        }
    }
}

impl Watch {
    /// The port's features.
    fn features(self) -> &'static [&'static str] {
        match self {
            Watch::Nothing => &[],
            Watch::Trace => &["trace"],
            Watch::Statistics => &["statistics"],
            Watch::Both => &["trace", "statistics"],
            Watch::Samples => &["profile"],
            Watch::Log => &["log"],
        }
    }
}

impl From<Locking> for Build {
    fn from(locking: Locking) -> Build {
        Build { locking, ..Build::default() }
    }
}

impl From<Watch> for Build {
    fn from(watch: Watch) -> Build {
        Build { watch, ..Build::default() }
    }
}

impl Build {
    /// What a system needs: locks, and trace points if it has a trace.
    pub fn of(system: &System) -> Build {
        Build {
            kernels: Kernels::with(&system.kernel),
            locking: Locking::named(system.locking()),
            watch: if system.trace.is_some() { Watch::Trace } else { Watch::Nothing },
            ..Build::default()
        }
    }

    /// The same with the kernels of the image that has this one.
    pub fn with(self, kernel: &str) -> Build {
        Build { kernels: Kernels::with(kernel), ..self }
    }

    /// The port's features that have nothing to do with which kernels there are.
    pub fn features(self) -> Vec<&'static str> {
        let chance = self.chance.then_some("chaos");
        let watch = self.watch.features().iter().copied();
        self.locking.feature().into_iter().chain(watch).chain(chance).collect()
    }
}

/// As lists of jobs show it.
impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let kernels = match self.kernels {
            Kernels::Usual => None,
            Kernels::Tree => Some(TREE),
            Kernels::Least(kernel) | Kernels::Shipped(kernel) => Some(kernel),
        };
        let words = ["image"].into_iter().chain(kernels).chain(self.features());
        f.pad(&words.collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_says_what_it_needs() {
        let mut system = crate::systems::load("hello").unwrap();
        assert_eq!(Build::of(&system), Build::default());
        system.cpus = 2;
        system.kernel = TREE.to_string();
        system.add_trace(1 << 16, abi::trace::Keep::Last);
        let found = Build::of(&system);
        assert_eq!((found.locking, found.watch), (Locking::Big, Watch::Trace));
        assert_eq!(found.to_string(), "image tree smp trace");
        assert_eq!(found.with("fastpath").to_string(), "image smp trace");
    }

    #[test]
    fn each_locking_of_a_manifest_has_features_of_its_own() {
        let features = manifest::LOCKINGS.map(|name| Build::from(Locking::named(name)).features());
        assert_eq!(features, [vec![], vec!["smp"], vec!["fine"], vec!["elided"]]);
    }
}
