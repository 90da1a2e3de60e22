//! Which versions of Giusto's packages a crate asks for. It names them by version, and is built
//! with those of this checkout or SDK, so these have to be of that version.

use super::sources::{read, table, tables_of_dependencies};
use anyhow::Result;
use cargo_metadata::semver::{Version, VersionReq};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The version of all packages here.
pub const OWN: &str = env!("CARGO_PKG_VERSION");
/// How the names of Giusto's packages for users begin.
pub const PREFIX: &str = "giusto-";

/// A version that is asked for, and is not the one here.
#[derive(Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The package.
    pub package: String,
    /// The version, as it is asked for.
    pub wanted: String,
    /// The manifest that says so.
    pub manifest: PathBuf,
}

/// The first version that the crate in a folder, or the workspace that it is of, asks for in vain.
pub fn unmet(folder: &Path) -> Result<Option<Unmet>> {
    let own: Version = OWN.parse()?;
    let found = |folder: &Path, tables: Vec<&Table>| {
        let asked = tables.into_iter().flat_map(asked);
        let mut unmet = asked.filter(|(_, wanted)| {
            // What is no version, cargo refuses.
            VersionReq::parse(wanted).is_ok_and(|wanted| !wanted.matches(&own))
        });
        let (package, wanted) = unmet.next()?;
        Some(Unmet { package, wanted, manifest: folder.join("Cargo.toml") })
    };
    let manifest = read(folder, ".")?;
    if let Some(unmet) = found(folder, tables_of_dependencies(&manifest)) {
        return Ok(Some(unmet));
    }
    for above in folder.ancestors().filter(|above| above.join("Cargo.toml").is_file()) {
        let manifest = read(above, ".")?;
        if let Some(workspace) = table(&manifest, "workspace") {
            return Ok(found(above, table(workspace, "dependencies").into_iter().collect()));
        }
    }
    Ok(None)
}

/// Giusto's packages in a table of dependencies, with the versions that it asks for.
fn asked(dependencies: &Table) -> Vec<(String, String)> {
    let asked = |(key, value): (&String, &Value)| {
        let package = value.get("package").and_then(Value::as_str).unwrap_or(key);
        let version = value.as_str().or_else(|| value.get("version")?.as_str())?;
        package.starts_with(PREFIX).then(|| (package.to_string(), version.to_string()))
    };
    dependencies.iter().filter_map(asked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn another_version_is_found_in_the_crate_and_in_its_workspace() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("client");
        fs::create_dir_all(&folder).unwrap();
        let judged = |workspace: &str, own: &str| {
            let text = format!("[workspace.dependencies]\n{workspace}\n");
            fs::write(place.path().join("Cargo.toml"), text).unwrap();
            let text = format!("[package]\nname = \"client\"\n[dependencies]\n{own}\n");
            fs::write(folder.join("Cargo.toml"), text).unwrap();
            unmet(&folder).unwrap().map(|unmet| (unmet.package, unmet.wanted))
        };
        let rt =
            |version: &str| format!("rt = {{ package = \"giusto-rt\", version = {version:?} }}");
        let here = rt(OWN);
        assert_eq!(judged(&here, "rt.workspace = true"), None);
        assert_eq!(judged("", "giusto-rt = { path = \"../rt\" }"), None);
        assert_eq!(judged("", "other = \"77\"\ngiusto-rt = \"no version\""), None);
        let found = Some(("giusto-rt".to_string(), "77.1".to_string()));
        assert_eq!(judged(&rt("77.1"), "rt.workspace = true"), found);
        assert_eq!(judged(&here, "giusto-rt = \"77.1\""), found);
        assert_eq!(judged(&here, &format!("[build-dependencies]\n{}", rt("77.1"))), found);
    }
}
