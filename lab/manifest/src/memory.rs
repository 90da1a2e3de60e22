//! `[[memory]]`: RAM, what a board has at an address, or I/O ports.

use std::ops::Range;
use std::path::Path;

use abi::PAGE;
use abi::boot::Cache;

use crate::files;
use crate::problem::Problem;
use crate::schema::{self, Manifest, Word};
use crate::system::System;
use crate::units::spell_size;
use crate::values::Values;

/// The most bytes of a memory.
const MOST: u64 = 2 << 30;
/// How many I/O ports there are.
const PORTS: u64 = 1 << 16;
/// End of physical addresses.
const END: u64 = 1 << 52;

/// A memory object that domains map or hold capabilities to.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// Its size in bytes, a multiple of the page; I/O ports have none.
    pub bytes: u64,
    /// Whether the host reads it after the run.
    pub host: bool,
    /// What it begins with: the archive of its files; the rest is zero.
    pub contents: Vec<u8>,
    /// What it is.
    pub medium: Medium,
}

/// What memory consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Medium {
    /// RAM.
    #[default]
    Ram,
    /// A device's registers or memory.
    Device {
        /// Its physical address.
        at: u64,
        /// How the processor may keep what is there.
        cache: Cache,
    },
    /// I/O ports, which calls reach.
    Ports {
        /// The first one.
        first: u16,
        /// How many.
        number: u32,
    },
}

impl Memory {
    /// RAM that the host reads after the run, or not.
    pub fn ram(name: &str, bytes: u64, host: bool) -> Memory {
        Memory { name: name.to_string(), bytes, host, contents: Vec::new(), medium: Medium::Ram }
    }

    /// The registers of a device, which need not begin a page.
    pub(crate) fn registers(name: &str, at: u64, bytes: u64) -> Memory {
        let medium = Medium::Device { at, cache: Cache::default() };
        Memory { medium, ..Memory::ram(name, bytes, false) }
    }

    /// Bytes in front of it in its first page, which is mapped as a whole.
    pub(crate) fn offset(&self) -> u64 {
        match self.medium {
            Medium::Ram | Medium::Ports { .. } => 0,
            Medium::Device { at, .. } => at % PAGE,
        }
    }

    /// The pages in which it lies.
    pub(crate) fn pages(&self) -> u64 {
        (self.offset() + self.bytes).div_ceil(PAGE)
    }

    /// Whether it takes RAM.
    pub fn is_ram(&self) -> bool {
        self.medium == Medium::Ram
    }
}

/// Reads one, with the files of this folder that it holds.
pub fn read(values: &Values, folder: &Path, given: &schema::Memory) -> Result<Memory, Problem> {
    if let Some(medium) = ports(values, given)? {
        return Ok(Memory { medium, ..Memory::ram(given.name.get_ref(), 0, false) });
    }
    let contents = given.files.as_ref().map(|files| files::pack(values, folder, files));
    let contents = contents.transpose()?.unwrap_or_default();
    let needed = given.files.as_ref().map(|_| contents.len() as u64);
    let bytes = size(values, "memory", (&given.name, given.size.as_ref()), needed, MOST)?;
    let medium = medium(values, given, bytes)?;
    if medium != Medium::Ram && (given.host || given.files.is_some()) {
        let (key, does) = match given.host {
            true => ("host", "the host cannot read device memory"),
            false => ("files", "device memory holds no files"),
        };
        let help = format!("that takes RAM: leave `{key}` or `at` out");
        return Err(values.problem(&given.name, does, help));
    }
    Ok(Memory { name: given.name.get_ref().clone(), bytes, host: given.host, contents, medium })
}

/// The size of a memory or disk, which need not be given where its files say it.
pub fn size(
    values: &Values,
    what: &str,
    (name, size): (&Word, Option<&Word>),
    files: Option<u64>,
    most: u64,
) -> Result<u64, Problem> {
    let needed = files.map(|bytes| bytes.next_multiple_of(PAGE));
    let Some(size) = size else {
        let help = "write for instance size = \"64K\", or the files that it holds";
        return needed.ok_or_else(|| values.problem(name, "`size` is missing", help));
    };
    let bytes = values.size(size, PAGE..=most)?;
    if let Some(needed) = needed.filter(|needed| *needed > bytes) {
        let needed = spell_size(needed);
        let message = format!("the files of this {what} take {needed}");
        return Err(values.problem(size, message, format!("write {needed:?}, or leave it out")));
    }
    Ok(bytes)
}

/// The I/O ports that one is, if it is some.
fn ports(values: &Values, given: &schema::Memory) -> Result<Option<Medium>, Problem> {
    let (first, number) = match (&given.port, &given.ports) {
        (None, None) => return Ok(None),
        (Some(first), Some(number)) => (first, number),
        (Some(first), None) => {
            let help = "write how many there are, for instance ports = 2";
            return Err(values.problem(first, "`ports` is missing", help));
        }
        (None, Some(number)) => {
            let help = "write the first one, for instance port = 0x70";
            return Err(values.problem(number, "`port` is missing", help));
        }
    };
    let others = [
        ("size", given.size.is_some()),
        ("at", given.at.is_some()),
        ("cache", given.cache.is_some()),
        ("files", given.files.is_some()),
        ("host", given.host),
    ];
    if let Some((key, _)) = others.into_iter().find(|(_, is_given)| *is_given) {
        let message = format!("I/O ports have no `{key}`");
        let help = format!("they are no memory that is mapped: leave `{key}` or the ports out");
        return Err(values.problem(&given.name, message, help));
    }
    let first = values.within(first, 0..=PORTS - 1)?;
    let number = values.within(number, 1..=PORTS - first)?;
    Ok(Some(Medium::Ports { first: first as u16, number: number as u32 }))
}

/// What domains want of I/O ports that these do not have: pages, and a place in memory.
pub fn mapped_ports(values: &Values, manifest: &Manifest) -> Vec<Problem> {
    let is_ports = |word: &Word| {
        let mut memories = manifest.memory.iter();
        memories.any(|it| it.name.get_ref() == word.get_ref() && it.port.is_some())
    };
    let mut problems = Vec::new();
    for domain in manifest.domain.iter().map(|domain| domain.get_ref()) {
        for map in domain.maps.iter().filter(|map| is_ports(&map.memory)) {
            let help = "give the domain a capability to it instead: `caps = [{ memory = ... }]`";
            problems.push(values.problem(&map.memory, "I/O ports cannot be mapped", help));
        }
        let caps = domain.caps.iter().map(|cap| cap.get_ref());
        for cap in caps.filter(|cap| cap.memory.as_ref().is_some_and(is_ports)) {
            let rights = cap.rights.iter().flat_map(|rights| rights.get_ref());
            let of_pages = |right: &&Word| ["execute", "physical"].contains(&&right.get_ref()[..]);
            for right in rights.filter(of_pages) {
                let message = format!("I/O ports have no right `{}`", right.get_ref());
                let help = "that is for memory: take `read` and `write`";
                problems.push(values.problem(right, message, help));
            }
        }
    }
    problems
}

fn medium(values: &Values, given: &schema::Memory, bytes: u64) -> Result<Medium, Problem> {
    let Some(at) = &given.at else {
        let help = "add `at` with the physical address of device memory, or leave `cache` out";
        let alone = |word| Err(values.problem(word, "RAM has no attribute of its own", help));
        return given.cache.as_ref().map_or(Ok(Medium::Ram), alone);
    };
    let address = values.within(at, 0..=END - bytes)?;
    if !address.is_multiple_of(PAGE) {
        let message = format!("{address:#x} is not a multiple of 4K");
        let help = format!("map the page that it lies in: write {:#x}", address / PAGE * PAGE);
        return Err(values.problem(at, message, help));
    }
    let Some(word) = &given.cache else {
        return Ok(Medium::Device { at: address, cache: Cache::default() });
    };
    let name = values.one_of("cache attribute", word, &Cache::ALL.map(|(_, name)| name))?;
    let cache = Cache::ALL.into_iter().find(|(_, known)| *known == name);
    Ok(Medium::Device { at: address, cache: cache.map_or(Cache::default(), |(cache, _)| cache) })
}

/// The first memory that has addresses of an earlier one, or ports: with two attributes for one
/// address a processor does as it likes, and what two drivers do to one port neither knows.
pub fn overlapping(values: &Values, given: &[schema::Memory], system: &System) -> Option<Problem> {
    let ranges: Vec<Option<(bool, Range<u64>)>> = system.memories.iter().map(range).collect();
    given.iter().enumerate().find_map(|(index, memory)| {
        let (are_ports, own) = ranges[index].as_ref()?;
        let overlaps = |(others, other): &(bool, Range<u64>)| {
            are_ports == others && own.start < other.end && other.start < own.end
        };
        let other = ranges[..index].iter().position(|it| it.as_ref().is_some_and(overlaps))?;
        let name = &system.memories[other].name;
        let what = if *are_ports { "ports" } else { "addresses" };
        let message = format!("memory `{name}` has some of these {what} already");
        let help = "give both domains the one memory, or move one of the two";
        Some(values.problem(memory.at.as_ref().or(memory.port.as_ref())?, message, help))
    })
}

/// Whether it is ports, and where it lies among those or in memory, if it is no RAM.
fn range(memory: &Memory) -> Option<(bool, Range<u64>)> {
    match memory.medium {
        Medium::Ram => None,
        Medium::Device { at, .. } => Some((false, at..at + memory.bytes)),
        Medium::Ports { first, number } => {
            Some((true, first.into()..u64::from(first) + u64::from(number)))
        }
    }
}
