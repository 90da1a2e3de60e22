//! Claims about deterministic futexes (S2H-E01).
use super::*;
use crate::experiment::claim::Spec;
pub fn claims() -> Vec<Spec> {
    Vec::new()
}
