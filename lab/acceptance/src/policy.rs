//! The policies that are compared.

use serde::{Deserialize, Serialize};

/// A policy, with what a set is given under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// A CPU under fixed priorities by deadline.
    FixedPriority,
    /// A CPU under EDF.
    Edf,
    /// Half of a CPU, by a periodic server below a more urgent task.
    PeriodicServer,
    /// The same by a sporadic server.
    SporadicServer,
    /// Half of a CPU, by a hard constant-bandwidth server beside another one.
    HardCbs,
    /// A soft constant-bandwidth server for each task.
    SoftCbs,
    /// Half of a CPU, by windows.
    Windows,
    /// A service curve for each task.
    ServiceCurves,
    /// Half of a CPU, by a service curve of all tasks together.
    CurveOfClass,
    /// Several CPUs under EDF, each task on one of them.
    PartitionedEdf,
    /// Several CPUs under EDF, each task on any of them.
    GlobalEdf,
}

impl Policy {
    /// All of them.
    pub const ALL: [Policy; 11] = [
        Policy::FixedPriority,
        Policy::Edf,
        Policy::PeriodicServer,
        Policy::SporadicServer,
        Policy::HardCbs,
        Policy::SoftCbs,
        Policy::Windows,
        Policy::ServiceCurves,
        Policy::CurveOfClass,
        Policy::PartitionedEdf,
        Policy::GlobalEdf,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::FixedPriority => "fixed-priority",
            Policy::Edf => "edf",
            Policy::PeriodicServer => "periodic-server",
            Policy::SporadicServer => "sporadic-server",
            Policy::HardCbs => "hard-cbs",
            Policy::SoftCbs => "soft-cbs",
            Policy::Windows => "windows",
            Policy::ServiceCurves => "service-curves",
            Policy::CurveOfClass => "curve-of-class",
            Policy::PartitionedEdf => "partitioned-edf",
            Policy::GlobalEdf => "global-edf",
        }
    }

    /// The one with this name.
    pub fn find(name: &str) -> Option<Policy> {
        Policy::ALL.into_iter().find(|policy| policy.name() == name)
    }

    /// Whether it is for so many CPUs: one, or several.
    pub fn is_for(self, cpus: usize) -> bool {
        matches!(self, Policy::PartitionedEdf | Policy::GlobalEdf) == (cpus > 1)
    }

    /// Whether its test is exact and the critical instant is played: then what is rejected misses
    /// a deadline.
    pub fn is_exact(self) -> bool {
        matches!(self, Policy::FixedPriority | Policy::PeriodicServer | Policy::Windows)
    }
}
