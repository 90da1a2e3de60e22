//! The boot archive: what the laboratory makes of a manifest and the kernel builds at boot.
//!
//! An archive is a sequence of little-endian 64-bit words: a header of [`HEADER_WORDS`], the
//! records, then page-aligned data. A record is a word with its [`Record`] code (low half) and
//! its length in words, itself included (high half), then its fields. Objects are numbered from
//! zero in the order of the records that create them. The kernel executes the records in order
//! and stops with a message at the first one that is malformed.

/// First word of an archive.
pub const MAGIC: u64 = u64::from_le_bytes(*b"GIUSTOB1");

/// Words in the header.
pub const HEADER_WORDS: usize = 16;
/// Header word with [`MAGIC`].
pub const WORD_MAGIC: usize = 0;
/// Header word with the archive's length in bytes.
pub const WORD_BYTES: usize = 1;
/// Header word with the number of records.
pub const WORD_RECORDS: usize = 2;
/// Header word with the scheduling tick in nanoseconds.
pub const WORD_TICK: usize = 3;
/// Header word with the time slice in ticks.
pub const WORD_SLICE: usize = 4;
/// Header word with a number that the host chose, to find the archive in the machine's memory.
pub const WORD_NONCE: usize = 5;
/// Header word in which the kernel leaves the physical address of its first root page table; the
/// root tables of all domains follow it in a row, in the order of the domain pool. Right below
/// the roots lie the frames of message buffers, and below those the frames of memory objects.
pub const WORD_ROOTS: usize = 6;
/// Header word in which the kernel leaves the protection that it found switched on: bits of
/// [`protection`].
pub const WORD_PROTECTION: usize = 7;
/// Header word with the number of blocked threads that a look-up drops from the ready queue before
/// it makes room for a waiting interrupt; 0: it drops them all.
pub const WORD_LAZY_DEQUEUES: usize = 8;
/// Header word that is 1 if a chain of transfers is left when an interrupt waits (S0-41).
pub const WORD_CHAINS: usize = 9;
/// Header word with the number of CPUs.
pub const WORD_CPUS: usize = 10;
/// Header word with what becomes of a leaf while its thread runs on a lent one: a code of
/// [`Inheritance`](crate::reservation::Inheritance).
pub const WORD_INHERITANCE: usize = 11;

/// Protection that a machine may have.
pub mod protection {
    /// The kernel cannot execute user pages.
    pub const NO_USER_EXECUTE: u64 = 1;
    /// The kernel cannot read or write user pages.
    pub const NO_USER_ACCESS: u64 = 2;
    /// Read-only pages are read-only for the kernel too.
    pub const WRITE_PROTECT: u64 = 4;
    /// Pages can be made not executable.
    pub const NO_EXECUTE: u64 = 8;
}

/// In place of a CPU: the class of the scheduling tree that all CPUs share.
pub const ALL_CPUS: u32 = u32::MAX;

/// An absent object.
pub const NONE: u64 = u64::MAX;
/// The console, where a record names an object.
pub const CONSOLE: u64 = u64::MAX - 1;
/// The system capability, where a record names an object.
pub const SYSTEM: u64 = u64::MAX - 2;
/// The owner of objects that are charged to no domain and live as long as the system.
pub const NO_OWNER: u64 = u64::MAX - 3;

/// Codes of records, with their fields in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Record {
    /// First: size of each pool, in the order of [`Resource`](crate::object::Resource), in all
    /// [`Resource::COUNT`](crate::object::Resource::COUNT) words.
    Pools = 1,
    /// Creates a domain: two words of name (16 bytes, zero-padded), maximum priority, slots in
    /// its capability table, the CPUs that its threads may use (a bit each; those that do not exist
    /// do not matter), then its quotas in the order of [`Resource`](crate::object::Resource).
    Domain = 2,
    /// Creates a thread: owner (a domain, which it also runs in), priority, entry address, stack
    /// pointer, argument, address of its message buffer (0: none), fault handler's endpoint (or
    /// [`NONE`]), badge of its fault messages, CPU. It starts when all records are done.
    Thread = 3,
    /// Creates an endpoint: owner (or [`NO_OWNER`]), attached notification (or [`NONE`]).
    Endpoint = 4,
    /// Creates a notification: owner (or [`NO_OWNER`]).
    Notification = 5,
    /// Creates an interrupt: owner (or [`NO_OWNER`]), IRQ, notification, badge, the CPU to which it
    /// comes.
    Interrupt = 6,
    /// Creates a timer: owner (or [`NO_OWNER`]), notification, badge.
    Timer = 7,
    /// Creates a contiguous, zeroed memory object: owner (or [`NO_OWNER`]), pages, byte offset of
    /// its initial contents in the archive, their length in bytes, then one word in which the
    /// kernel leaves the physical address.
    Memory = 8,
    /// Maps memory: domain, memory, first page, address, pages, rights.
    Map = 9,
    /// Puts a capability into a slot: domain, slot, object, rights, badge.
    Capability = 10,
    /// Keeps a [trace](crate::trace): memory, a [`Keep`](crate::trace::Keep), the mask of the
    /// events that are written.
    Trace = 11,
    /// Names the root class of a CPU, or the class that all CPUs share: CPU or [`ALL_CPUS`], in the
    /// latter case its priority on each CPU, else 0.
    Root = 12,
    /// Creates a reservation: owner (or [`NO_OWNER`]), class above it, its
    /// [policy](crate::reservation::Policy) or 0 for a leaf, code and four words of its
    /// [share](crate::reservation::Share), [server](crate::reservation::Server) or 0, budget,
    /// period, deadline of its jobs or 0, their least separation.
    Reservation = 13,
    /// Adds a window to a class of time partitions: class, end, partition.
    Window = 14,
    /// Lets a thread, or all threads of a domain, run on a reservation: thread or domain,
    /// reservation.
    Reserve = 15,
    /// Lets a notification be signalled when a reservation misses a deadline or uses up its budget:
    /// reservation, notification, bits for a miss, bits for an overrun.
    Monitor = 16,
    /// Leaves what reservations have had in a memory, when the system is shut down
    /// ([accounts](crate::account)): memory.
    Accounts = 17,
    /// Lets a reservation run on below everything else: reservation, 1 if that is when its budget
    /// is used up, 1 if that is when a job has missed its deadline.
    Background = 18,
    /// Creates a memory object whose frames are a device's registers: owner (or [`NO_OWNER`]),
    /// pages, [`Cache`], physical address.
    Device = 19,
    /// Creates a memory object without pages, of I/O ports: owner (or [`NO_OWNER`]), their number,
    /// the first one.
    Ports = 20,
}

/// How the processor may keep what is in device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u64)]
pub enum Cache {
    /// Not at all: each access reaches the device, in the order of the program.
    #[default]
    Uncached = 0,
    /// It gathers writes, and reads ahead: for what is a picture or a queue of packets.
    WriteCombining = 1,
    /// As RAM.
    WriteBack = 2,
}

impl Cache {
    /// All, with what manifests call them, in the order of their codes.
    pub const ALL: [(Cache, &str); 3] = [
        (Cache::Uncached, "uncached"),
        (Cache::WriteCombining, "write-combining"),
        (Cache::WriteBack, "write-back"),
    ];

    /// The attribute with this code.
    pub fn from_code(code: u64) -> Option<Cache> {
        Cache::ALL.get(code as usize).map(|(cache, _)| *cache)
    }

    /// What manifests call it.
    pub fn name(self) -> &'static str {
        Cache::ALL[self as usize].1
    }
}

impl Record {
    /// The record with this code.
    pub fn from_code(code: u32) -> Option<Record> {
        Some(match code {
            1 => Record::Pools,
            2 => Record::Domain,
            3 => Record::Thread,
            4 => Record::Endpoint,
            5 => Record::Notification,
            6 => Record::Interrupt,
            7 => Record::Timer,
            8 => Record::Memory,
            9 => Record::Map,
            10 => Record::Capability,
            11 => Record::Trace,
            12 => Record::Root,
            13 => Record::Reservation,
            14 => Record::Window,
            15 => Record::Reserve,
            16 => Record::Monitor,
            17 => Record::Accounts,
            18 => Record::Background,
            19 => Record::Device,
            20 => Record::Ports,
            _ => return None,
        })
    }

    /// The record's length in words, its first word included.
    pub const fn words(self) -> usize {
        use crate::object::Resource;
        1 + match self {
            Record::Pools => Resource::COUNT,
            Record::Domain => 5 + Resource::COUNT,
            Record::Thread => 9,
            Record::Endpoint => 2,
            Record::Notification => 1,
            Record::Device => 4,
            Record::Ports => 3,
            Record::Interrupt => 5,
            Record::Timer => 3,
            Record::Memory => 5,
            Record::Map => 6,
            Record::Capability => 5,
            Record::Trace => 3,
            Record::Root => 2,
            Record::Reservation => 13,
            Record::Window => 3,
            Record::Reserve => 2,
            Record::Monitor => 4,
            Record::Background => 3,
            Record::Accounts => 1,
        }
    }

    /// The record's first word.
    pub const fn head(self) -> u64 {
        self as u64 | (self.words() as u64) << 32
    }
}

/// Bytes of the longest name.
pub const MOST_NAME: usize = 16;

/// A name of up to [`MOST_NAME`] bytes as two words, longer ones cut.
pub fn name_words(name: &str) -> [u64; 2] {
    let mut bytes = [0; MOST_NAME];
    let len = name.len().min(MOST_NAME);
    bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
    let (low, high) = bytes.split_at(8);
    [word(low), word(high)]
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The bytes of a name packed by [`name_words`]; those after its end are zero.
pub fn name_bytes(words: [u64; 2]) -> [u8; MOST_NAME] {
    let mut bytes = [0; MOST_NAME];
    bytes[..8].copy_from_slice(&words[0].to_le_bytes());
    bytes[8..].copy_from_slice(&words[1].to_le_bytes());
    bytes
}

/// The text of [`name_bytes`]; `?` if it is none.
pub fn name_text(bytes: &[u8; MOST_NAME]) -> &str {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    core::str::from_utf8(&bytes[..end]).unwrap_or("?")
}

/// Whether these words are a name that a program may give at run time, or none: letters, digits,
/// `-`, `_` and `.`, then zeros. None of these can end a line, steer a terminal or look like
/// another field of what names stand in.
pub fn is_name([low, high]: [u64; 2]) -> bool {
    let mut rest = u128::from(high) << 64 | u128::from(low);
    while rest != 0 {
        // Also a zero with something behind it.
        if !is_of_name(rest as u8) {
            return false;
        }
        rest >>= 8;
    }
    true
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Exit status of the machine when a program shut the system down with status 0.
pub const EXIT_OK: u32 = 0;
/// Exit status of the machine after a kernel panic.
pub const EXIT_PANIC: u32 = 101;
