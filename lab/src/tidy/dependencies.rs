//! Which crate may depend on which: arrows never point back.

use super::Finding;
use crate::workspace;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;

/// Who may depend on what inside the project, as `(package, dependencies)`.
const RULE: [(&str, &[&str]); 14] = [
    ("abi", &[]),
    ("cells", &[]),
    ("policies", &["abi", "cells"]),
    ("locks", &["abi", "cells"]),
    ("kernel", &["abi", "cells", "policies", "locks"]),
    ("rt", &["abi"]),
    ("programs", &["abi", "rt"]),
    ("manifest", &["abi"]),
    ("twin-protocol", &["abi"]),
    ("twin", &["abi", "cells", "kernel", "rt", "programs", "twin-protocol"]),
    ("model", &[]),
    ("results", &["abi"]),
    ("trace", &["abi", "results"]),
    ("lab", &["abi", "manifest", "model", "results", "trace", "twin-protocol"]),
];

/// What every package under `ports/` may depend on.
const PORT: &[&str] = &["abi", "cells", "policies", "locks", "kernel", "rtm"];

/// Packages that depend on nothing outside the project either.
const ALONE: [&str; 1] = ["abi"];

/// The root file of a crate.
pub struct Root {
    /// The package.
    pub package: String,
    /// What cargo makes of it: `lib`, `bin`, `test`, ...
    pub kind: String,
    /// Its path relative to the root of the work tree.
    pub path: String,
}

impl Root {
    /// A root.
    pub fn of(package: &str, kind: &str, path: &str) -> Root {
        let [package, kind, path] = [package, kind, path].map(str::to_string);
        Root { package, kind, path }
    }
}

/// A package of the workspace.
struct Package {
    name: String,
    manifest: String,
    /// Text of the manifest, to find lines.
    text: String,
    /// Names, and whether they are in this project.
    dependencies: Vec<(String, bool)>,
}

/// What cargo knows about the work tree.
pub struct Workspace {
    packages: Vec<Package>,
    /// The roots of all crates, build scripts and tests included.
    pub roots: Vec<Root>,
}

impl Workspace {
    /// Asks cargo.
    pub fn read(root: &Path) -> Result<Workspace> {
        let output = workspace::cargo(&["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(root)
            .output()
            .context("cannot run cargo")?;
        if !output.status.success() {
            bail!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        let metadata = serde_json::from_slice(&output.stdout)?;
        Workspace::from_metadata(root, &metadata, |path| {
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
        })
    }

    fn from_metadata(
        root: &Path,
        metadata: &Value,
        read: impl Fn(&Path) -> Result<String>,
    ) -> Result<Workspace> {
        let mut found = Workspace { packages: Vec::new(), roots: Vec::new() };
        for package in list(metadata, "packages") {
            let name = text(package, "name");
            let manifest = Path::new(text(package, "manifest_path"));
            let dependencies = list(package, "dependencies").iter();
            found.packages.push(Package {
                name: name.to_string(),
                manifest: relative(root, manifest),
                text: read(manifest)?,
                dependencies: dependencies
                    .map(|dependency| {
                        (text(dependency, "name").to_string(), dependency["path"].is_string())
                    })
                    .collect(),
            });
            for target in list(package, "targets") {
                let path = relative(root, Path::new(text(target, "src_path")));
                let kind = target["kind"][0].as_str().unwrap_or_default();
                found.roots.push(Root::of(name, kind, &path));
            }
        }
        Ok(found)
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// Checks every package against the rule.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Package) -> Vec<Finding> {
    let rule = RULE.iter().find(|(name, _)| *name == package.name).map(|(_, allowed)| *allowed);
    let port = package.manifest.starts_with("ports/").then_some(PORT);
    let Some(allowed) = rule.or(port) else {
        let what = format!("package `{}` has no place in the dependency rule", package.name);
        let mend = "give it one in lab/src/tidy/dependencies.rs";
        return vec![Finding::new(&package.manifest, 1, what, mend)];
    };
    let mut findings = Vec::new();
    for (name, inside) in &package.dependencies {
        let outside = !inside && ALONE.contains(&package.name.as_str());
        if outside || *inside && !allowed.contains(&name.as_str()) {
            let what = format!("`{}` must not depend on `{name}`", package.name);
            let mend = match allowed {
                [] => "it depends on nothing".to_string(),
                allowed => format!("it may use {}", allowed.join(", ")),
            };
            let line = line_of(&package.text, name);
            findings.push(Finding::new(&package.manifest, line, what, &mend));
        }
    }
    findings
}

/// The line of a manifest that names a dependency.
fn line_of(manifest: &str, dependency: &str) -> usize {
    let names = |line: &str| {
        let rest = line.strip_prefix(dependency)?;
        rest.starts_with([' ', '.', '=']).then_some(())
    };
    manifest.lines().position(|line| names(line).is_some()).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn findings(name: &str, directory: &str, dependencies: Value) -> Vec<String> {
        let metadata = json!({"packages": [{
            "name": name,
            "manifest_path": format!("/w/{directory}/Cargo.toml"),
            "dependencies": dependencies,
            "targets": [{"kind": ["lib"], "src_path": format!("/w/{directory}/src/lib.rs")}],
        }]});
        let manifest = "[dependencies]\nlocks-x = \"1\"\nlab.workspace = true\nserde = \"1\"\n";
        let read = |_: &Path| Ok(manifest.to_string());
        let workspace = Workspace::from_metadata(Path::new("/w"), &metadata, read).unwrap();
        assert_eq!(workspace.roots[0].path, format!("{directory}/src/lib.rs"));
        check(&workspace).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn arrows_never_point_back() {
        let good = json!([{"name": "abi", "path": "/w/abi"}, {"name": "serde"}]);
        assert!(findings("kernel", "kernel", good.clone()).is_empty());
        assert!(findings("x-port", "ports/x", good).is_empty());
        let back = json!([{"name": "lab", "path": "/w/lab"}]);
        let finding = "`kernel` must not depend on `lab`; it may use abi, cells, policies, locks";
        let found = findings("kernel", "kernel", back.clone());
        assert_eq!(found, [format!("kernel/Cargo.toml:3: {finding}")]);
        assert_eq!(findings("x-port", "ports/x", back).len(), 1);
        let kernel = json!([{"name": "kernel", "path": "/w/kernel"}]);
        assert_eq!(findings("programs", "user/programs", kernel).len(), 1);
    }

    #[test]
    fn the_contract_depends_on_nothing() {
        assert_eq!(
            findings("abi", "abi", json!([{"name": "serde"}])),
            ["abi/Cargo.toml:4: `abi` must not depend on `serde`; it depends on nothing"]
        );
    }

    #[test]
    fn a_package_without_a_place_is_found() {
        assert_eq!(findings("extra", "extra", json!([])).len(), 1);
    }
}
