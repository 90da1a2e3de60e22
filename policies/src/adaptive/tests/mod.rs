//! The controller's policy: against a plain model, by properties, and over long runs.

mod decisions;
mod histories;
mod model;
mod torture;
mod trees;

use super::server::children;
use super::*;
extern crate std;
use std::vec::Vec;

const MS: u64 = 1_000_000;

/// A server in a fixed class with this supply.
fn soft(supply: u32, importance: u32, [least, budget, period]: [u64; 3]) -> Server {
    Server {
        above: Above::Fixed { class: 9, supply },
        importance,
        period,
        within: period,
        budget,
        least,
        taken: 0,
        asked: budget,
    }
}

/// A decision about one of them.
fn about(servers: &[Server], adapted: usize, wanted: u64) -> Result<Decision, Refused> {
    let wanted = (0..servers.len()).map(|at| (at == adapted).then_some(wanted));
    decide(servers, &wanted.collect::<Vec<_>>())
}
