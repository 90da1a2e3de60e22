//! `doctor`: the tools that are needed, and how to get what is missing.

use super::print_json;
use crate::failure::Verdict;
use crate::gdb;
use crate::machine::{MACHINES, MEMORY_FILES};
use crate::output;
use crate::workspace;
use anyhow::Result;
use comfy_table::Table;
use serde::Serialize;
use std::path::Path;
use std::process::Command;

/// A tool and what became of looking for it.
#[derive(Serialize)]
struct Tool {
    name: String,
    needed_for: &'static str,
    required: bool,
    /// `None` if it is missing.
    version: Option<String>,
    /// Why it will not do although it is there.
    problem: Option<String>,
    install: String,
}

impl Tool {
    fn is_ready(&self) -> bool {
        self.version.is_some() && self.problem.is_none()
    }

    /// What is wrong with it and what to do about it.
    fn sentence(&self) -> String {
        let Tool { name, install, .. } = self;
        let kind = if self.required { "" } else { ", optional" };
        match &self.problem {
            Some(problem) => format!("unusable{kind}: {name} {problem}; {install}"),
            None => format!("missing{kind}: {name}; {install}"),
        }
    }
}

/// Looks for every tool. A required one that is missing makes the exit status 2.
pub fn doctor(as_json: bool) -> Result<Verdict> {
    let tools = tools();
    let missing: Vec<&Tool> =
        tools.iter().filter(|tool| tool.required && !tool.is_ready()).collect();
    if as_json {
        print_json(&serde_json::json!({"tools": tools, "missing": missing.len()}));
    } else {
        output::line(super::fitted(table(&tools)).trim_end());
        tools.iter().filter(|tool| !tool.is_ready()).for_each(|tool| output::line(tool.sentence()));
        output::line(if missing.is_empty() { "everything needed is there" } else { "not ready" });
    }
    if missing.is_empty() {
        return Ok(Verdict::Held);
    }
    Ok(Verdict::Unable)
}

fn table(tools: &[Tool]) -> Table {
    let mut table = super::table(&["tool", "needed for", "version"]);
    for tool in tools {
        let version = tool.version.as_deref().unwrap_or("-");
        table.add_row([&tool.name, tool.needed_for, version]);
    }
    table
}

/// Programs that say their version: what they are needed for, whether nothing works without them,
/// and how they are installed.
const PROGRAMS: [(&str, &str, bool, &str); 7] = [
    ("rustc", "building", true, "rustup toolchain install"),
    ("cargo", "building", true, "rustup toolchain install"),
    ("cc", "linking the laboratory, programs in C", true, "apt-get install gcc libc6-dev"),
    ("clang", "test", false, "apt-get install clang"),
    ("cargo-clippy", "test", true, "rustup component add clippy"),
    ("rustfmt", "test", true, "rustup component add rustfmt"),
    ("git", "test --mutants, commit in results", false, "apt-get install git"),
];

fn tools() -> Vec<Tool> {
    let tool = |name: &str, needed_for, required, version, install: &str| Tool {
        name: name.to_string(),
        needed_for,
        required,
        version,
        problem: None,
        install: install.to_string(),
    };
    let plain = |name: &str| first_line(name, &["--version"]);
    // An SDK does not test Giusto itself.
    let is_used = |purpose: &str| workspace::sdk().is_none() || !purpose.starts_with("test");
    let mut tools: Vec<Tool> = PROGRAMS
        .into_iter()
        .filter(|(_, purpose, ..)| is_used(purpose))
        .map(|(name, purpose, required, install)| {
            tool(name, purpose, required, plain(name), &format!("run: {install}"))
        })
        .collect();
    for machine in MACHINES.iter().filter_map(|machine| machine.emulator()) {
        let target = machine.target();
        let add = format!("run: rustup target add {target}");
        tools.push(tool(target, machine.name(), true, target_library(target), &add));
        let install = format!("run: apt-get install {}", machine.emulator_package());
        let emulator = machine.program();
        let mut found = tool(emulator, machine.name(), true, plain(emulator), &install);
        found.problem = found.version.as_deref().and_then(|v| too_old(v, machine.least_version()));
        tools.push(found);
    }
    let install = format!("run: apt-get install {}", gdb::PACKAGE);
    tools.push(tool(gdb::PROGRAM, "run --gdb, test", false, plain(gdb::PROGRAM), &install));
    let memory = Path::new(MEMORY_FILES).is_dir().then(|| "directory in memory".to_string());
    let without = "without it RAM of emulated machines is a file in the temporary directory";
    tools.push(tool(MEMORY_FILES, "speed", false, memory, without));
    let build = workspace::build_directory();
    let writable = tempfile::tempfile_in(&build).is_ok().then(|| workspace::shown(&build));
    let elsewhere = "set CARGO_TARGET_DIR to a directory that can be written to";
    tools.push(tool("build directory", "building", true, writable, elsewhere));
    tools
}

/// Why a version, in the first line that a program prints, is too old.
fn too_old(line: &str, least: (u32, u32)) -> Option<String> {
    let number = |part: &str| part.parse::<u32>().ok();
    let version = line.split_whitespace().find_map(|word| {
        let mut parts = word.split('.').map(number);
        Some((parts.next()??, parts.next()??))
    });
    let (major, minor) = least;
    match version {
        Some(version) if version >= least => None,
        Some((a, b)) => Some(format!("is version {a}.{b}, and {major}.{minor} or newer is needed")),
        None => Some(format!("does not say its version; {major}.{minor} or newer is needed")),
    }
}

/// The first line that a program prints, if it runs and succeeds.
fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(workspace::root()).output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_string())
}

/// Whether the compiler has its library for a target.
fn target_library(target: &str) -> Option<String> {
    let directory = first_line("rustc", &["--print", "target-libdir", "--target", target])?;
    std::path::Path::new(&directory).is_dir().then(|| "installed".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_exist_is_missing() {
        assert_eq!(first_line("no-such-program", &["--version"]), None);
        assert!(first_line("cargo", &["--version"]).unwrap().starts_with("cargo "));
        assert_eq!(target_library("no-such-target"), None);
    }

    #[test]
    fn an_old_emulator_will_not_do() {
        let line = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)";
        assert_eq!(too_old(line, (7, 2)), None);
        assert_eq!(too_old(&line.replace("7.2.22", "10.0.2"), (7, 2)), None);
        let old = too_old(&line.replace("7.2.22", "6.10.0"), (7, 2)).unwrap();
        assert_eq!(old, "is version 6.10, and 7.2 or newer is needed");
        assert!(too_old("QEMU", (7, 2)).unwrap().starts_with("does not say"));
    }

    #[test]
    fn the_launcher_asks_for_the_same_version() {
        let launcher = include_str!("../../../giusto");
        for machine in MACHINES.iter().filter_map(|machine| machine.emulator()) {
            let (major, minor) = machine.least_version();
            assert!(launcher.contains(&format!("least_qemu={major}.{minor}\n")));
        }
    }
}
