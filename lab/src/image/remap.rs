//! What is built names no place of this host: the compiler writes paths of sources as they are from
//! the root of the work tree, also into what debuggers read. So built files can be moved, and are
//! the same wherever they are built.

use crate::workspace;
use std::path::{Path, PathBuf};
use toml::Value;

/// What stands for the folder in which cargo keeps packages.
const FETCHED: &str = "/cargo";
/// What stands for the folder that cargo builds into: where it lies in a checkout.
const BUILT: &str = "target";

/// The setting, as cargo's argument `--config` takes it. What stands last holds.
pub fn setting() -> String {
    let root = Some((workspace::root().to_path_buf(), ""));
    let fetched = workspace::cargo_home().map(|folder| (folder, FETCHED));
    let built = Some((workspace::build_directory(), BUILT));
    flags([fetched, root, built].into_iter().flatten())
}

/// A further setting, for a workspace in a folder that stands for the root.
pub fn rooted_at(folder: &Path) -> String {
    flags([(folder.to_path_buf(), "")].into_iter())
}

fn flags(prefixes: impl Iterator<Item = (PathBuf, &'static str)>) -> String {
    let flag = |(from, to): (PathBuf, &str)| {
        Value::from(format!("--remap-path-prefix={}/={to}", from.display()))
    };
    let flags: Vec<Value> = prefixes.map(flag).collect();
    format!("target.'cfg(all())'.rustflags = {}", Value::from(flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_setting_that_begins_with_the_most_general() {
        let table: toml::Table = setting().parse().unwrap();
        let flags = table["target"]["cfg(all())"]["rustflags"].as_array().unwrap();
        let root = format!("--remap-path-prefix={}/=", workspace::root().display());
        let at = flags.iter().position(|flag| flag.as_str() == Some(&root));
        let built = flags.last().unwrap().as_str().unwrap();
        assert!(at < Some(flags.len() - 1) && built.ends_with("/=target"), "{flags:?}");
    }
}
