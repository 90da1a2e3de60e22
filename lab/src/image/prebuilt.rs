//! What is prebuilt in an SDK, and the source that it has of the rest.

use super::{Build, Locking, Watch, build_programs, kept, program_names, recipes, sources};
use crate::machine::MACHINES;
use crate::workspace;
use anyhow::Result;
use manifest::TREE;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How the kernels that are prebuilt are built, which commands boot most; of each there is one with
/// the scheduling tree, too.
pub fn kernels() -> [Build; 6] {
    let watches = [Watch::Trace, Watch::Statistics, Watch::Samples];
    let [traced, counted, sampled] = watches.map(Build::from);
    let locked = Build::from(Locking::Big);
    [Build::default(), locked, traced, Build { watch: Watch::Trace, ..locked }, counted, sampled]
}

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
pub fn add(root: &Path, kernels: &[Build]) -> Result<()> {
    let programs = program_names()?;
    for machine in MACHINES.into_iter().filter_map(|machine| machine.emulator()) {
        let recipe = recipes::programs(machine, &programs, recipes::PROGRAM);
        let built = build_programs(machine, &programs, recipes::PROGRAM)?;
        kept::add_prebuilt(&recipe, root, &built)?;
        for build in kernels.iter().flat_map(|build| [*build, build.with(TREE)]) {
            let recipe = recipes::kernel(machine, build);
            kept::add_prebuilt(&recipe, root, &kept::obtain(&recipe)?)?;
        }
    }
    Ok(())
}
