//! A manifest that is wrong ends every command that takes one with status 2, and says why.

use std::fs;
use std::process::{Command, Output};

/// The program with these arguments.
fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lab")).args(arguments).output().unwrap()
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
