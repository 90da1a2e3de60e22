//! What a kernel can be built with.

use manifest::System;

/// What a kernel can be built with that the usual image has nothing of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extra {
    /// A log of its primitive steps.
    Log,
    /// Trace points.
    Trace,
    /// Statistics.
    Statistics,
    /// Samples of where the time goes.
    Profile,
    /// Several CPUs, with one lock.
    Big,
    /// Several CPUs, with locks for single objects.
    Fine,
    /// Several CPUs, with one lock that transactions leave out.
    Elided,
    /// What several CPUs need but the lock; for one.
    Unguarded,
    /// Several CPUs, with one lock, and trace points.
    SeveralTraced,
    /// Several CPUs, with locks for single objects, and trace points.
    FineTraced,
    /// Several CPUs, with one lock that transactions leave out, and trace points.
    ElidedTraced,
    /// Several CPUs, with one lock, and statistics.
    SeveralCounted,
    /// Several CPUs, with locks for single objects, and statistics.
    FineCounted,
    /// Several CPUs, with one lock that transactions leave out, and statistics.
    ElidedCounted,
    /// Several CPUs, with one lock, trace points and statistics.
    SeveralWatched,
    /// Several CPUs, with locks for single objects, trace points and statistics.
    FineWatched,
    /// Several CPUs, with one lock that transactions leave out, trace points and statistics.
    ElidedWatched,
    /// Decisions of the scheduling tree by chance.
    Chaos,
    /// Several CPUs, with one lock, and decisions by chance.
    SeveralChaos,
    /// Several CPUs, with locks for single objects, and decisions by chance.
    FineChaos,
    /// Several CPUs, with one lock that transactions leave out, and decisions by chance.
    ElidedChaos,
}

impl Extra {
    /// What a locking needs, one of [`LOCKINGS`](manifest::LOCKINGS); `None`: the usual image.
    pub fn of_locking(locking: &str) -> Option<Extra> {
        match locking {
            "big" => Some(Extra::Big),
            "fine" => Some(Extra::Fine),
            "elided" => Some(Extra::Elided),
            _ => None,
        }
    }

    /// What a traced kernel with a locking needs.
    pub fn traced(locking: &str) -> Extra {
        match locking {
            "big" => Extra::SeveralTraced,
            "fine" => Extra::FineTraced,
            "elided" => Extra::ElidedTraced,
            _ => Extra::Trace,
        }
    }

    /// What a kernel with a locking needs to keep statistics.
    pub fn counted(locking: &str) -> Extra {
        match locking {
            "big" => Extra::SeveralCounted,
            "fine" => Extra::FineCounted,
            "elided" => Extra::ElidedCounted,
            _ => Extra::Statistics,
        }
    }

    /// What a kernel with a locking needs to tell a test all that it can about itself.
    pub fn watched(locking: &str) -> Extra {
        match locking {
            "fine" => Extra::FineWatched,
            "elided" => Extra::ElidedWatched,
            _ => Extra::SeveralWatched,
        }
    }

    /// What the scheduling tree with a locking needs to decide by chance.
    pub fn chaos(locking: &str) -> Extra {
        match locking {
            "big" => Extra::SeveralChaos,
            "fine" => Extra::FineChaos,
            "elided" => Extra::ElidedChaos,
            _ => Extra::Chaos,
        }
    }

    /// How many there are.
    pub const KINDS: usize = 21;

    /// The port's features.
    pub fn features(self) -> &'static [&'static str] {
        match self {
            Extra::Log => &["log"],
            Extra::Trace => &["trace"],
            Extra::Statistics => &["statistics"],
            Extra::Profile => &["profile"],
            Extra::Big => &["smp"],
            Extra::Fine => &["fine"],
            Extra::Elided => &["elided"],
            Extra::Unguarded => &["unguarded"],
            Extra::SeveralTraced => &["smp", "trace"],
            Extra::FineTraced => &["fine", "trace"],
            Extra::ElidedTraced => &["elided", "trace"],
            Extra::SeveralCounted => &["smp", "statistics"],
            Extra::FineCounted => &["fine", "statistics"],
            Extra::ElidedCounted => &["elided", "statistics"],
            Extra::SeveralWatched => &["smp", "trace", "statistics"],
            Extra::FineWatched => &["fine", "trace", "statistics"],
            Extra::ElidedWatched => &["elided", "trace", "statistics"],
            Extra::Chaos => &["chaos"],
            Extra::SeveralChaos => &["smp", "chaos"],
            Extra::FineChaos => &["fine", "chaos"],
            Extra::ElidedChaos => &["elided", "chaos"],
        }
    }
}

/// What a system needs beyond the usual image: locks, and trace points if it has a trace.
pub fn extra_for(system: &System) -> Option<Extra> {
    match system.trace {
        Some(_) => Some(Extra::traced(system.locking())),
        None => Extra::of_locking(system.locking()),
    }
}
