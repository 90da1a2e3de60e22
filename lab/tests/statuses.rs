//! A manifest that is wrong or is not there ends every command that takes one with status 2, and
//! says why.

use std::fs;
use std::process::{Command, Output, Stdio};

/// The program with these arguments.
fn lab(arguments: &[&str]) -> Output {
    Command::new(std::env::var_os("CARGO_BIN_EXE_lab").unwrap()).args(arguments).output().unwrap()
}

#[test]
fn a_wrong_manifest_ends_every_command_with_status_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.toml");
    let system = path.to_str().unwrap();
    let wrong = [
        ("[system\n", "this is not TOML"),
        ("[system]\nname = \"wrong\"\nnew = 1\n", "`new` is not a key here"),
        ("[system]\nname = \"wrong\"\ntick = \"1h\"\n", "`1h` is not a duration"),
    ];
    for (text, why) in wrong {
        fs::write(&path, text).unwrap();
        for command in ["run", "check", "trace", "profile"] {
            for options in [&[][..], &["--json"]] {
                let output = lab(&[&[command, system], options].concat());
                let said = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(2), "{command}: {said}");
                assert!(said.contains(why), "{command}: {said}");
            }
        }
    }
}

#[test]
fn a_program_that_does_not_exist_is_a_wrong_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.toml");
    let domain = "[[domain]]\nname = \"d\"\nprogram = \"no-such-program\"\npriority = 1\n";
    fs::write(&path, format!("[system]\nname = \"wrong\"\n{domain}")).unwrap();
    let output = lab(&["check", path.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no-such-program"), "{said}");
}

#[test]
fn a_path_that_leads_to_no_system_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, nowhere) = (folder.path().to_path_buf(), folder.path().join("none"));
    for command in ["run", "check", "trace", "profile", "test"] {
        for (path, why) in [(&empty, "has no"), (&nowhere, "there is no file")] {
            let output = lab(&[command, path.to_str().unwrap()]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{command}: {said}");
            assert!(said.contains(why), "{command}: {said}");
        }
    }
}

#[test]
fn the_status_is_the_same_if_standard_error_is_closed() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut lab = Command::new(std::env::var_os("CARGO_BIN_EXE_lab").unwrap());
    let lab = lab.args(["run", "no-such-system"]).stdout(Stdio::null()).stderr(writer);
    assert_eq!(lab.status().unwrap().code(), Some(2));
}
