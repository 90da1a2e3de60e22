//! What a package is made of: its own directory, and those of the packages of the work tree that it
//! depends on.

use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use toml::{Table, Value};

/// The directories, relative to the root of the work tree.
pub fn of(root: &Path, package: &str) -> Result<BTreeSet<String>> {
    Ok(packages(root, package)?.into_values().collect())
}

/// The packages by name, with their directories.
pub fn packages(root: &Path, package: &str) -> Result<BTreeMap<String, String>> {
    let workspace = read(root, ".")?;
    let workspace = table(&workspace, "workspace").context("Cargo.toml is of no workspace")?;
    let members = workspace.get("members").and_then(Value::as_array);
    let inherited = table(workspace, "dependencies");
    let mut packages = Vec::new();
    for member in members.into_iter().flatten().filter_map(Value::as_str) {
        packages.push((member, read(root, member)?));
    }
    let mut found = BTreeMap::new();
    let mut wanted = vec![package.to_string()];
    while let Some(name) = wanted.pop() {
        let Some((directory, manifest)) = packages.iter().find(|(_, it)| is_called(it, &name))
        else {
            // It comes from the registry, and Cargo.lock says in which version.
            continue;
        };
        if found.insert(name, directory.to_string()).is_none() {
            wanted.extend(dependencies(manifest, inherited));
        }
    }
    Ok(found)
}

/// The manifest of a directory.
pub fn read(root: &Path, directory: &str) -> Result<Table> {
    let path = root.join(directory).join("Cargo.toml");
    let text = fs::read_to_string(&path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    text.parse().with_context(|| format!("{} is no manifest", path.display()))
}

fn is_called(manifest: &Table, name: &str) -> bool {
    let own = table(manifest, "package").and_then(|package| package.get("name"));
    own.and_then(Value::as_str) == Some(name)
}

/// A table in another one.
pub fn table<'a>(table: &'a Table, key: &str) -> Option<&'a Table> {
    table.get(key)?.as_table()
}

/// Names of all packages that a package may be built with, for any target. A dependency's key is
/// the package's name, unless it or that of the workspace says otherwise.
fn dependencies(manifest: &Table, inherited: Option<&Table>) -> Vec<String> {
    let renamed = |value: &Value| Some(value.get("package")?.as_str()?.to_string());
    let package = |(key, value): (&String, &Value)| {
        let from_workspace = || renamed(inherited?.get(key)?);
        renamed(value).or_else(from_workspace).unwrap_or_else(|| key.clone())
    };
    tables_of_dependencies(manifest).into_iter().flatten().map(package).collect()
}

/// The tables of all dependencies but those of tests.
pub fn tables_of_dependencies(manifest: &Table) -> Vec<&Table> {
    let targets = table(manifest, "target").into_iter().flat_map(Table::values);
    let places = targets.filter_map(Value::as_table).chain([manifest]);
    let kinds = |place| ["dependencies", "build-dependencies"].map(|kind| table(place, kind));
    places.flat_map(kinds).flatten().collect()
}

#[cfg(test)]
mod tests {
    use crate::workspace;

    fn of(package: &str) -> Vec<String> {
        super::of(workspace::root(), package).unwrap().into_iter().collect()
    }

    #[test]
    fn dependencies_are_part_of_it_and_nothing_else() {
        let services = [
            "user/service",
            "user/service/macro",
            "user/sockets",
            "user/supervision",
            "user/supervisor",
            "user/sync",
            "user/virtio",
        ];
        let others = [
            "user/clock",
            "user/files",
            "user/flows",
            "user/network",
            "user/programs",
            "user/ring",
            "user/rt",
        ];
        let programs = [&["abi", "policies"], &others[..], &services].concat();
        assert_eq!(of("programs"), programs);
        let port = crate::machine::MACHINES[0].emulator().unwrap().port();
        let kernel = ["abi", "cells", "kernel", "kernel/section", "locks", "policies", "ports/rtm"];
        assert_eq!(of(port)[..kernel.len()], kernel);
        assert_eq!(of(port).len(), kernel.len() + 1);
        assert!(of("twin").contains(&"ports/twin/protocol".to_string()));
        assert!(of("no-such-package").is_empty());
    }

    #[test]
    fn the_launcher_looks_at_all_that_the_laboratory_is_made_of() {
        let launcher = std::fs::read_to_string(workspace::root().join("giusto")).unwrap();
        let looked_at = launcher.split_once("&& find ").unwrap().1;
        let looked_at = looked_at.split_once(" -type f").unwrap().0;
        let folders: Vec<&str> = looked_at.split_whitespace().collect();
        for folder in of("lab") {
            let is_below = |above: &&str| std::path::Path::new(&folder).starts_with(above);
            assert!(folders.iter().any(is_below), "{folder} is not looked at");
        }
    }
}
