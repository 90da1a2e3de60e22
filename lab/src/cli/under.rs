//! What a run is under, beside its kernel and its machine: the same for `run` and `trace`.

use super::values::fault;
use clap::Args;
use std::ops::Range;

/// What is injected, given and typed.
#[derive(Clone, Debug, Default, Args)]
pub struct Under {
    /// On the twin: delays and interrupts once in so many boundaries of work; 0 is never.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub chaos: u64,
    /// With --chaos: not before this place; `test` prints places.
    #[arg(long, value_name = "PLACE")]
    pub chaos_from: Option<u64>,
    /// With --chaos: not from this place on.
    #[arg(long, value_name = "PLACE")]
    pub chaos_until: Option<u64>,
    /// An argument of the system's programs, instead of the manifest's; several times for several.
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub args: Vec<String>,
    /// What goes wrong with a device, for instance "shaft=stuck after 50ms"; several times for
    /// several. The words are in docs/devices.md.
    #[arg(long = "fault", value_name = "DEVICE=FAULT", value_parser = fault)]
    pub faults: Vec<String>,
    /// Type what the `input` of this file says, as of a test; FILE#TEST: that of a test in it.
    #[arg(long, value_name = "FILE", conflicts_with = "auto")]
    pub input: Option<String>,
}

impl Under {
    /// The places between which something is injected, if they are given.
    pub fn chaotic(&self) -> Option<Range<u64>> {
        let is_given = self.chaos_from.is_some() || self.chaos_until.is_some();
        is_given.then(|| self.chaos_from.unwrap_or(0)..self.chaos_until.unwrap_or(u64::MAX))
    }
}
