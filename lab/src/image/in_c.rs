//! Programs that a manifest names by their sources in C.

use super::c::Compiler;
use super::place;
use anyhow::{Context, Result};
use manifest::{Domain, Problems, System};
use std::collections::BTreeMap;
use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The variable that names the compiler, and the one that is taken otherwise.
const VARIABLE: &str = "CC";
const USUAL: &str = "cc";
/// How programs are compiled, before the flags that the manifest gives.
const FLAGS: [&str; 5] = ["-std=c11", "-O2", "-g", "-Wall", "-Wextra"];

/// Compiles and links a program, once in a process; returns the executable. Sources and flags are
/// taken as if the manifest's folder was the current one, and what the compiler says is shown.
pub fn build(
    system: &System,
    domain: &Domain,
    sources: &[String],
    flags: &[String],
) -> Result<PathBuf> {
    static BUILT: Mutex<BTreeMap<(PathBuf, String), PathBuf>> = Mutex::new(BTreeMap::new());
    let folder = place::own_folder(system)?;
    // Held meanwhile, as two jobs may want the same one.
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (folder, domain.program.clone());
    if let Some(known) = built.get(&key) {
        return Ok(known.clone());
    }
    let mut hasher = DefaultHasher::new();
    domain.program.hash(&mut hasher);
    let name = format!("{:016x}.elf", hasher.finish());
    let executable = place::further_files(system)?.join(name);
    let partial = tempfile::NamedTempFile::new_in(executable.parent().context("it has one")?)?;
    let compiler = Compiler::find(&env::var(VARIABLE).unwrap_or_else(|_| USUAL.to_string()))?;
    if !compile(&compiler, &key.0, sources, flags, partial.path())? {
        let message = format!("`{}` cannot be compiled: what is wrong stands above", key.1);
        let help = "paths are relative to the manifest's folder";
        let problem = system.source.problem(&domain.program_at, message, help);
        return Err(Problems(vec![problem]).into());
    }
    partial.persist(&executable)?;
    built.insert(key, executable.clone());
    Ok(executable)
}

/// Whether it could be compiled.
fn compile(
    compiler: &Compiler,
    folder: &Path,
    sources: &[String],
    flags: &[String],
    executable: &Path,
) -> Result<bool> {
    // Paths in it are the same wherever the system lies.
    let name = folder.file_name().unwrap_or_default().display();
    let shown = format!("-ffile-prefix-map={}={name}", folder.display());
    let mut command = compiler.command();
    command.current_dir(folder).args(FLAGS).arg(shown).args(compiler.compile_flags()?);
    command.args(flags).args(sources).args(compiler.link_flags()?).arg("-o").arg(executable);
    let said = command.output().context("cannot run the compiler")?;
    eprint!("{}", String::from_utf8_lossy(&said.stderr));
    Ok(said.status.success())
}
