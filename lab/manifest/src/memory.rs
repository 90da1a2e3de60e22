//! `[[memory]]`: RAM, or what a board has at an address.

use std::ops::Range;
use std::path::Path;

use abi::PAGE;
use abi::boot::Cache;

use crate::files;
use crate::problem::Problem;
use crate::schema::{self, Word};
use crate::system::System;
use crate::units::spell_size;
use crate::values::Values;

/// The most bytes of a memory.
const MOST: u64 = 2 << 30;
/// End of physical addresses.
const END: u64 = 1 << 52;

/// A memory object that domains map or hold capabilities to.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// Its size in bytes, a multiple of the page.
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
            Medium::Ram => 0,
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

/// The first memory that has addresses of an earlier one: with two attributes for one address a
/// processor does as it likes.
pub fn overlapping(values: &Values, given: &[schema::Memory], system: &System) -> Option<Problem> {
    let ranges: Vec<Option<Range<u64>>> = system.memories.iter().map(range).collect();
    given.iter().enumerate().find_map(|(index, memory)| {
        let own = ranges[index].as_ref()?;
        let overlaps = |other: &Range<u64>| own.start < other.end && other.start < own.end;
        let other = ranges[..index].iter().position(|it| it.as_ref().is_some_and(overlaps))?;
        let name = &system.memories[other].name;
        let message = format!("memory `{name}` has some of these addresses already");
        let help = "give both domains the one memory, or move one of the two";
        Some(values.problem(memory.at.as_ref()?, message, help))
    })
}

fn range(memory: &Memory) -> Option<Range<u64>> {
    match memory.medium {
        Medium::Ram => None,
        Medium::Device { at, .. } => Some(at..at + memory.bytes),
    }
}
