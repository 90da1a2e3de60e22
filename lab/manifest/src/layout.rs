//! Where things are in a domain's address space.

use std::fmt::Write as _;

use abi::{PAGE, Rights};

use crate::elf::Image;
use crate::memory::Memory;
use crate::reservation;
use crate::system::{Domain, System};

/// Where programs may lie.
pub const PROGRAMS: std::ops::Range<u64> = 0x20_0000..ENVIRONMENT;
/// The environment text.
pub const ENVIRONMENT: u64 = 0x5000_0000;
/// The supervisor's inventory.
const INVENTORY: u64 = 0x5800_0000;
/// The first thread's message buffer; the others follow.
pub const BUFFERS: u64 = 0x6000_0000;
/// From one message buffer to the next.
pub const BUFFER_STRIDE: u64 = 0x2000;
/// The top of the first thread's stack; the others lie below, with a free page between.
pub const STACKS: u64 = 0x7000_0000;
/// The heap.
pub const HEAP: u64 = 0x8000_0000;
/// The first shared memory object; the others follow, with a free page between.
pub const MAPS: u64 = 0x1_0000_0000;

/// Page-table frames beyond those that the layout needs, for what a program maps itself.
const SPARE_TABLES: u64 = 4;

/// Address of a thread's message buffer.
pub fn buffer(thread: u64) -> u64 {
    BUFFERS + thread * BUFFER_STRIDE
}

/// Address just above a thread's stack.
pub fn stack_top(domain: &Domain, thread: u64) -> u64 {
    STACKS - thread * (domain.stack + PAGE)
}

impl Domain {
    /// Whether an address lies in the free page below one of its threads' stacks.
    pub fn guards(&self, address: u64) -> bool {
        (0..u64::from(self.threads)).any(|thread| {
            let bottom = stack_top(self, thread) - self.stack;
            (bottom - PAGE..bottom).contains(&address)
        })
    }
}

/// A range of addresses that is mapped when the program starts.
pub struct Area {
    /// Its first address.
    pub address: u64,
    /// Its length in pages.
    pub pages: u64,
    /// How it is mapped.
    pub rights: Rights,
    /// What is there.
    pub contents: Contents,
}

/// What an area shows.
pub enum Contents {
    /// Memory of its own that begins with these bytes; the rest is zero.
    Own(Vec<u8>),
    /// The shared memory with this index.
    Shared(usize),
}

/// All areas of a domain that runs a program. `inventory` is what the supervisor reads; none for
/// other domains.
pub fn areas(
    system: &System,
    domain: &Domain,
    image: &Image,
    inventory: Option<&[u64]>,
) -> Vec<Area> {
    let read_write = Rights::READ.or(Rights::WRITE);
    let mut areas: Vec<Area> = Vec::new();
    for segment in &image.segments {
        let contents = Contents::Own(segment.bytes.clone());
        let (address, pages, rights) = (segment.address, segment.pages, segment.rights);
        areas.push(Area { address, pages, rights, contents });
    }
    let mut environment = environment(system, domain);
    if let Some(words) = inventory {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let _ = writeln!(environment, "mem.supervisor-inventory={INVENTORY:x}:{:x}", bytes.len());
        areas.push(constant(INVENTORY, bytes));
    }
    environment.push('\0');
    areas.push(constant(ENVIRONMENT, environment.into_bytes()));
    for thread in 0..u64::from(domain.threads) {
        areas.push(Area {
            address: stack_top(domain, thread) - domain.stack,
            pages: domain.stack / PAGE,
            rights: read_write,
            contents: Contents::Own(Vec::new()),
        });
    }
    if domain.heap > 0 {
        areas.push(Area {
            address: HEAP,
            pages: domain.heap / PAGE,
            rights: read_write,
            contents: Contents::Own(Vec::new()),
        });
    }
    for (map, address) in domain.maps.iter().zip(map_addresses(system, domain)) {
        areas.push(Area {
            address,
            pages: system.memories[map.memory].pages(),
            rights: map.rights,
            contents: Contents::Shared(map.memory),
        });
    }
    areas
}

/// Bytes at an address, to be read.
fn constant(address: u64, bytes: Vec<u8>) -> Area {
    let pages = (bytes.len() as u64).div_ceil(PAGE);
    Area { address, pages, rights: Rights::READ, contents: Contents::Own(bytes) }
}

/// The shared memories that a domain maps: name, first address, and bytes.
pub fn mapped<'a>(
    system: &'a System,
    domain: &'a Domain,
) -> impl Iterator<Item = (&'a str, u64, u64)> {
    domain.maps.iter().zip(map_addresses(system, domain)).map(|(map, address)| {
        let memory = &system.memories[map.memory];
        (memory.name.as_str(), address + memory.offset(), memory.bytes)
    })
}

/// Address of the first page of each shared memory that a domain maps.
fn map_addresses(system: &System, domain: &Domain) -> Vec<u64> {
    let mut next = MAPS;
    let mut addresses = Vec::new();
    for map in &domain.maps {
        addresses.push(next);
        next += (system.memories[map.memory].pages() + 1) * PAGE;
    }
    addresses
}

/// The text that tells a program what it has.
pub fn environment(system: &System, domain: &Domain) -> String {
    let mut text = format!("name={}\n", domain.name);
    for (index, cap) in domain.caps.iter().enumerate() {
        let _ = writeln!(text, "cap.{}={}", cap.name, index + 1);
    }
    for (map, address) in domain.maps.iter().zip(map_addresses(system, domain)) {
        let memory = &system.memories[map.memory];
        let Memory { name, bytes, .. } = memory;
        let address = address + memory.offset();
        let is = |memory: Option<&Memory>| memory.is_some_and(|memory| memory.name == *name);
        let key = match () {
            () if is(system.log_of(domain)) => "log".to_string(),
            () if is(system.panics_of(domain)) => "panics".to_string(),
            () => format!("mem.{name}"),
        };
        let _ = writeln!(text, "{key}={address:x}:{bytes:x}");
    }
    for (name, value) in &domain.args {
        let _ = writeln!(text, "arg.{name}={value}");
    }
    text.extend(reservation::lines(system, domain));
    let _ = writeln!(text, "threads={}", domain.threads);
    let _ = writeln!(text, "stacks={STACKS:x}:{:x}", domain.stack + PAGE);
    let _ = writeln!(text, "buffers={BUFFERS:x}:{BUFFER_STRIDE:x}");
    if domain.heap > 0 {
        let _ = writeln!(text, "heap={HEAP:x}:{:x}", domain.heap);
    }
    let _ = writeln!(text, "slots={}:{}", domain.caps.len() + 1, domain.slots);
    let _ = writeln!(text, "priority={}", domain.priority);
    text
}

/// Page-table frames for a domain beside its root: one for every region of each level that holds
/// anything, and some to spare.
pub fn tables(domain: &Domain, areas: &[Area]) -> u64 {
    let buffers = (0..u64::from(domain.threads)).map(|thread| (buffer(thread), 1));
    let ranges = areas.iter().map(|area| (area.address, area.pages)).chain(buffers);
    let ranges: Vec<(u64, u64)> = ranges.collect();
    let levels = [21, 30, 39].map(|shift| {
        let regions = ranges
            .iter()
            .flat_map(|(address, pages)| address >> shift..=(address + pages * PAGE - 1) >> shift);
        regions.collect::<std::collections::BTreeSet<u64>>().len() as u64
    });
    levels.iter().sum::<u64>() + SPARE_TABLES
}
