//! The launcher on machines that lack something: made-up ones, whose whole PATH is a directory.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// What any system has.
const BASICS: [&str; 18] = [
    "bash", "basename", "cksum", "dirname", "env", "find", "grep", "mkdir", "readlink", "realpath",
    "sed", "tr", "cat", "chmod", "head", "mv", "rm", "touch",
];

/// What the launcher says behind a word.
fn said(word: &str) -> String {
    let text = include_str!("../../giusto");
    let behind = text.split_once(word).expect("the launcher says so").1;
    behind.split_whitespace().next().unwrap().to_string()
}

/// The emulator's name.
fn emulator() -> String {
    said("local program=")
}

/// The toolchain that the checkout names.
fn channel() -> String {
    let text = include_str!("../../rust-toolchain.toml");
    let channel = text.lines().find_map(|line| line.strip_prefix("channel = "));
    channel.unwrap().trim_matches('"').to_string()
}

/// A Rust installer that has what every command takes, and what it does to install more.
fn rustup(installs: &str) -> String {
    let (channel, target) = (channel(), said("target="));
    format!(
        "case \"$*\" in *install\\ *) {installs};; toolchain*) echo {channel}-host;; \
         target*) echo {target};; component*) echo clippy; echo rustfmt;; esac"
    )
}

/// What tells that so many megabytes of a disk are free.
fn disk(free: u64) -> String {
    format!("echo size; echo 'disk 1 1 {free} 1% /'")
}

/// A machine and a checkout on it.
struct Machine {
    root: TempDir,
}

impl Machine {
    /// One that has everything; a user's, with sudo and apt-get.
    fn complete() -> Machine {
        let machine = Machine { root: TempDir::new().unwrap() };
        for directory in ["bin", "checkout", "home"] {
            fs::create_dir(machine.path(directory)).unwrap();
        }
        for name in BASICS {
            let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).output();
            let found = String::from_utf8(found.unwrap().stdout).unwrap();
            symlink(found.trim(), machine.path("bin").join(name)).unwrap();
        }
        let lab = std::env::var("CARGO_MANIFEST_DIR").unwrap();
        let source = Path::new(&lab).parent().unwrap();
        for name in ["giusto", "rust-toolchain.toml"] {
            fs::copy(source.join(name), machine.path("checkout").join(name)).unwrap();
        }
        machine.has("rustup", &rustup("true"));
        // It builds a laboratory that says where it is.
        machine.has(
            "cargo",
            "mkdir -p \"$CARGO_TARGET_DIR/debug\"\n\
             lab=\"$CARGO_TARGET_DIR/debug/lab\"\n\
             printf '#!/bin/sh\\necho laboratory\\n' >\"$lab\"\n\
             chmod +x \"$lab\"\n\
             echo \"laboratory in $CARGO_TARGET_DIR\" >&2",
        );
        machine.has("df", &disk(1 << 20));
        machine.has("du", "echo 0");
        machine.has("cargo-mutants", "true");
        machine.has("cc", "true");
        machine.has("gdb", "true");
        machine.has(&emulator(), "echo 'QEMU emulator version 7.2.22 (made up)'");
        machine.has("apt-get", "echo \"apt-get $*\"");
        machine.has("sudo", "\"$@\"");
        machine.has("id", "echo 1000");
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Gives it a program, a script.
    fn has(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Takes programs away.
    fn without(self, names: &[&str]) -> Machine {
        for name in names {
            fs::remove_file(self.path("bin").join(name)).unwrap();
        }
        self
    }

    /// Runs the launcher with these words.
    fn giusto(&self, words: &str) -> Output {
        Command::new(self.path("bin/bash"))
            .arg(self.path("checkout/giusto"))
            .args(words.split_whitespace())
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("HOME", self.path("home"))
            .output()
            .unwrap()
    }

    /// It must refuse with status 2 and one sentence, which has these words, before cargo runs.
    fn refuses(&self, words: &str, says: &[&str]) {
        let output = self.giusto(words);
        let (stdout, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{stdout}{stderr}");
        assert!(!stdout.contains("laboratory"), "{stdout}");
        let sentences: Vec<&str> = stderr.lines().collect();
        assert_eq!(sentences.len(), 1, "{stderr}");
        assert!(sentences[0].starts_with("giusto: "), "{stderr}");
        for part in says {
            assert!(stderr.contains(part), "no `{part}` in: {stderr}");
        }
    }
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_string();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_complete_machine_starts_the_laboratory() {
    let machine = Machine::complete();
    let output = machine.giusto("run hello");
    let (_, stderr) = texts(&output);
    assert!(output.status.success(), "{stderr}");
    let target = machine.path("checkout/target");
    assert!(stderr.contains(&format!("laboratory in {}\n", target.display())), "{stderr}");
}

#[test]
fn the_laboratory_is_said_to_be_built_again_if_it_is() {
    let machine = Machine::complete();
    assert!(machine.giusto("run hello").status.success());
    // What lies there is older than a file in which cargo finds nothing to compile.
    let says = |cargo: &str| {
        machine.has("cargo", cargo);
        let output = machine.giusto("run hello");
        let (stdout, stderr) = texts(&output);
        assert!(output.status.success() && stdout == "laboratory\n", "{stderr}");
        stderr
    };
    assert_eq!(says("echo '    Finished `dev` profile' >&2"), "");
    let said = says("echo '   Compiling abi v0.1.0' >&2; echo '   Compiling lab v0.1.0' >&2");
    assert_eq!(said, "giusto: building the laboratory again: its source has changed\n");
    machine.has("cargo", "echo 'error: it is wrong' >&2; exit 101");
    let output = machine.giusto("run hello");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(texts(&output), (String::new(), "error: it is wrong\n".to_string()));
}

#[test]
fn the_laboratory_is_built_in_one_go_until_it_is_edited() {
    let machine = Machine::complete();
    machine.has(
        "cargo",
        "lab=\"$CARGO_TARGET_DIR/debug/lab\"\n\
         printf '#!/bin/sh\\necho ${CARGO_INCREMENTAL-edited}\\n' >\"$lab\"\n\
         chmod +x \"$lab\"",
    );
    // What is built there names no source of the checkout, and counts as edited the second time.
    for incremental in ["0\n", "edited\n"] {
        let (stdout, stderr) = texts(&machine.giusto("run hello"));
        assert_eq!(stdout, incremental, "{stderr}");
    }
}

#[test]
fn an_sdk_brings_the_laboratory() {
    let machine = Machine::complete().without(&["gdb", "cargo-mutants"]);
    fs::write(machine.path("checkout/VERSION"), "").unwrap();
    fs::create_dir(machine.path("checkout/bin")).unwrap();
    let lab = machine.path("checkout/bin/lab");
    fs::write(&lab, "#!/bin/sh\necho \"brought, of $GIUSTO_CHECKOUT\"\n").unwrap();
    fs::set_permissions(&lab, fs::Permissions::from_mode(0o755)).unwrap();
    machine.has("cargo", "echo cargo runs; exit 1");
    machine.has("apt-get", "exit 1");
    let brought = format!("brought, of {}\n", machine.path("checkout").display());
    // Tools for tests of Giusto itself are not asked for.
    for words in ["run hello", "test plant", "test --deep", "book"] {
        let output = machine.giusto(words);
        assert_eq!(texts(&output), (brought.clone(), String::new()), "{words}");
    }
}

#[test]
fn without_rustup_it_says_where_to_get_it() {
    Machine::complete().without(&["rustup"]).refuses("demo", &["https://rustup.rs", "curl"]);
    Machine::complete().without(&["rustup", "cargo"]).refuses("demo", &["https://rustup.rs"]);
}

#[test]
fn without_apt_it_names_what_is_missing() {
    let machine = Machine::complete().without(&["apt-get", "cc"]);
    machine.refuses("demo", &["C compiler", "no apt-get", "gcc libc6-dev"]);
    let machine = Machine::complete().without(&["apt-get", &emulator()]);
    machine.refuses("demo", &[&format!("{} is missing", emulator()), "on Debian: qemu-system"]);
}

#[test]
fn without_root_and_sudo_it_says_what_to_ask_for() {
    let machine = Machine::complete().without(&["sudo", &emulator()]);
    machine.refuses("run hello", &["only root", "apt-get install qemu-system"]);
    let machine = Machine::complete().without(&["sudo", "cc"]);
    machine.refuses("run hello", &["C compiler", "apt-get install gcc libc6-dev"]);
}

#[test]
fn root_needs_no_sudo() {
    let machine = Machine::complete().without(&["sudo", "cc"]);
    machine.has("id", "echo 0");
    let (_, stderr) = texts(&machine.giusto("doctor"));
    assert!(stderr.contains("installing what is missing: apt-get install"), "{stderr}");
}

#[test]
fn what_is_missing_is_only_printed_if_nothing_is_to_be_installed() {
    let machine = Machine::complete().without(&[&emulator()]);
    machine.has("apt-get", "echo INSTALLED");
    let output = machine.giusto("--no-install run hello");
    let (stdout, _) = texts(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout.contains("apt-get install -y --no-install-recommends qemu-system"));
    assert!(!stdout.contains("INSTALLED"), "{stdout}");
    let ended = machine.giusto("--no-install doctor");
    assert!(ended.status.success(), "doctor takes no emulator: {:?}", texts(&ended));
}

#[test]
fn the_debugger_is_for_those_who_use_it() {
    let machine = Machine::complete().without(&["gdb"]);
    for words in ["test", "run hello --gdb", "run --gdb --icount hello"] {
        let (_, stderr) = texts(&machine.giusto(words));
        assert!(stderr.contains("--no-install-recommends gdb"), "{words}: {stderr}");
    }
    for words in ["run hello", "test --status"] {
        let (_, stderr) = texts(&machine.giusto(words));
        assert!(!stderr.contains("gdb"), "{words}: {stderr}");
    }
}

/// A tool comes over the network, which takes minutes.
#[test]
fn nothing_is_installed_for_a_wrong_command_line() {
    let machine = Machine::complete();
    assert!(machine.giusto("run hello").status.success());
    let lab = machine.path("checkout/target/debug/lab");
    let main = machine.path("checkout/lab/src/main.rs");
    fs::write(lab.with_extension("d"), format!("{}: {}\n", lab.display(), main.display())).unwrap();
    let refuses = "#!/bin/sh\necho $1 $3\n[ \"$3\" != --wrong ] || exit 2\n";
    fs::write(&lab, refuses).unwrap();
    let installs = "the network";
    machine.has("cargo", &format!("echo {installs}; exit 1"));
    for (words, right) in [("book", true), ("book --wrong", false)] {
        let output = machine.giusto(words);
        let (stdout, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{stdout}{stderr}");
        assert_eq!(stderr.contains(installs), right, "{words}: {stderr}");
        assert!(stdout.starts_with("--only-parsed"), "{stdout}");
    }
}

#[test]
fn an_installation_that_fails_is_said_so() {
    let machine = Machine::complete().without(&["cc"]);
    machine.has("apt-get", "echo 'E: no network' >&2; exit 100");
    let output = machine.giusto("demo");
    let (_, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("E: no network") && stderr.contains("that did not work"), "{stderr}");
}

#[test]
fn an_old_emulator_is_refused() {
    for old in ["7.1.0", "6.2.0 (Debian)", "4.10.3"] {
        let machine = Machine::complete();
        machine.has(&emulator(), &format!("echo 'QEMU emulator version {old}'"));
        let version: String = old.split_inclusive('.').take(2).collect();
        let version = version.trim_end_matches('.');
        machine.refuses("demo", &[&format!("version {version};"), "7.2 or newer"]);
    }
    let machine = Machine::complete();
    machine.has(&emulator(), "exit 1");
    machine.refuses("demo", &["does not say its version"]);
    for new in ["7.2.0", "10.0.2"] {
        machine.has(&emulator(), &format!("echo 'QEMU emulator version {new}'"));
        assert!(machine.giusto("demo").status.success(), "{new}");
    }
}

#[test]
fn only_the_long_tests_take_miri() {
    let machine = Machine::complete();
    machine.has("rustup", &rustup("echo \"rustup $*\""));
    let (_, stderr) = texts(&machine.giusto("test --deep --junit report.xml"));
    let command = "rustup toolchain install nightly --profile minimal";
    assert!(stderr.contains(&format!("installing what is missing: {command}")), "{stderr}");
    assert!(stderr.contains("--component miri --component rust-src"), "{stderr}");
    for words in ["test", "test deep", "run hello"] {
        let output = machine.giusto(words);
        assert!(output.status.success() && !texts(&output).1.contains("nightly"), "{words}");
    }
    fs::remove_file(machine.path("bin/cargo-mutants")).unwrap();
    let (stdout, _) = texts(&machine.giusto("--no-install test --deep"));
    assert!(stdout.contains("install cargo-mutants --locked"), "{stdout}");
    machine.has("rustup", &rustup("echo 'error: could not download' >&2; exit 1"));
    let output = machine.giusto("test --deep");
    let (stdout, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(2), "{stdout}{stderr}");
    assert!(!stdout.contains("laboratory"), "{stdout}");
    assert!(stderr.contains("Miri, which comes over the network"), "{stderr}");
}

#[test]
fn a_read_only_checkout_is_built_in_the_users_cache() {
    let machine = Machine::complete();
    // A file in its place: the user may be root, who may write to any directory.
    fs::write(machine.path("checkout/target"), "").unwrap();
    let output = machine.giusto("run hello");
    let (_, stderr) = texts(&output);
    let cache = machine.path("home/.cache/giusto");
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("read-only: building in"), "{stderr}");
    assert!(stderr.contains(&format!("laboratory in {}/", cache.display())), "{stderr}");
    fs::remove_dir_all(machine.path("home")).unwrap();
    fs::write(machine.path("home"), "").unwrap();
    machine.refuses("run hello", &["can write neither to", "set CARGO_TARGET_DIR"]);
}

#[test]
fn a_disk_without_room_is_refused_before_anything_is_built() {
    let wanted: u64 = said("\"everything that is tested\" wanted=").parse().unwrap();
    let machine = Machine::complete();
    machine.has("clang", "true");
    machine.has("du", "echo 100");
    machine.has("df", &disk(wanted - 101));
    let takes = format!("everything that is tested takes {} MB more", wanted - 100);
    for words in ["test", "test --quick"] {
        machine.refuses(words, &[&takes, &format!("{} MB are free", wanted - 101), "make room"]);
    }
    assert!(machine.giusto("run hello").status.success(), "it takes less");
    assert!(machine.giusto("test hello").status.success(), "so do single tests");
    machine.has("df", &disk(wanted - 100));
    assert!(machine.giusto("test").status.success());
    // What was built long ago takes its room, and is no reason to begin.
    machine.has("du", "echo 100000");
    machine.has("df", &disk(10));
    machine.refuses("test", &["10 MB are free"]);
    assert!(machine.giusto("run hello").status.success(), "nothing is to be built");
}
