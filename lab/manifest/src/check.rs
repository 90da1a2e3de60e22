//! What concerns a whole system: pools and memory.

use crate::budget;
use crate::elf::Image;
use crate::layout::areas;
use crate::problem::Problem;
use crate::system::System;

/// Works out the pools and refuses a system that does not fit into them or into the machine.
pub fn system(mut system: System) -> Result<System, Problem> {
    let typical = Image::typical();
    let areas: Vec<_> =
        system.domains.iter().map(|domain| areas(&system, domain, &typical)).collect();
    system.pools = budget::pools(&system, &areas)?;
    budget::fits(&system, &system.pools, &areas, 0)?;
    Ok(system)
}
