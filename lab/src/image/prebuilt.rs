//! What is prebuilt in an SDK, and the source that it has of the rest.

use super::{Extra, kept, program_names, recipes, sources};
use crate::machine::MACHINES;
use crate::workspace;
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is extra in the kernels that are prebuilt, which commands boot most: several CPUs, traces,
/// statistics, samples.
pub const KERNELS: [Option<Extra>; 6] = [
    None,
    Some(Extra::Big),
    Some(Extra::Trace),
    Some(Extra::SeveralTraced),
    Some(Extra::Statistics),
    Some(Extra::Profile),
];

/// The packages that an SDK has the source of, with their directories: the twin, which users'
/// programs are linked into, kernels, programs, and what all of them depend on.
pub fn packages() -> Result<BTreeMap<String, String>> {
    let ports = MACHINES.into_iter().filter_map(|machine| machine.emulator());
    let ports = ports.map(|machine| machine.port());
    let wanted = ports.chain([recipes::twin().package, recipes::plugin().package]);
    let found = wanted.map(|package| sources::packages(workspace::root(), package));
    Ok(found.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Builds the laboratory of an SDK; returns its path.
pub fn laboratory() -> Result<PathBuf> {
    super::only(kept::obtain(&recipes::laboratory())?)
}

/// Adds all programs and some kernels to the SDK with this root, which has the source already.
pub fn add(root: &Path, kernels: &[Option<Extra>]) -> Result<()> {
    let programs = program_names()?;
    for machine in MACHINES.into_iter().filter_map(|machine| machine.emulator()) {
        kept::add_prebuilt(&recipes::programs(machine, &programs, recipes::PROGRAM), root)?;
        for extra in kernels {
            kept::add_prebuilt(&recipes::usual(machine, *extra), root)?;
            kept::add_prebuilt(&recipes::tree(machine, *extra), root)?;
        }
    }
    Ok(())
}
