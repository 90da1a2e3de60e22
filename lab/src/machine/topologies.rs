//! Machines that a paper measured: how many CPUs, and how long a modified cache line takes from
//! one to another (S1-14, first level), in cycles.

use model::Topology;

/// The name of this host, whose lines an experiment measures.
pub const THIS_HOST: &str = "this-host";

/// A machine of a paper, or this host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The machine.
    pub about: &'static str,
    /// Its CPUs.
    pub topology: Topology,
}

/// All of them.
pub const TOPOLOGIES: [Measured; 2] = [
    Measured {
        name: "x86",
        about: "2 sockets of 14 CPUs, Xeon E5-2683 v3",
        topology: Topology { sockets: 2, per_socket: 14, within: 115.0, across: 218.0 },
    },
    Measured {
        name: "arm",
        about: "4 CPUs, Cortex-A9 of an i.MX6Q",
        topology: Topology { sockets: 1, per_socket: 4, within: 17.0, across: 17.0 },
    },
];

/// Time for which the lock is held with all lines at hand, in cycles (S1-13: one CPU).
pub const HOLD: f64 = 164.0;

/// Lines that a hand-off fetches one after the other (S1-13: 1.5 to 2).
pub const TRANSFERS: f64 = 1.75;

/// The machine of a paper with this name.
pub fn find(name: &str) -> Option<Measured> {
    TOPOLOGIES.into_iter().find(|measured| measured.name == name)
}
