//! Which crate may depend on which: arrows never point back. By hand: `cargo-deny` can say it, but
//! takes minutes to compile.

use super::Finding;
use cargo_metadata::Metadata;
use std::fs;

/// Which package may depend on what inside the project, as `(package, dependencies)`.
const RULE: &[(&str, &[&str])] = &[
    ("abi", &[]),
    ("cells", &[]),
    ("policies", &["abi", "cells"]),
    ("locks", &["abi", "cells"]),
    ("section", &[]),
    ("kernel", &["abi", "cells", "policies", "locks", "section"]),
    ("rt", &["abi"]),
    ("service-macro", &[]),
    ("service", &["rt", "service-macro"]),
    ("clock", &["service"]),
    ("files", &["abi", "rt", "service"]),
    ("ring", &["rt"]),
    ("supervision", &["abi", "service"]),
    ("supervisor", &["abi", "rt", "service", "supervision"]),
    ("sync", &["rt"]),
    ("sockets", &["service"]),
    ("flows", &["ring", "service"]),
    ("network", &["flows", "ring", "sockets"]),
    ("virtio", &["ring", "rt", "service"]),
    (
        "programs",
        &[
            "abi",
            "clock",
            "files",
            "flows",
            "network",
            "policies",
            "ring",
            "rt",
            "service",
            "sockets",
            "supervision",
            "supervisor",
            "sync",
            "virtio",
        ],
    ),
    ("analysis", &[]),
    ("acceptance", &["abi", "analysis", "manifest", "policies"]),
    ("devices", &["abi"]),
    ("units", &["abi"]),
    ("manifest", &["abi", "devices", "units"]),
    ("twin-protocol", &["abi", "devices"]),
    ("twin", &["abi", "cells", "devices", "kernel", "rt", "programs", "twin-protocol"]),
    ("model", &["analysis"]),
    ("exact", &[]),
    ("results", &["abi", "units"]),
    ("rtsim", &["abi", "manifest"]),
    ("trace", &["abi", "analysis", "results"]),
    (
        "lab",
        &[
            "abi",
            "acceptance",
            "analysis",
            "devices",
            "manifest",
            "model",
            "results",
            "rtsim",
            "trace",
            "twin-protocol",
            "units",
        ],
    ),
];

/// What every package under `ports/` may depend on.
const PORT: &[&str] = &["abi", "cells", "policies", "locks", "kernel", "rtm", "section"];

/// Packages that depend on nothing outside the project either.
const ALONE: [&str; 3] = ["abi", "exact", "section"];

/// The root file of a crate.
pub struct Root {
    /// The package.
    pub package: String,
    /// What cargo makes of it: `lib`, `bin`, `test`, ...
    pub kind: String,
    /// Its path relative to the root of the work tree.
    pub path: String,
}

/// The roots of all crates, build scripts and tests included.
pub fn roots(metadata: &Metadata) -> Vec<Root> {
    let of = |package: &cargo_metadata::Package| {
        let root = |target: &cargo_metadata::Target| Root {
            package: short(&package.name).to_string(),
            kind: target.kind.first().map(ToString::to_string).unwrap_or_default(),
            path: relative(metadata, target.src_path.as_str()),
        };
        package.targets.iter().map(root).collect::<Vec<_>>()
    };
    metadata.packages.iter().flat_map(of).collect()
}

fn relative(metadata: &Metadata, path: &str) -> String {
    path.trim_start_matches(metadata.workspace_root.as_str()).trim_start_matches('/').to_string()
}

/// A package's name as it is used in the project: those that others may depend on are published
/// with a prefix.
fn short(name: &str) -> &str {
    name.strip_prefix("giusto-").unwrap_or(name)
}

/// Checks every package against the rule.
pub fn check(metadata: &Metadata) -> Vec<Finding> {
    let of = |package: &cargo_metadata::Package| {
        let manifest = relative(metadata, package.manifest_path.as_str());
        let used = package.dependencies.iter().map(|used| (short(&used.name), used.path.is_some()));
        let text = fs::read_to_string(&package.manifest_path).unwrap_or_default();
        check_package(short(&package.name), &manifest, &text, used)
    };
    metadata.packages.iter().flat_map(of).collect()
}

/// Checks a package with dependencies, which are in this project or not.
fn check_package<'a>(
    package: &str,
    manifest: &str,
    text: &str,
    dependencies: impl IntoIterator<Item = (&'a str, bool)>,
) -> Vec<Finding> {
    let rule = RULE.iter().find(|(name, _)| *name == package).map(|(_, allowed)| *allowed);
    let Some(allowed) = rule.or(manifest.starts_with("ports/").then_some(PORT)) else {
        let what = format!("package `{package}` has no place in the dependency rule");
        return vec![Finding::new(
            manifest,
            1,
            what,
            "give it one in lab/src/tidy/dependencies.rs",
        )];
    };
    let mend = match allowed {
        [] => "it depends on nothing".to_string(),
        allowed => format!("it may use {}", allowed.join(", ")),
    };
    let wrong = |(name, inside): &(&str, bool)| match inside {
        true => !allowed.contains(name),
        false => ALONE.contains(&package),
    };
    let finding = |(name, _)| {
        let what = format!("`{package}` must not depend on `{name}`");
        Finding::new(manifest, line_of(text, name), what, &mend)
    };
    dependencies.into_iter().filter(wrong).map(finding).collect()
}

/// The line of a manifest that names a dependency.
fn line_of(manifest: &str, dependency: &str) -> usize {
    let key = |line: &str| line.split([' ', '.', '=']).next() == Some(dependency);
    manifest.lines().position(key).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    fn findings(package: &str, directory: &str, dependencies: &[(&str, bool)]) -> Vec<String> {
        let text = "[dependencies]\nlocks-x = \"1\"\nlab.workspace = true\nserde = \"1\"\n";
        let manifest = format!("{directory}/Cargo.toml");
        let found = check_package(package, &manifest, text, dependencies.iter().copied());
        found.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn arrows_never_point_back() {
        let good = [("abi", true), ("serde", false)];
        assert_eq!(findings("kernel", "kernel", &good), [""; 0]);
        assert_eq!(findings("x-port", "ports/x", &good), [""; 0]);
        let found = findings("kernel", "kernel", &[("lab", true)]).remove(0);
        let finding = "kernel/Cargo.toml:3: `kernel` must not depend on `lab`; it may use abi, ";
        assert!(found.starts_with(finding), "{found}");
        assert_eq!(findings("x-port", "ports/x", &[("lab", true)]).len(), 1);
        assert_eq!(findings("programs", "user/programs", &[("kernel", true)]).len(), 1);
    }

    #[test]
    fn the_contract_depends_on_nothing() {
        let found = findings("abi", "abi", &[("serde", false)]);
        assert_eq!(
            found,
            ["abi/Cargo.toml:4: `abi` must not depend on `serde`; it depends on nothing"]
        );
    }

    #[test]
    fn a_package_without_a_place_is_found() {
        assert_eq!(findings("extra", "extra", &[]).len(), 1);
    }

    #[test]
    fn cargo_knows_the_roots_of_crates() {
        let roots = roots(&workspace::metadata(workspace::root()).unwrap());
        let has =
            |kind: &str, path: &str| roots.iter().any(|r| (&*r.kind, &*r.path) == (kind, path));
        assert!(has("lib", "abi/src/lib.rs") && has("bin", "lab/src/main.rs"));
        assert!(has("test", "lab/tests/launcher.rs"));
    }
}
