//! Packages that could be published, which are those called `giusto-*`: their metadata is whole,
//! and they depend on published packages alone. All others say that they are not published.

use super::Finding;
use cargo_metadata::{DependencyKind, Metadata, Package};

/// What published packages are called.
const PREFIX: &str = "giusto-";

/// The most keywords and categories that a registry takes.
const MOST: usize = 5;

/// Checks every package.
pub fn check(metadata: &Metadata) -> Vec<Finding> {
    let root = metadata.workspace_root.as_str();
    let of = |package: &Package| {
        let path = package.manifest_path.as_str();
        let manifest = path.trim_start_matches(root).trim_start_matches('/');
        let wrong = wrong(package);
        wrong.into_iter().map(|(what, mend)| Finding::new(manifest, 1, what, mend)).collect()
    };
    metadata.packages.iter().flat_map(|package| -> Vec<Finding> { of(package) }).collect()
}

/// What is wrong with a package, and what to do about it.
fn wrong(package: &Package) -> Vec<(String, &'static str)> {
    let name = &package.name;
    let refuses = package.publish.as_ref().is_some_and(Vec::is_empty);
    match (name.starts_with(PREFIX), refuses) {
        (false, true) => return Vec::new(),
        (false, false) => {
            let what = format!("package `{name}` could be published under a name that is not ours");
            return vec![(what, "write `publish.workspace = true`, or call it `giusto-...`")];
        }
        (true, true) => {
            return vec![(format!("package `{name}` refuses to be published"), REFUSES)];
        }
        (true, false) => {}
    }
    let count = |list: &[String]| (1..=MOST).contains(&list.len());
    let readme = package.readme().is_some_and(|readme| readme.is_file());
    let keys = [
        ("description", package.description.is_some()),
        ("license", package.license.is_some()),
        ("readme", readme),
        ("keywords", count(&package.keywords)),
        ("categories", count(&package.categories)),
        ("rust-version", package.rust_version.is_some()),
    ];
    let missing = keys.iter().filter(|(_, there)| !there);
    let missing = missing.map(|(key, _)| (format!("package `{name}` lacks `{key}`"), KEY));
    let inside = package
        .dependencies
        .iter()
        .filter(|used| used.path.is_some() && used.kind != DependencyKind::Development);
    let unversioned =
        inside.filter(|used| used.req.comparators.is_empty() || !used.name.starts_with(PREFIX));
    let unversioned = unversioned.map(|used| {
        let what =
            format!("`{}`, on which `{name}` depends, cannot come from a registry", used.name);
        (what, "depend on a package `giusto-...` and give its version")
    });
    missing.chain(unversioned).collect()
}

const REFUSES: &str = "leave `publish` out";
const KEY: &str =
    "a registry shows it: write one (`readme` names a file, lists have 1 to 5 entries)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    fn package(name: &str, change: impl FnOnce(&mut Package)) -> Vec<String> {
        let metadata = workspace::metadata(workspace::root()).unwrap();
        let found = metadata.packages.iter().find(|package| package.name.as_str() == name);
        let mut package = found.unwrap().clone();
        change(&mut package);
        wrong(&package).into_iter().map(|(what, _)| what).collect()
    }

    #[test]
    fn what_could_be_published_is_whole() {
        assert_eq!(package("giusto-rt", |_| {}), [""; 0]);
        let lacks = |key: &str| [format!("package `giusto-rt` lacks `{key}`")];
        assert_eq!(package("giusto-rt", |rt| rt.description = None), lacks("description"));
        assert_eq!(package("giusto-rt", |rt| rt.license = None), lacks("license"));
        assert_eq!(package("giusto-rt", |rt| rt.readme = Some("NONE.md".into())), lacks("readme"));
        assert_eq!(package("giusto-rt", |rt| rt.keywords.clear()), lacks("keywords"));
        assert_eq!(package("giusto-rt", |rt| rt.rust_version = None), lacks("rust-version"));
        let many = |rt: &mut Package| rt.categories = vec!["no-std".to_string(); MOST + 1];
        assert_eq!(package("giusto-rt", many), lacks("categories"));
        let found = package("giusto-rt", |rt| {
            let abi = rt.dependencies.iter_mut().find(|used| used.name == "giusto-abi");
            abi.unwrap().req = "*".parse().unwrap();
        });
        assert_eq!(
            found,
            ["`giusto-abi`, on which `giusto-rt` depends, cannot come from a registry"]
        );
        assert_eq!(package("giusto-rt", |rt| rt.publish = Some(Vec::new())).len(), 1);
    }

    #[test]
    fn what_is_not_published_says_so() {
        assert_eq!(package("kernel", |_| {}), [""; 0]);
        assert_eq!(package("kernel", |kernel| kernel.publish = None).len(), 1);
    }
}
