use super::*;
use crate::waits::Objects;

fn entry(system: &str, pid: u32) -> Entry {
    Entry {
        pid,
        system: system.to_string(),
        manifest: PathBuf::new(),
        machine: "none".to_string(),
        ram: PathBuf::from("/proc/1/fd/3"),
        nonce: u64::from(pid),
        address_at: 16,
        bytes: 4096,
        control: "control".to_string(),
        held: Vec::new(),
        objects: Objects::default(),
        path: PathBuf::new(),
    }
}

#[test]
fn a_system_is_found_while_it_runs_and_by_no_file_that_is_left_over() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path();
    let entered = Entered::new(directory, &entry("plant", 7)).unwrap();
    let left = directory.join("9-0000000000000009.json");
    fs::write(&left, serde_json::to_vec(&entry("killed", 9)).unwrap()).unwrap();
    let found = running(directory);
    let path = directory.join("7-0000000000000007.json");
    assert_eq!(found, [Entry { path: path.clone(), ..entry("plant", 7) }]);
    assert!(path.exists() && !left.exists(), "what is left over is removed");
    drop(entered);
    assert!(running(directory).is_empty() && !path.exists());
}

#[test]
fn files_of_other_kinds_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("notes.txt");
    fs::write(&note, "mine").unwrap();
    assert!(running(folder.path()).is_empty() && note.exists());
    assert!(running(Path::new("/nonexistent")).is_empty());
}

#[test]
fn one_is_chosen_or_it_is_said_how() {
    let two = || vec![entry("plant", 7), entry("shell", 9), entry("shell", 11)];
    let said = |entries, system, pid| {
        let error = chosen(entries, system, pid).expect_err("none is meant");
        assert!(error.is::<crate::failure::Usage>());
        error.to_string()
    };
    assert!(said(vec![], None, None).starts_with("no system runs with --control here\n  start"));
    assert_eq!(chosen(two(), Some("plant"), None).unwrap().pid, 7);
    assert_eq!(chosen(two(), None, Some(11)).unwrap().pid, 11);
    assert_eq!(chosen(two(), Some("shell"), Some(9)).unwrap().pid, 9);
    assert_eq!(chosen(vec![entry("plant", 7)], None, None).unwrap().pid, 7);
    let several = said(two(), Some("shell"), None);
    assert!(several.contains("shell (pid 9), shell (pid 11)"), "{several}");
    assert!(several.contains("--pid N"), "{several}");
    let wrong = said(two(), Some("plnt"), None);
    assert!(wrong.contains("did you mean `plant`?"), "{wrong}");
    assert!(said(two(), None, Some(3)).starts_with("no system runs in process 3, only plant"));
}
