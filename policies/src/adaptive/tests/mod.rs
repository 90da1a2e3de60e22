//! The controller's policy: against a plain model, by properties, and over long runs.

mod decisions;
mod histories;
mod model;
mod torture;

use super::*;
extern crate std;
use std::vec::Vec;

const MS: u64 = 1_000_000;

fn soft(importance: u32, least: u64, budget: u64, period: u64) -> Sibling {
    Sibling { period, budget, kind: Kind::Soft { importance, least } }
}

fn hard(budget: u64, period: u64) -> Sibling {
    Sibling { period, budget, kind: Kind::Hard }
}
