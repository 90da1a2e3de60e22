//! SDKs: one works in an empty folder where no checkout is, and is the same wherever it is made.

use super::builds::Builds;
use super::findings::{Findings, nothing_of};
use super::giusto;
use super::job::{Class, Job};
use super::mutants::synchronise;
use super::process::{self, Ended};
use crate::cli::Group;
use crate::commands::sdk;
use crate::image::Build;
use crate::machine::EMULATOR;
use crate::scratch::Scratch;
use crate::workspace;
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use manifest::TREE;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// No command of the small test takes longer, and none of the whole one.
const LIMIT: Duration = Duration::from_secs(120);
const LONG: Duration = Duration::from_secs(3600);

/// A line that the system which `new` makes prints.
const PRINTED: &str = "20 + 22 = 42";
/// A line of what `check` says of it, by the recorded figures.
const CHECKED: &str = "worst wake-up";

/// What a user does with programs in Rust, and what each command prints.
const IN_RUST: [(&str, &str); 7] = [
    ("check plant", CHECKED),
    ("run plant --icount", PRINTED),
    ("run plant --machine twin", PRINTED),
    ("test plant", "test result: ok."),
    ("run hello --icount", "guest: goodbye"),
    ("trace plant --sections", "reply-wait"),
    ("image plant -o shipped", "boot it: shipped/boot.sh"),
];

/// The jobs: an SDK without a laboratory of its own, and a whole one.
pub fn jobs() -> Vec<Job> {
    let small = |_: &mut Findings| small();
    let small = Job::new(Group::Target, "programs in C by an SDK, without a checkout", small)
        .builds(Builds::of(EMULATOR, Build::default().with(TREE)))
        .seconds(10.0);
    let whole = Job::new(Group::Search, "an SDK, made twice, used without a checkout", whole)
        .class(Class::Deep)
        .builds(Builds::Own("everything"))
        .seconds(1100.0);
    vec![small, whole]
}

/// A user with an SDK, whose environment and files tell of no checkout.
struct User {
    place: Scratch,
    limit: Duration,
}

impl User {
    fn new(limit: Duration) -> Result<User> {
        let user = User { place: Scratch::new()?, limit };
        fs::create_dir(user.home())?;
        fs::create_dir(user.folder())?;
        Ok(user)
    }

    fn sdk(&self) -> PathBuf {
        self.place.path().join("sdk")
    }

    /// Where the user works.
    fn folder(&self) -> PathBuf {
        self.place.path().join("work")
    }

    fn home(&self) -> PathBuf {
        self.place.path().join("home")
    }

    /// Gives a command without a network, below the user's folder.
    fn gives(&self, program: &Path, words: &str) -> Result<Ended> {
        let cargo = workspace::cargo_home().context("cargo has no folder")?;
        let own = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".rustup"));
        let rustup = std::env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(own);
        let path = std::env::var_os("PATH").context("there is no PATH")?;
        let mut command = Command::new("env");
        command.args(["-i", "CARGO_NET_OFFLINE=true"]).current_dir(self.folder());
        for (name, value) in [
            ("HOME", self.home()),
            ("CARGO_HOME", cargo),
            ("RUSTUP_HOME", rustup.context("rustup has no folder")?),
            ("PATH", path.into()),
            ("GIUSTO_SDK", self.sdk()),
        ] {
            command.arg(format!("{name}={}", value.display()));
        }
        process::run(command.arg(program).args(words.split_whitespace()), self.limit)
    }

    /// Gives a command that must end well and print something.
    fn does(&self, program: &Path, words: &str, printed: &str) -> Result<()> {
        let ended = self.gives(program, words)?;
        let said = ended.failure(30).unwrap_or_default();
        ensure!(ended.code() == Some(0), "`{words}`: {said}");
        ensure!(ended.output.contains(printed), "`{words}` prints no {printed}: {}", ended.output);
        Ok(())
    }

    fn giusto(&self, words: &str, printed: &str) -> Result<()> {
        self.does(&self.sdk().join("giusto"), words, printed)
    }

    /// A new system names the SDK by its version.
    fn begins(&self) -> Result<()> {
        self.giusto("new plant", "read on:  plant/README.md")?;
        let crates = fs::read_to_string(self.folder().join("plant/Cargo.toml"))?;
        let wanted = format!("package = \"giusto-rt\", version = {:?}", env!("CARGO_PKG_VERSION"));
        ensure!(crates.contains(&wanted), "plant/Cargo.toml: {crates}");
        self.giusto("check plant", CHECKED)
    }
}

/// The checks of programs in C and of refusals, which compile no Rust.
fn small() -> Result<()> {
    let user = User::new(LIMIT)?;
    sdk::write(&user.sdk(), workspace::program()?, &[Build::default()])?;
    // The laboratory of a checkout names that to debuggers.
    names_no(&user.sdk(), workspace::root(), Some("bin"))?;
    user.begins()?;
    user.giusto("new field --c", "read on:  field/README.md")?;
    // It names no place, so it can be moved.
    fs::rename(user.folder().join("field"), user.folder().join("elsewhere"))?;
    user.giusto("check elsewhere", CHECKED)?;
    user.giusto("run elsewhere --icount", PRINTED)?;
    for (words, why) in [
        ("tidy", "`tidy` is about Giusto's own source"),
        ("test", "`test` without a system's folder is about"),
        ("lab run lock-cost", "this SDK has no source of `native`"),
    ] {
        let ended = user.gives(&user.sdk().join("giusto"), words)?;
        let said = ended.output.split_whitespace().collect::<Vec<_>>().join(" ");
        ensure!(ended.code() == Some(2) && said.contains(why), "{words}: {said}");
    }
    Ok(())
}

/// An SDK is made in a copy of the work tree at another place, from nothing, and is the same as one
/// that is made here. The copy is removed before the SDK is used.
fn whole(findings: &mut Findings) -> Result<()> {
    let user = User::new(LONG)?;
    let copy = user.place.path().join("copy");
    let mut git = Command::new("git");
    git.args(["clone", "-q"]).arg(workspace::root()).arg(&copy);
    done(&mut git)?;
    synchronise(workspace::root(), &copy)?;
    let mut make = Command::new(copy.join("giusto"));
    make.args(["--no-install", "sdk", "-o"]).arg(user.sdk());
    done(make.env_remove("CARGO_TARGET_DIR").env_remove("CARGO"))?;
    fs::remove_dir_all(&copy)?;
    let here = user.place.path().join("here");
    done(giusto()?.args(["sdk", "-o"]).arg(&here))?;
    findings.record("an SDK is the same wherever it is made", same(&user.sdk(), &here));
    fs::remove_dir_all(&here)?;
    let places =
        [copy.as_path(), workspace::root()].map(|place| names_no(&user.sdk(), place, None));
    findings.record("an SDK names no checkout", places.into_iter().collect::<Result<()>>());
    user.begins()?;
    for (words, printed) in IN_RUST {
        findings.record(format!("an SDK does `{words}`"), user.giusto(words, printed));
    }
    // A system of another machine's user, whose SDK lies elsewhere.
    let moved = user.place.path().join("moved");
    fs::rename(user.folder().join("plant"), &moved)?;
    findings.record("a system is moved", user.giusto("run ../moved --icount", PRINTED));
    let mut sums = Command::new("sha256sum");
    sums.args(["--check", "--quiet", sdk::SUMS]).current_dir(user.sdk());
    findings.record("an SDK stays as it is made", done(&mut sums));
    Ok(())
}

fn done(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failure = process::run(command, LONG)?.failure(30);
    nothing_of(failure).with_context(|| format!("{name} fails"))
}

/// Whether two SDKs have the same files: each tells the sums of its own.
fn same(one: &Path, other: &Path) -> Result<()> {
    let [one, other] = [one, other].map(|root| fs::read_to_string(root.join(sdk::SUMS)));
    let (one, other) = (one?, other?);
    let differs = one.lines().filter(|line| !other.lines().any(|known| known == *line));
    nothing_of(differs)?;
    ensure!(one == other, "one SDK has files that the other one has not");
    Ok(())
}

/// Whether no file of an SDK names a place; a folder of it may be left out.
fn names_no(root: &Path, place: &Path, apart: Option<&str>) -> Result<()> {
    let mut grep = Command::new("grep");
    grep.args(apart.map(|folder| format!("--exclude-dir={folder}")));
    let ended = process::run(grep.args(["-rlF", "-e"]).arg(place).arg(root), LIMIT)?;
    ensure!(ended.code() == Some(1), "these name {}:\n{}", place.display(), ended.output);
    Ok(())
}
