//! `[[device]]` of a virtio kind: what the emulator gives the board, by its name.

use std::path::Path;

use abi::PAGE;

use crate::files;
use crate::memory::{self, Memory};
use crate::problem::{Problem, Span};
use crate::schema::{self, Manifest};
use crate::system::System;
use crate::values::Values;

/// How virtio kinds begin.
const PREFIX: &str = "virtio-";
/// The kinds, as they are called in manifests.
pub const KINDS: [&str; 3] = ["virtio-rng", "virtio-blk", "virtio-net"];

/// The registers of the first place of the board `microvm`, those of each, and the IRQ of the first
/// place: all of it as QEMU has it with one interrupt controller.
const FIRST: u64 = 0xfeb0_0000;
const REGISTERS: u64 = 0x200;
const FIRST_IRQ: u32 = 16;
const PLACES: u32 = 8;

/// The most bytes of a disk.
const MOST: u64 = 2 << 30;

/// A device of the emulator.
#[derive(Clone, Debug)]
pub struct Attached {
    /// Its name.
    pub name: String,
    /// Its place on the board.
    pub place: u32,
    /// What it is.
    pub function: Function,
    /// Where the manifest has it.
    pub at: Span,
}

/// What a device is.
#[derive(Clone, Debug)]
pub enum Function {
    /// It has random bytes.
    Entropy,
    /// It keeps blocks.
    Disk {
        /// What is on it at first; the rest is zero.
        contents: Vec<u8>,
        /// Its size in bytes.
        bytes: u64,
    },
    /// It sends and receives frames.
    Network {
        /// UDP ports at which the host reaches the system.
        forward: Vec<u16>,
    },
}

impl Attached {
    /// The kind, as manifests call it.
    pub fn kind(&self) -> &'static str {
        match self.function {
            Function::Entropy => KINDS[0],
            Function::Disk { .. } => KINDS[1],
            Function::Network { .. } => KINDS[2],
        }
    }

    /// Its IRQ.
    pub fn irq(&self) -> u32 {
        FIRST_IRQ + self.place
    }
}

/// Whether a device of the manifest is one of the emulator's.
pub fn is(given: &schema::Device) -> bool {
    given.kind.get_ref().starts_with(PREFIX)
}

/// Adds the devices of the emulator, and the memories of their registers behind all others.
pub fn add(
    values: &Values,
    folder: &Path,
    manifest: &Manifest,
    system: &mut System,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut places = (0..PLACES).filter(|place| !has_irq(manifest, FIRST_IRQ + place));
    for given in &manifest.device {
        let place = places.next().ok_or_else(|| {
            let message = format!("the board has {PLACES} places for devices");
            values.problem(&given.name, message, "leave this one out, or free an IRQ from 16 on")
        });
        match place.and_then(|place| device(values, folder, given, place)) {
            Ok(one) => system.attached.push(one),
            Err(problem) => problems.push(problem),
        }
    }
    problems.extend(taken(values, manifest, system));
    let registers = |one: &Attached| {
        Memory::registers(&one.name, FIRST + REGISTERS * u64::from(one.place), REGISTERS)
    };
    let memories: Vec<Memory> = system.attached.iter().map(registers).collect();
    system.memories.extend(memories);
    problems
}

/// Whether the manifest uses a line by its number.
fn has_irq(manifest: &Manifest, irq: u32) -> bool {
    let mut lines = manifest.interrupt.iter().filter_map(|it| it.irq.as_ref());
    lines.any(|line| *line.get_ref() == i128::from(irq))
}

/// Memory that the manifest has where the devices are: it might say something else of the page.
fn taken(values: &Values, manifest: &Manifest, system: &System) -> Option<Problem> {
    let end = FIRST + REGISTERS * u64::from(PLACES);
    let is_there = |memory: &Memory| match memory.medium {
        memory::Medium::Ram | memory::Medium::Ports { .. } => false,
        memory::Medium::Device { at, .. } => at < end && FIRST < at + memory.bytes,
    };
    let place = system.memories.iter().position(is_there)?;
    let at = manifest.memory.get(place)?.at.as_ref()?;
    let help = "map devices by their names instead, `maps = [{ memory = \"NAME\", ... }]`";
    Some(values.problem(at, "the devices of the board lie there", help))
}

fn device(
    values: &Values,
    folder: &Path,
    given: &schema::Device,
    place: u32,
) -> Result<Attached, Problem> {
    let kind = values.one_of("kind of device", &given.kind, &KINDS)?;
    let other = |key: &str, of: &str| {
        let message = format!("a device of this kind has no `{key}`");
        Err(values.problem(&given.kind, message, format!("that is for {of}: leave it out")))
    };
    if given.wire.is_some() || !given.wires.is_empty() || !given.parameters.is_empty() {
        return other("wire", "simulated devices, as `parameters` are");
    }
    if given.disk.is_some() && kind != KINDS[1] {
        return other("disk", KINDS[1]);
    }
    if given.forward.is_some() && kind != KINDS[2] {
        return other("forward", KINDS[2]);
    }
    let function = match KINDS.iter().position(|known| *known == kind) {
        Some(0) => Function::Entropy,
        Some(1) => disk(values, folder, given)?,
        _ => Function::Network { forward: forward(values, given)? },
    };
    let (name, at) = (given.name.get_ref().clone(), given.name.span());
    Ok(Attached { name, place, function, at })
}

fn disk(values: &Values, folder: &Path, given: &schema::Device) -> Result<Function, Problem> {
    let Some(disk) = &given.disk else {
        let help = "write disk = { size = \"1M\" }, or { files = \"FOLDER\" }";
        return Err(values.problem(&given.name, "this device has no `disk`", help));
    };
    let contents = disk.files.as_ref().map(|files| files::pack(values, folder, files));
    let contents = contents.transpose()?.unwrap_or_default();
    let needed = disk.files.as_ref().map(|_| contents.len() as u64);
    let bytes = memory::size(values, "disk", (&given.name, disk.size.as_ref()), needed, MOST)?;
    Ok(Function::Disk { contents, bytes: bytes.max(PAGE) })
}

fn forward(values: &Values, given: &schema::Device) -> Result<Vec<u16>, Problem> {
    let ports = given.forward.iter().flat_map(|ports| ports.get_ref());
    ports.map(|port| values.within(port, 1..=u16::MAX.into()).map(|port| port as u16)).collect()
}
