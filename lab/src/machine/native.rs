//! This host: a program that runs the kernel's core on pinned threads.

use super::Platform;
use crate::failure::usage;
use anyhow::{Context, Result, bail};
use results::Origin;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Its exit status when it cannot do what was asked for.
const REFUSED: i32 = 2;

/// The package and the program that measures.
pub const PROGRAM: (&str, &str) = ("native", "giusto-native");

/// The platform.
pub struct Native;

impl Platform for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn unit(&self) -> &'static str {
        "counter ticks"
    }

    fn origin(&self) -> Origin {
        Origin::HARDWARE
    }
}

/// What the program prints.
#[derive(Debug, Deserialize)]
pub struct Host<T> {
    /// Ticks of the counter in a second.
    pub hertz: u64,
    /// Whether the processor has transactions that can commit.
    pub transactions: bool,
    /// What the processor calls itself.
    pub processor: String,
    /// The socket of each CPU that the program may use.
    pub sockets: Vec<usize>,
    /// What was measured.
    pub found: T,
}

impl<T> Host<T> {
    /// CPUs of the first socket.
    pub fn in_socket(&self) -> usize {
        self.sockets.iter().filter(|socket| Some(*socket) == self.sockets.first()).count()
    }
}

/// Messages of one locking on one CPU.
#[derive(Debug, Deserialize)]
pub struct Cost {
    /// The locking.
    pub locking: String,
    /// Ticks of each batch.
    pub batches: Vec<u64>,
    /// Messages of each.
    pub messages_in_batch: u64,
    /// Messages that were sent in all.
    pub messages: u64,
}

/// Messages of several CPUs.
#[derive(Debug, Deserialize)]
pub struct Throughput {
    /// The locking.
    pub locking: String,
    /// The mean think time in ticks.
    pub think: u64,
    /// How many CPUs.
    pub cpus: usize,
    /// Windows of time.
    pub windows: Vec<Window>,
}

/// See [`Throughput`].
#[derive(Debug, Deserialize)]
pub struct Window {
    /// Messages of all CPUs.
    pub messages: u64,
    /// In a second.
    pub per_second: u64,
    /// Whether the host ran something else meanwhile.
    pub disturbed: bool,
}

/// Cache lines on their way.
#[derive(Debug, Deserialize)]
pub struct Lines {
    /// One line that two CPUs modify in turn.
    pub pings: Vec<Ping>,
    /// Lines that one CPU has modified and one reads.
    pub levels: Vec<Level>,
}

/// See [`Lines`].
#[derive(Debug, Deserialize)]
pub struct Ping {
    /// Both CPUs.
    pub between: [usize; 2],
    /// Ticks for one way.
    pub ticks: Vec<u64>,
}

/// See [`Lines`].
#[derive(Debug, Deserialize)]
pub struct Level {
    /// The level's name.
    pub level: String,
    /// Bytes of the buffer that was used.
    pub bytes: u64,
    /// The CPU that wrote.
    pub writer: usize,
    /// The CPU that read.
    pub reader: usize,
    /// Hundredths of ticks for one load.
    pub hundredths: Vec<u64>,
}

/// Series of operations of many threads on one CPU.
#[derive(Debug, Deserialize)]
pub struct Series {
    /// Messages in the ring, or clients.
    pub size: u64,
    /// Hops, or clients served, in each.
    pub operations: u64,
    /// Ticks of each.
    pub ticks: Vec<u64>,
}

/// Messages between programs of a client/server load.
#[derive(Debug, Deserialize)]
pub struct Messages {
    /// What programs do in between.
    pub case: String,
    /// Ticks of each batch.
    pub batches: Vec<u64>,
    /// Messages of each.
    pub messages_in_batch: u64,
}

/// Runs the program and reads what it has measured. What it says besides is passed on.
pub fn run<T: DeserializeOwned>(program: &Path, arguments: &[&str]) -> Result<Host<T>> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(REFUSED) {
        let reason = said.lines().find_map(|line| line.strip_prefix("error: "));
        return Err(usage(format!("machine native: {}", reason.unwrap_or(said.trim()))));
    }
    if !output.status.success() {
        bail!("machine native ended with {}:\n{}", output.status, said.trim());
    }
    pass_on(&said);
    serde_json::from_slice(&output.stdout)
        .context("machine native prints what this laboratory does not understand")
}

/// Shows what the program says, each line once.
fn pass_on(said: &str) {
    static SHOWN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    for line in said.lines() {
        if !shown.iter().any(|known| known == line) {
            eprintln!("native: {line}");
            shown.push(line.to_string());
        }
    }
}
