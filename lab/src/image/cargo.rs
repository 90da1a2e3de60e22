//! Cargo, and what it says.

use crate::failure::usage;
use crate::leash;
use crate::progress::Late;
use crate::workspace;
use anyhow::{Context, Result, bail};
use cargo_metadata::{Artifact, Message, TargetKind};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;

/// Builds what the arguments say; returns the executables by name.
pub fn build(title: &str, arguments: &[&str]) -> Result<BTreeMap<String, PathBuf>> {
    let mut cargo = workspace::cargo(&["build"]);
    cargo.args(arguments);
    cargo.args(["--message-format", "json-render-diagnostics", "--color", "never"]);
    let start = || {
        let mut cargo = leash::of(&cargo)?;
        cargo.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        leash::spawn(cargo)
    };
    let mut child = start()
        .map_err(|error| usage(format!("cannot run cargo: {error}; see `./giusto doctor`")))?;
    let (messages, diagnostics) = follow(&mut child, title)?;
    if !child.wait()?.success() {
        bail!("{title}: it failed:\n{}", readable(&diagnostics));
    }
    let named = |built: Artifact| {
        let library = || built.filenames.iter().find(|name| name.extension() == Some("so"));
        let file = built.executable.as_ref().or_else(library)?.clone();
        Some((built.target.name, file.into_std_path_buf()))
    };
    Ok(artifacts(&messages).filter(is_program_or_library).filter_map(named).collect())
}

/// Reads both outputs of cargo to their ends and shows what it is doing, once it compiles.
fn follow(child: &mut Child, title: &str) -> Result<(String, Vec<String>)> {
    let mut stdout = child.stdout.take().context("no standard output")?;
    let stderr = child.stderr.take().context("no standard error")?;
    let messages = thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let mut diagnostics = Vec::new();
    let mut step = Late::new(title);
    for line in BufReader::new(stderr).lines() {
        let line = line?;
        step.said(&line);
        diagnostics.push(line);
    }
    let messages = messages.join().expect("the reader does not panic")?;
    Ok((messages, diagnostics))
}

/// Cargo's diagnostics without its progress lines.
fn readable(diagnostics: &[String]) -> String {
    let progress =
        ["Compiling ", "Downloading ", "Downloaded ", "Locking ", "Updating ", "Blocking "];
    let kept = diagnostics
        .iter()
        .filter(|line| !progress.iter().any(|start| line.trim_start().starts_with(start)));
    kept.map(|line| format!("{line}\n")).collect()
}

/// The executables that cargo's messages name.
pub fn executables(messages: &str) -> Vec<Artifact> {
    artifacts(messages).filter(|artifact| artifact.executable.is_some()).collect()
}

fn artifacts(messages: &str) -> impl Iterator<Item = Artifact> {
    Message::parse_stream(messages.as_bytes()).filter_map(|message| match message {
        Ok(Message::CompilerArtifact(artifact)) => Some(artifact),
        _ => None,
    })
}

/// Whether an artifact can be started, or loaded by a program in another language.
fn is_program_or_library(artifact: &Artifact) -> bool {
    artifact.executable.is_some() || artifact.target.kind.contains(&TargetKind::CDyLib)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_lines_are_no_diagnostics() {
        let lines = ["   Compiling abi v0.1.0", "error: no such thing", "  --> a.rs:1:2"];
        let kept = readable(&lines.map(String::from));
        assert_eq!(kept, "error: no such thing\n  --> a.rs:1:2\n");
    }
}
