//! `new`: a system of one's own, outside of the work tree.

use super::{print_json, vacant};
use crate::failure::{Verdict, usage};
use crate::{output, systems, workspace};
use anyhow::Result;
use serde_json::json;
use std::path::{Component, Path, PathBuf};
use toml::Value;

/// The crates, each with its manifest and its source: two programs, and what one asks the other.
const CRATES: [(&str, &str, &str); 3] = [
    ("interface", include_str!("interface.toml"), include_str!("interface.txt")),
    ("client", include_str!("crate.toml"), include_str!("client.txt")),
    ("server", include_str!("crate.toml"), include_str!("server.txt")),
];

/// The files of a system in C, by their names.
const IN_C: [(&str, &str); 6] = [
    (systems::MANIFEST, include_str!("c/system.toml")),
    (systems::TESTS, include_str!("c/tests.toml")),
    ("README.md", include_str!("c/README.txt")),
    ("adder.h", include_str!("c/adder.h")),
    ("client.c", include_str!("c/client.c")),
    ("server.c", include_str!("c/server.c")),
];

/// Makes a folder with a system, whose programs are in C or in Rust.
pub fn new(folder: &Path, in_c: bool, as_json: bool) -> Result<Verdict> {
    let name = name(folder)?;
    vacant(folder)?;
    let giusto = way_to_giusto(folder)?;
    let files = if in_c { files_in_c(&name, &giusto) } else { files(&name, &giusto) };
    for (path, text) in &files {
        let path = folder.join(path);
        fs_err::create_dir_all(path.parent().expect("a file has a folder"))?;
        fs_err::write(&path, text)?;
    }
    if as_json {
        let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        print_json(&json!({"system": name, "folder": folder, "files": paths}));
        return Ok(Verdict::Held);
    }
    let folder = folder.display();
    for (path, _) in &files {
        output::line(format_args!("{folder}/{path}"));
    }
    output::line("");
    output::line(format_args!("run it:   ./giusto run {folder}"));
    output::line(format_args!("test it:  ./giusto test {folder}"));
    output::line(format_args!("read on:  {folder}/README.md"));
    Ok(Verdict::Held)
}

/// A system is called as its folder.
fn name(folder: &Path) -> Result<String> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if name.is_empty() || name.len() > 31 || name.starts_with('-') || !name.chars().all(is_name) {
        return Err(usage(format!(
            "a system is called as its folder: `{name}` is no name; \
             use 1 to 31 letters, digits, `-` and `_`, the first no `-`"
        )));
    }
    Ok(name.to_string())
}

/// The way from a folder, which need not be there yet, to the checkout or SDK: what is written says
/// where that is without naming a place of this machine.
fn way_to_giusto(folder: &Path) -> Result<String> {
    let absolute = std::path::absolute(folder)?;
    let exists = absolute.ancestors().find(|above| above.exists()).expect("there is a root");
    let rest = absolute.strip_prefix(exists).expect("it lies above");
    let (from, to) = (fs_err::canonicalize(exists)?.join(rest), workspace::root().canonicalize()?);
    let common = from.components().zip(to.components()).take_while(|(from, to)| from == to).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(common)).collect();
    Ok(way.display().to_string())
}

/// A text for a system of a name.
fn filled(text: &str, name: &str, giusto: &str) -> String {
    text.replace("@NAME@", name).replace("@ROOT@", giusto)
}

/// All files of a system in C, by path.
fn files_in_c(name: &str, giusto: &str) -> Vec<(String, String)> {
    IN_C.map(|(path, text)| (path.to_string(), filled(text, name, giusto))).to_vec()
}

/// All files of a system in Rust, by path.
fn files(name: &str, giusto: &str) -> Vec<(String, String)> {
    let filled = |text: &str| filled(text, name, giusto);
    let quoted = Value::from(giusto).to_string();
    let workspace = include_str!("workspace.toml").replace("@ROOT@", quoted.trim_matches('"'));
    let workspace = workspace.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    let mut files = vec![
        (systems::MANIFEST.to_string(), filled(include_str!("system.toml"))),
        (systems::TESTS.to_string(), filled(include_str!("tests.toml"))),
        ("README.md".to_string(), filled(include_str!("README.txt"))),
        ("Cargo.toml".to_string(), workspace),
        (".gitignore".to_string(), "/target\n".to_string()),
    ];
    for (name, manifest, source) in CRATES {
        files.push((format!("{name}/Cargo.toml"), manifest.replace("@CRATE@", name)));
        files.push((format!("{name}/src/lib.rs"), source.to_string()));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("plant");
        assert_eq!(new(&folder, false, true).unwrap(), Verdict::Held);
        fs_err::write(folder.join("system.toml"), "mine").unwrap();
        let error = new(&folder, false, true).unwrap_err();
        assert!(error.to_string().ends_with("plant is there already, and not empty"), "{error}");
        assert_eq!(fs_err::read_to_string(folder.join("system.toml")).unwrap(), "mine");
    }

    #[test]
    fn a_folder_that_is_no_name_is_refused() {
        let place = tempfile::tempdir().unwrap();
        for wrong in ["a plant", "größe", "-plant", &"x".repeat(32)] {
            let error = new(&place.path().join(wrong), false, true).unwrap_err();
            assert!(error.is::<crate::failure::Usage>(), "{wrong}: {error}");
        }
        assert!(fs_err::read_dir(place.path()).unwrap().next().is_none(), "nothing is left");
    }

    /// What is written says where the checkout is by a way from there: both can be moved.
    #[test]
    fn a_new_system_names_no_place() {
        let place = tempfile::tempdir().unwrap();
        let root = workspace::root().display().to_string();
        for in_c in [false, true] {
            let folder = place.path().join(if in_c { "c/plant" } else { "plant" });
            new(&folder, in_c, true).unwrap();
            for file in walkdir::WalkDir::new(&folder) {
                let file = file.unwrap();
                if file.file_type().is_file() {
                    let way = way_to_giusto(&folder).unwrap();
                    let text = fs_err::read_to_string(file.path()).unwrap().replace(&way, "");
                    assert!(!text.contains(&root), "{}", file.path().display());
                }
            }
            let way = folder.join(way_to_giusto(&folder).unwrap());
            assert!(way.join("user/rt/Cargo.toml").is_file(), "{}", way.display());
        }
    }

    #[test]
    fn a_new_system_is_right() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("plant");
        new(&folder, false, true).unwrap();
        let system = systems::load(folder.to_str().unwrap()).unwrap();
        assert_eq!((system.name.as_str(), system.domains.len()), ("plant", 2));
        assert!(crate::image::problems(&system).is_empty());
        let in_c = place.path().join("field");
        new(&in_c, true, true).unwrap();
        let system = systems::load(in_c.to_str().unwrap()).unwrap();
        assert_eq!((system.name.as_str(), system.domains.len()), ("field", 2));
        assert!(crate::image::problems(&system).is_empty());
    }
}
