//! The manifests of an SDK, for cargo: those of the work tree without what is not there.

use crate::{image, workspace};
use anyhow::{Context, Result};
use fs_err as fs;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// The manifest of the workspace with these packages, by name with their directories.
pub fn workspace(packages: &BTreeMap<String, String>) -> Result<String> {
    let root = workspace::root();
    let mut manifest: Table = fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    let is_wanted = |name: &str| name == "*" || packages.contains_key(name);
    manifest.insert("profile".to_string(), image::profiles(root, is_wanted)?.into());
    let workspace = manifest.get_mut("workspace").and_then(Value::as_table_mut);
    let workspace = workspace.context("Cargo.toml is of no workspace")?;
    workspace.remove("default-members");
    let members: Vec<&str> = packages.values().map(String::as_str).collect();
    if let Some(dependencies) = workspace.get_mut("dependencies").and_then(Value::as_table_mut) {
        let path = |value: &Value| Some(value.get("path")?.as_str()?.to_string());
        dependencies
            .retain(|_, value| path(value).is_none_or(|path| members.contains(&path.as_str())));
    }
    workspace.insert("members".to_string(), members.into());
    Ok(manifest.to_string())
}

/// A package's manifest without the dependencies of its tests, which are not there.
pub fn without_tests(manifest: &str) -> String {
    let mut is_of_tests = false;
    let kept = manifest.lines().filter(|line| {
        if line.starts_with('[') {
            is_of_tests = line.starts_with("[dev-dependencies");
        }
        !is_of_tests
    });
    kept.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::prebuilt;

    #[test]
    fn what_is_not_there_is_not_named() {
        let packages = prebuilt::packages().unwrap();
        let manifest: Table = workspace(&packages).unwrap().parse().unwrap();
        let members = manifest["workspace"]["members"].as_array().unwrap();
        assert_eq!(members.len(), packages.len());
        assert!(members.iter().all(|member| !member.as_str().unwrap().starts_with("lab/a")));
        let dependencies = manifest["workspace"]["dependencies"].as_table().unwrap();
        assert!(dependencies.contains_key("rt") && !dependencies.contains_key("analysis"));
        let dev = manifest["profile"]["dev"]["package"].as_table().unwrap();
        assert!(dev.contains_key("*") && dev.contains_key("kernel") && !dev.contains_key("trace"));
    }

    #[test]
    fn dependencies_of_tests_are_left_out() {
        let text =
            "[package]\nname = \"a\"\n\n[dev-dependencies]\nb = \"1\"\n\n[lints]\nc = true\n";
        assert_eq!(without_tests(text), "[package]\nname = \"a\"\n\n[lints]\nc = true\n");
    }
}
