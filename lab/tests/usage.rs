//! Wrong usage of any command ends with status 2 before anything is built.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Command lines that no command can follow, and what is said of each.
const WRONG: [(&str, &str); 72] = [
    ("demo x", "unexpected argument"),
    ("run", "required arguments"),
    ("run no-such-system", "there is no system `no-such-system`"),
    ("run hello --arg seed", "--arg takes NAME=VALUE"),
    ("run hello --arg seed=1", "no program of system `hello` takes an argument `seed`"),
    ("run stress --arg seed=x", "argument `seed` of program stress is a number"),
    ("run stress --arg seed=1 --arg ms=-1", "argument `ms` of program stress is a number"),
    ("run mixed-criticality --kernel fastpath", "it needs tree"),
    ("run hello --cpus 2 --locking none", "cannot have 2 CPUs"),
    ("run hello --gdb --machine twin", "the simulation has no --gdb"),
    ("run hello --chaos 3", "--chaos is the twin's"),
    ("run hello --machine twin --chaos-until 9", "say where --chaos N injects"),
    ("trace hello --machine twin --chaos 3 --chaos-from 9 --chaos-until 9", "nothing lies between"),
    ("run hello --input no-such.toml", "no-such.toml"),
    ("trace stress --arg seed=x", "argument `seed` of program stress is a number"),
    ("run hello --plot x.svg", "of which hello has none"),
    ("run mixed-criticality --plot no/such.svg", "there is no folder no"),
    ("run mixed-criticality --plot x.png", "ends in .svg"),
    ("ps --system x", "no system runs"),
    ("top --system x", "no system runs"),
    ("sched get flight --system x", "no system runs"),
    ("sched set flight budget=1ms --system x", "no system runs"),
    ("new --c", "required arguments"),
    ("new no-folder/größe", "is no name"),
    ("check no-such-system", "there is no system"),
    ("check hello no-such-system", "there is no system `no-such-system`"),
    ("check hello --overheads no/such", "no/such"),
    ("run hello --overheads no/such", "no/such"),
    ("c --cc no-such-compiler", "there is no compiler"),
    ("c --cc ls", "names no file"),
    ("image hello", "required arguments"),
    ("image no-such-system -o folder", "there is no system"),
    ("image hello -o /dev/null/folder", "/dev/null"),
    ("sdk", "required arguments"),
    ("sdk -o .", "is there already, and not empty"),
    ("sdk -o /dev/null/folder", "/dev/null"),
    ("profile no-such-system", "there is no system"),
    ("profile hello --event cycles", "has no event counters"),
    ("profile hello --flame x.png", "ends in .svg or .folded"),
    ("profile hello --flame no/such.svg", "there is no folder no"),
    ("profile hello --machine twin", "cannot be profiled"),
    ("cyclictest -a 9", "give CPUs below 8"),
    ("cyclictest -a 0-7 --cpus 2", "-a names CPU 7"),
    ("lab list no-such", "invalid value"),
    ("lab run ping-pong --set no=1", "has no parameter `no`"),
    ("lab run ping-pong --set words=x", "cannot have words=x"),
    ("lab run ping-pong --kernel tree", "does not use kernel `tree`"),
    ("lab run sections --system no-such-system", "there is no system"),
    ("lab compare tree strict-eager --experiment micro", "does not run on qemu-x86_64 with tree"),
    ("lab compare no-such fastpath", "`no-such` is no kernel"),
    ("lab rtsim no-such.rts", "cannot read no-such.rts"),
    ("import no-such.json", "cannot read no-such.json"),
    ("trace hello --gantt x.png", "ends in .svg"),
    ("lab model repairman --plot no/such.svg", "there is no folder no"),
    ("lab model repairman --plot x.png", "ends in .svg"),
    ("lab claims S9-C99", "has no claim"),
    ("lab report x", "unexpected argument"),
    ("trace hello --perfetto no/such", "there is no folder no"),
    ("trace no-such-system", "there is no system"),
    ("trace hello --from 5us --to 2us", "nothing lies between them"),
    ("twin replay x", "give a number"),
    ("twin replay 1 --cpus 2 --locking none", "cannot have 2 CPUs"),
    ("twin fuzz --steps 0", "0 is not in"),
    ("twin fuzz --cpus 2 --locking none", "cannot have 2 CPUs"),
    ("twin speed x", "unexpected argument"),
    ("test --junit no/such.xml", "there is no folder no"),
    ("test --mutants no-such", "there is no mutant `no-such`"),
    ("test no-such-check-at-all", "no check has such a name"),
    ("lab model repairman --fit no-such.csv", "no-such.csv"),
    ("book x", "unexpected argument"),
    ("tidy x", "unexpected argument"),
    ("doctor x", "unexpected argument"),
];

/// A cargo that knows packages and builds nothing, but says that it should have.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
        let script = format!(
            "#!/bin/sh\ncase $1 in metadata) exec '{cargo}' \"$@\" ;; esac\n\
             echo \"$@\" >>'{}'\nexit 1\n",
            place.built().display()
        );
        fs::write(place.cargo(), script).unwrap();
        fs::set_permissions(place.cargo(), fs::Permissions::from_mode(0o755)).unwrap();
        place
    }

    fn cargo(&self) -> std::path::PathBuf {
        self.0.path().join("cargo")
    }

    fn built(&self) -> std::path::PathBuf {
        self.0.path().join("built")
    }

    /// Gives a command where nothing is built yet.
    fn giusto(&self, words: &[&str]) -> Output {
        let mut command = Command::new(std::env::var_os("CARGO_BIN_EXE_lab").unwrap());
        command.args(words).current_dir(self.0.path());
        command.env("CARGO", self.cargo()).env("CARGO_TARGET_DIR", self.0.path().join("target"));
        command.output().unwrap()
    }
}

#[test]
fn wrong_usage_is_refused_before_anything_is_built() {
    let place = Place::new();
    for (line, why) in WRONG {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = place.giusto(&words);
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(why), "{line}: {said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{line} says something before");
        assert_eq!(fs::read_to_string(place.built()).ok(), None, "{line} builds");
    }
    let left: BTreeSet<_> =
        fs::read_dir(place.0.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "cargo" || name == "target"), "{left:?}");
    // What is right is built, so that it would be seen.
    assert_ne!(place.giusto(&["run", "hello"]).status.code(), Some(0));
    assert!(Path::new(&place.built()).is_file());
}

#[test]
fn tests_of_a_system_that_cannot_run_are_refused_before_anything_is_built() {
    let place = Place::new();
    assert_eq!(place.giusto(&["new", "plant"]).status.code(), Some(0));
    let refused = |words: &[&str], why: &str| {
        let output = place.giusto(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
        assert_eq!(fs::read_to_string(place.built()).ok(), None, "{words:?} builds");
    };
    refused(&["test", "plant", "no such test"], "no check has such a name");
    let tests = place.0.path().join("plant/tests.toml");
    let right = fs::read_to_string(&tests).unwrap();
    fs::write(&tests, right.clone() + "[[test]]\nname = \"wrong\"\nmachines = [\"none\"]\n")
        .unwrap();
    refused(&["test", "plant"], "there is no machine `none`");
    let with = |key: &str| format!("{right}[[test]]\nname = \"wrong\"\n{key}\n");
    let last = right.lines().count() + 3;
    for (key, why) in [
        ("never = [{ pattern = '(' }]", "'(' is no regular expression: unclosed group"),
        ("misses = { client = 0 }", "no reservation `client` has a deadline"),
        ("latency = { cleint = \"1ms\" }", "did you mean `client`?"),
        ("input = [{ after = \"x\" }]", "missing field `type`"),
    ] {
        fs::write(&tests, with(key)).unwrap();
        refused(&["test", "plant"], why);
        refused(&["test", "plant"], &format!("{last}"));
    }
}

/// Options of cyclictest that cannot be used, each with what is said of it.
const OF_CYCLICTEST: [(&str, &str); 9] = [
    ("-x", "see `./giusto cyclictest --help`"),
    ("--quite", "'--quiet'"),
    ("-p 100", "100 is not in 0..=99"),
    ("-D 0s", "such as 10s"),
    ("-D 1x", "such as 10s"),
    ("-a 3-1", "such as 0-3 or 0,2"),
    ("-a 5 --cpus 2", "--cpus 2 gives 0 to 1"),
    ("-h 4294967295", "is not in 0..=32759"),
    ("-t 8 -h 4088", "room for 4087 bins each"),
];

#[test]
fn what_cyclictest_cannot_do_is_one_line() {
    let place = Place::new();
    for (options, mend) in OF_CYCLICTEST {
        let words: Vec<&str> = ["cyclictest"].into_iter().chain(options.split(' ')).collect();
        let Output { status, stdout, stderr } = place.giusto(&words);
        let said = String::from_utf8(stderr).unwrap();
        assert_eq!((status.code(), stdout), (Some(2), Vec::new()), "{options}: {said}");
        assert_eq!(said.lines().count(), 1, "{options}: {said}");
        assert!(said.starts_with("error: ") && said.contains(mend), "{options}: {said}");
    }
}

/// The commands that a help lists.
fn commands(place: &Place, words: &[&str]) -> Vec<String> {
    let output = place.giusto(&[words, &["--help"]].concat());
    let help = String::from_utf8(output.stdout).unwrap();
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| line.starts_with("  "));
    let named = lines.filter(|line| !line.starts_with("   "));
    named.map(|line| line.split_whitespace().next().unwrap().to_string()).collect()
}

#[test]
fn every_command_has_a_wrong_usage() {
    let place = Place::new();
    let all = commands(&place, &[]);
    assert!(all.len() >= 15, "{all:?}");
    for name in all {
        let below = commands(&place, &[&name]);
        let mut lines = vec![name.clone()];
        if !below.is_empty() {
            lines = below.iter().map(|below| format!("{name} {below}")).collect();
        }
        for line in lines.iter().filter(|line| !line.ends_with(" help")) {
            let is_of = |(wrong, _): &&(&str, &str)| {
                wrong == line || wrong.starts_with(&format!("{line} "))
            };
            // Commands without arguments take none.
            let words = line.split_whitespace().chain(["--no-such-option"]).collect::<Vec<_>>();
            assert_eq!(place.giusto(&words).status.code(), Some(2), "{line}");
            assert!(WRONG.iter().any(|it| is_of(&it)), "{line} has none");
        }
    }
}
