//! `doctor`: the tools that are needed, and how to get what is missing.

use super::print_json;
use crate::failure::Verdict;
use crate::machine::MACHINES;
use crate::output;
use crate::workspace;
use anyhow::Result;
use comfy_table::Table;
use serde::Serialize;
use std::process::Command;

/// A tool and what became of looking for it.
#[derive(Serialize)]
struct Tool {
    name: String,
    needed_for: &'static str,
    required: bool,
    /// `None` if it is missing.
    version: Option<String>,
    install: String,
}

/// Looks for every tool. A required one that is missing makes the exit status 2.
pub fn doctor(as_json: bool) -> Result<Verdict> {
    let tools = tools();
    let missing: Vec<&Tool> =
        tools.iter().filter(|tool| tool.required && tool.version.is_none()).collect();
    if as_json {
        print_json(&serde_json::json!({"tools": tools, "missing": missing.len()}));
    } else {
        output::line(table(&tools).trim_fmt());
        let wanted = tools.iter().filter(|tool| tool.version.is_none());
        for tool in wanted {
            let kind = if tool.required { "missing" } else { "missing, optional" };
            output::line(format_args!("{kind}: {}; run: {}", tool.name, tool.install));
        }
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

fn tools() -> Vec<Tool> {
    let tool = |name: &str, needed_for, required, version, install: &str| Tool {
        name: name.to_string(),
        needed_for,
        required,
        version,
        install: install.to_string(),
    };
    let plain = |name: &str| first_line(name, &["--version"]);
    let mut tools = vec![
        tool("rustc", "building", true, plain("rustc"), "rustup toolchain install"),
        tool("cargo", "building", true, plain("cargo"), "rustup toolchain install"),
        tool("cc", "linking the laboratory", true, plain("cc"), "apt-get install gcc libc6-dev"),
        tool("cargo-clippy", "test", true, plain("cargo-clippy"), "rustup component add clippy"),
        tool("rustfmt", "test", true, plain("rustfmt"), "rustup component add rustfmt"),
        tool(
            "git",
            "test --mutants, commit in results",
            false,
            plain("git"),
            "apt-get install git",
        ),
    ];
    for machine in MACHINES.iter().filter_map(|machine| machine.emulator()) {
        let target = machine.target();
        let add = format!("rustup target add {target}");
        tools.push(tool(target, machine.name(), true, target_library(target), &add));
        let install = format!("apt-get install {}", machine.emulator_package());
        let emulator = machine.program();
        tools.push(tool(emulator, machine.name(), true, plain(emulator), &install));
    }
    tools
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
}
