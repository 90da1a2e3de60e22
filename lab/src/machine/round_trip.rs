//! Follows one round trip of a client and a server, instruction by instruction.

use super::boot::pack;
use super::console::Interrupts;
use super::debugger::Debugger;
use super::memory::SharedFile;
use super::{Boot, Launch};
use crate::failure::{interrupted, usage};
use crate::leash;
use crate::scratch::Scratch;
use anyhow::Result;
use std::process::{Child, Stdio};

/// How often something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// What.
    pub name: &'static str,
    /// How often.
    pub value: u64,
    /// What exactly counts.
    pub note: &'static str,
}

/// An emulator that ends with this value.
struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Boots a system of a client and a server, lets `skip` round trips pass, and counts what the
/// instructions of the next one do: nothing on a machine in this process.
pub fn round_trip(boot: &Boot, skip: usize) -> Result<Vec<Count>> {
    let Some(emulator) = boot.machine.emulator() else { return Ok(Vec::new()) };
    let archive = pack(boot.images, boot.system, 0)?;
    let memory = SharedFile::new(boot.system.memory)?;
    let archive_file = SharedFile::with(&archive.bytes)?;
    let folder = Scratch::new()?;
    let socket = folder.path().join("debugger");
    let program = emulator.program();
    let launch = Launch {
        board: boot.board,
        icount: boot.icount,
        cpus: boot.system.cpus,
        memory: boot.system.memory,
        memory_file: Some(&memory.path()),
        kernel: &boot.images.kernel,
        archive: &archive_file.path(),
        command_line: &format!("kernel={}", boot.kernel),
        debugger: Some(&socket),
        plugin: None,
        devices: &[],
    };
    let interrupts = Interrupts::watch();
    let start = || {
        let mut command = leash::command(program)?;
        command.args(emulator.arguments(&launch));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        leash::spawn(command)
    };
    let child = start()
        .map_err(|error| usage(format!("cannot run {program}: {error}; see `./giusto doctor`")))?;
    let guest = Guest(child);
    let counted = Debugger::connect(&socket).and_then(|mut debugger| {
        emulator.count_round_trip(&mut debugger, &boot.images.kernel, skip)
    });
    drop(guest);
    if interrupts.any() {
        interrupted();
    }
    counted
}
