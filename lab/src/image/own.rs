//! Giusto's own programs: their table, and their executables. An executable is a file to cargo, so
//! a package with a line for each is written from the table. To cargo, too, a package is what it is
//! by its folder below that of the workspace, and the names of symbols go by it. So the package is
//! a member of a workspace that is the work tree's beside it, by links: what is built there is the
//! same wherever the work tree lies.

use super::place::{COMMON, Place};
use super::sources;
use crate::workspace;
use anyhow::{Context, Result};
use fs_err as fs;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::Path;
use toml::{Table, Value};

/// The table, of names and functions.
const TABLE: &str = "user/programs/src/table.rs";
/// The package of executables, and its folder.
const PACKAGE: &str = "programs";
/// What the executables consist of.
const PARTS: &str = "[dependencies]\nprograms.workspace = true\nrt.workspace = true\n";
/// The tag of the place. Those of systems end otherwise.
const TAG: &str = "giusto-programs";
/// Where the first program lies that is for a debugger.
const FIRST: u64 = 0x80_0000;

/// The names of all programs, in their order.
pub fn names() -> Result<Vec<String>> {
    Ok(table()?.into_keys().collect())
}

/// The place of the executables.
pub fn place() -> Result<Place> {
    let (manifest, folders) = mirror()?;
    let place = Place::called(TAG.to_string(), &manifest)?;
    for folder in folders {
        link(&workspace::root().join(&folder), &place.folder().join(&folder))?;
    }
    let entry = |(name, function)| (name, format!("rt::entry!(programs::{function});\n"));
    let executables: Vec<_> = table()?.into_iter().map(entry).collect();
    let manifest = format!("[package]\nname = \"executables\"\n{COMMON}\n{PARTS}");
    place.write_executables(manifest, &executables, FIRST)?;
    Ok(place)
}

/// The workspace's manifest with one more package, and the folders that its others lie in.
fn mirror() -> Result<(String, BTreeSet<String>)> {
    let mut manifest = sources::read(workspace::root(), ".")?;
    let own = manifest.get_mut("workspace").and_then(Value::as_table_mut);
    let own = own.context("Cargo.toml is of no workspace")?;
    own.remove("default-members");
    let members = own.get_mut("members").and_then(Value::as_array_mut);
    let members = members.context("the workspace has no members")?;
    let first = |member: &Value| Some(member.as_str()?.split('/').next()?.to_string());
    let folders = members.iter().filter_map(first).collect();
    members.push(PACKAGE.into());
    Ok((Table::to_string(&manifest), folders))
}

/// Makes a link, unless it is as it should be.
fn link(to: &Path, at: &Path) -> Result<()> {
    match fs::read_link(at) {
        Ok(old) if old == to => return Ok(()),
        Ok(_) => fs::remove_file(at)?,
        Err(_) => {}
    }
    Ok(symlink(to, at)?)
}

/// The programs' functions by their names.
fn table() -> Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(workspace::root().join(TABLE))?;
    let rows = text.split_once("= &[\n").and_then(|(_, rest)| rest.split_once("];"));
    let (rows, _) = rows.with_context(|| format!("{TABLE} has no table"))?;
    let row = |line: &str| {
        let inner = line.trim().strip_prefix("(\"")?.strip_suffix("),")?;
        let (name, function) = inner.split_once("\", crate::")?;
        Some((name.to_string(), function.to_string()))
    };
    let rows = rows.lines().map(|line| {
        row(line)
            .with_context(|| format!("{TABLE}: `{line}` is not `(\"name\", crate::function),`"))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::super::place::{APART, OUTSIDE};
    use super::*;

    #[test]
    fn the_table_is_read_whole() {
        let programs = table().unwrap();
        let text = fs::read_to_string(workspace::root().join(TABLE)).unwrap();
        let rows: Vec<&str> = text.lines().filter(|line| line.contains("crate::")).collect();
        assert_eq!(programs.len(), rows.len(), "a name stands there twice");
        assert!(rows.is_sorted(), "{TABLE} is not in the order of names");
        assert_eq!(programs["hello-client"], "hello::client");
        let end = FIRST + APART * programs.len() as u64;
        assert!(end <= OUTSIDE, "for a debugger they lie where those from outside begin");
    }

    #[test]
    fn the_workspace_beside_the_work_tree_has_all_its_packages() {
        let (manifest, folders) = mirror().unwrap();
        let manifest: Table = manifest.parse().unwrap();
        let own = sources::read(workspace::root(), ".").unwrap();
        assert_eq!(manifest["profile"], own["profile"]);
        let members = |of: &Table| of["workspace"]["members"].as_array().unwrap().len();
        assert_eq!(members(&manifest), members(&own) + 1);
        assert!(folders.contains("user") && !folders.contains(PACKAGE), "{folders:?}");
    }

    #[test]
    fn a_link_follows_a_work_tree_that_is_moved() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("at");
        for to in ["/one", "/one", "/other"] {
            link(Path::new(to), &at).unwrap();
            assert_eq!(fs::read_link(&at).unwrap(), Path::new(to));
        }
    }
}
