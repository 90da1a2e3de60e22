//! What the laboratory tells the supervisor, and what the supervisor tells the laboratory.
//!
//! The *inventory* is read-only memory of the supervisor: [`MAGIC`], the number of children, that
//! of objects that children alone hold, these ([`Owned`]), then for each child, in an order in
//! which each comes behind those that it depends on, a [`Child`], its [`Map`]s and its [`Grant`]s.
//!
//! The *journal* is memory that the host reads after the run: [`JOURNAL_MAGIC`], how many entries
//! were written in all, the children that did not stay up, then the last [`ENTRIES`] of the
//! entries, the n-th at place n modulo [`ENTRIES`], then for each child a [`Silence`] that the
//! supervisor has not yet answered.

use crate::object::{Kind, Resource};

/// First word of an inventory; the last character is the version of its layout.
pub const MAGIC: u64 = u64::from_le_bytes(*b"GIUSTOS3");
/// First word of a journal, with a version likewise.
pub const JOURNAL_MAGIC: u64 = u64::from_le_bytes(*b"GIUSTOJ2");

/// The most children that a supervisor has: sets of them are words of bits.
pub const MOST_CHILDREN: usize = 32;
/// The most restarts within a window that a child can be allowed.
pub const MOST_RESTARTS: u64 = 16;

/// The name of a child's capability to the endpoint of its fault messages.
pub const FAULTS: &str = "supervisor-faults";
/// The name of a child's capability to signal its heartbeat.
pub const BEATS: &str = "supervisor-beats";
/// The name of the notification by which the supervisor wakes the thread that watches heartbeats.
pub const WATCH: &str = "supervisor-watch";
/// The name of the leaf that this thread runs on, if others have reservations.
pub const WATCH_LEAF: &str = "supervisor-watch-leaf";
/// The name of the capability by which it sends to the supervisor's endpoint, and its badge.
pub const NUDGE: &str = "supervisor-nudge";
/// See [`NUDGE`].
pub const NUDGE_BADGE: u64 = CHILD_BADGE | u32::MAX as u64;
/// The name of the notification by which the supervisor is told of children that run out of time:
/// the bit with a child's number when it has used its budget up, the one [`MISSED`] further left
/// when a job of it has missed its deadline.
pub const TIMES: &str = "supervisor-times";
/// See [`TIMES`].
pub const MISSED: u32 = 32;
/// Set in the badges of [`FAULTS`] capabilities; the other bits are the child's number.
pub const CHILD_BADGE: u64 = 1 << 63;
/// The label of the message that a child's first thread sends through [`FAULTS`] when its function
/// has returned.
pub const ENDED: u32 = 1;

/// Words in front of an inventory's first child.
const HEADER: usize = 3;
/// A slot that is not there.
const NO_SLOT: u32 = 0;

/// A program that the supervisor starts and restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// Its name, as [`name_words`](crate::boot::name_words) packs it.
    pub name: [u64; 2],
    /// Priority of its first thread.
    pub priority: u64,
    /// Highest priority of its threads.
    pub max_priority: u64,
    /// Slots in its capability table, slot 0 included.
    pub slots: u64,
    /// The CPUs that its threads may use, a bit each; 0: all.
    pub cpus: u64,
    /// The CPU that its first thread runs on.
    pub cpu: u64,
    /// Its quotas, in the order of [`Resource`].
    pub quotas: [u16; Resource::COUNT],
    /// Address of its first instruction.
    pub entry: u64,
    /// Its first stack pointer.
    pub stack: u64,
    /// The argument of its first function.
    pub argument: u64,
    /// The address of its first thread's message buffer.
    pub buffer: u64,
    /// Pages of memory that are made afresh for it each time.
    pub fresh_pages: u64,
    /// The supervisor's slot with its [`FAULTS`] capability.
    pub faults: u32,
    /// The supervisor's slot with the notification that tells of its restarts, if there is one.
    pub told: Option<u32>,
    /// The supervisor's slot with the leaf that its threads run on, if there is one.
    pub reservation: Option<u32>,
    /// Whether it is restarted also if its program ends.
    pub always: bool,
    /// How many restarts it is allowed within the window.
    pub at_most: u64,
    /// The length of the window in nanoseconds.
    pub within: u64,
    /// Nanoseconds within which it has to signal its heartbeat, if it has one.
    pub heartbeat: Option<u64>,
    /// The earlier children that it depends on, a bit each.
    pub depends: u32,
    /// How many [`Map`]s follow.
    pub maps: usize,
    /// How many [`Grant`]s follow those.
    pub grants: usize,
}

/// A range of a child's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    /// The supervisor's slot with the memory; none for the memory that is made afresh.
    pub memory: Option<u32>,
    /// The first page of the memory.
    pub first: u64,
    /// How many pages, at most 512.
    pub pages: u64,
    /// The address of the first one.
    pub address: u64,
    /// Rights of the mapping, as in [`Rights`](crate::Rights).
    pub rights: u8,
    /// The word of the inventory from which on fresh memory is filled.
    pub contents: u64,
    /// How many bytes of it are filled; the rest is zero.
    pub bytes: u64,
}

/// A capability that a child starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The supervisor's slot.
    pub from: u32,
    /// The child's slot.
    pub to: u32,
    /// At most these rights.
    pub rights: u8,
}

/// An object that children alone hold: it is as at boot when none of them is there and one is
/// restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owned {
    /// A timer, a notification or an interrupt, in this order in the inventory.
    pub kind: Kind,
    /// The supervisor's slot, with the right to make it as it was.
    pub slot: u32,
    /// The children, a bit each.
    pub holders: u32,
}

impl Child {
    /// Words that a child takes, without maps and grants.
    pub const WORDS: usize = 26;

    /// The child as words.
    pub fn to_words(&self) -> [u64; Child::WORDS] {
        let quotas = self.quota_words();
        let numbers = [self.priority, self.max_priority, self.slots, self.cpus, self.cpu];
        let start = [self.entry, self.stack, self.argument, self.buffer, self.fresh_pages];
        let slots = [self.faults.into(), self.told.unwrap_or(NO_SLOT).into()];
        let policy = [self.always.into(), self.at_most, self.within, self.heartbeat.unwrap_or(0)];
        let leaf = self.reservation.unwrap_or(NO_SLOT).into();
        let rest = [self.depends.into(), self.maps as u64, self.grants as u64, leaf];
        let mut words = [0; Child::WORDS];
        let all = self.name.iter().chain(&numbers).chain(&quotas).chain(&start).chain(&slots);
        for (word, value) in words.iter_mut().zip(all.chain(&policy).chain(&rest)) {
            *word = *value;
        }
        words
    }

    /// The quotas as [`DomainCreate`](crate::call::Call::DomainCreate) wants them.
    fn quota_words(&self) -> [u64; 4] {
        let mut words = [0; 4];
        for (index, quota) in self.quotas.into_iter().enumerate() {
            words[index / 4] |= u64::from(quota) << (16 * (index % 4));
        }
        words
    }

    fn from_words(words: [u64; Child::WORDS]) -> Option<Child> {
        let quota = |index: usize| (words[7 + index / 4] >> (16 * (index % 4))) as u16;
        let small = |word: u64| u32::try_from(word).ok();
        Some(Child {
            name: [words[0], words[1]],
            priority: words[2],
            max_priority: words[3],
            slots: words[4],
            cpus: words[5],
            cpu: words[6],
            quotas: core::array::from_fn(quota),
            entry: words[11],
            stack: words[12],
            argument: words[13],
            buffer: words[14],
            fresh_pages: words[15],
            faults: small(words[16])?,
            told: slot(words[17])?,
            always: words[18] != 0,
            at_most: words[19],
            within: words[20],
            heartbeat: Some(words[21]).filter(|length| *length > 0),
            depends: small(words[22])?,
            maps: small(words[23])? as usize,
            grants: small(words[24])? as usize,
            reservation: slot(words[25])?,
        })
    }

    /// The words of its maps and grants.
    fn rest(&self) -> usize {
        self.maps * Map::WORDS + self.grants * Grant::WORDS
    }
}

impl Map {
    /// Words that a map takes.
    pub const WORDS: usize = 7;
    /// Which of them is [`Map::contents`].
    pub const CONTENTS: usize = 5;

    /// The map as words.
    pub fn to_words(&self) -> [u64; Map::WORDS] {
        let Map { memory, first, pages, address, rights, contents, bytes } = *self;
        [memory.unwrap_or(NO_SLOT).into(), first, pages, address, rights.into(), contents, bytes]
    }

    fn from_words(words: [u64; Map::WORDS]) -> Option<Map> {
        let [memory, first, pages, address, rights, contents, bytes] = words;
        let (memory, rights) = (slot(memory)?, u8::try_from(rights).ok()?);
        Some(Map { memory, first, pages, address, rights, contents, bytes })
    }
}

impl Grant {
    /// Words that a grant takes.
    pub const WORDS: usize = 3;

    /// The grant as words.
    pub fn to_words(&self) -> [u64; Grant::WORDS] {
        [self.from.into(), self.to.into(), self.rights.into()]
    }

    fn from_words([from, to, rights]: [u64; Grant::WORDS]) -> Option<Grant> {
        let small = |word: u64| u32::try_from(word).ok();
        Some(Grant { from: small(from)?, to: small(to)?, rights: u8::try_from(rights).ok()? })
    }
}

impl Owned {
    /// Words that an object takes.
    pub const WORDS: usize = 3;

    /// The object as words.
    pub fn to_words(&self) -> [u64; Owned::WORDS] {
        [self.kind as u64, self.slot.into(), self.holders.into()]
    }

    fn from_words([kind, slot, holders]: [u64; Owned::WORDS]) -> Option<Owned> {
        let kind = Kind::from_code(kind)?;
        let known = matches!(kind, Kind::Timer | Kind::Notification | Kind::Interrupt);
        let (slot, holders) = (u32::try_from(slot).ok()?, u32::try_from(holders).ok()?);
        known.then_some(Owned { kind, slot, holders })
    }
}

/// The slot in a word, if it holds one; `None` if it cannot be a slot.
fn slot(word: u64) -> Option<Option<u32>> {
    let slot = u32::try_from(word).ok()?;
    Some(Some(slot).filter(|slot| *slot != NO_SLOT))
}

/// Where words are read from.
pub trait Read: Copy {
    /// A word; none behind the last.
    fn word(self, index: usize) -> Option<u64>;
}

impl Read for &[u64] {
    fn word(self, index: usize) -> Option<u64> {
        self.get(index).copied()
    }
}

/// An inventory in memory.
#[derive(Clone, Copy)]
pub struct Inventory<R: Read>(R);

impl<R: Read> Inventory<R> {
    /// An inventory that is whole and as this layout says, else none.
    pub fn open(words: R) -> Option<Inventory<R>> {
        let inventory = Inventory(words);
        let count = words.word(1)?;
        let known = words.word(0)? == MAGIC && count <= MOST_CHILDREN as u64;
        let filled = |map: &Map| {
            let last = map.contents.saturating_add(map.bytes.saturating_sub(1) / 8);
            map.bytes == 0 || words.word(last as usize).is_some()
        };
        let whole = |(nth, child): &(usize, (usize, Child))| {
            inventory.maps(child).filter(filled).count() == child.1.maps
                && inventory.grants(child).count() == child.1.grants
                && child.1.depends >> nth == 0
                && child.1.at_most <= MOST_RESTARTS
        };
        let owned = inventory.owned().count() as u64;
        let read = inventory.children().enumerate().filter(whole).count();
        (known && words.word(2)? == owned && read == count as usize).then_some(inventory)
    }

    /// What children alone hold: timers, then notifications, then interrupts.
    pub fn owned(self) -> impl Iterator<Item = Owned> {
        let count = self.0.word(2).unwrap_or(0) as usize;
        let owned = move |nth| Owned::from_words(self.take(HEADER + nth * Owned::WORDS)?);
        (0..count).map_while(owned)
    }

    /// The children in order, each with the place of its words.
    pub fn children(self) -> impl Iterator<Item = (usize, Child)> {
        let count = self.0.word(1).unwrap_or(0) as usize;
        let owned = self.0.word(2).unwrap_or(0) as usize;
        let mut at = HEADER.saturating_add(owned.saturating_mul(Owned::WORDS));
        (0..count).map_while(move |_| {
            let child = (at, Child::from_words(self.take(at)?)?);
            at += Child::WORDS + child.1.rest();
            Some(child)
        })
    }

    /// A child's maps.
    pub fn maps(self, (at, child): &(usize, Child)) -> impl Iterator<Item = Map> + use<R> {
        let first = at + Child::WORDS;
        (0..child.maps).map_while(move |nth| Map::from_words(self.take(first + nth * Map::WORDS)?))
    }

    /// A child's grants.
    pub fn grants(self, (at, child): &(usize, Child)) -> impl Iterator<Item = Grant> + use<R> {
        let first = at + Child::WORDS + child.maps * Map::WORDS;
        let grant = move |nth| Grant::from_words(self.take(first + nth * Grant::WORDS)?);
        (0..child.grants).map_while(grant)
    }

    /// One word, for the contents of fresh memory.
    pub fn word(self, index: usize) -> Option<u64> {
        self.0.word(index)
    }

    fn take<const N: usize>(self, at: usize) -> Option<[u64; N]> {
        let mut words = [0; N];
        for (index, word) in words.iter_mut().enumerate() {
            *word = self.0.word(at.checked_add(index)?)?;
        }
        Some(words)
    }
}

/// Words in front of a journal's first entry.
pub const JOURNAL_HEADER: usize = 8;
/// Journal word with the number of entries that were written in all.
pub const JOURNAL_COUNT: usize = 1;
/// Journal word with the children that were given up or could not be made, a bit each.
pub const JOURNAL_DOWN: usize = 2;
/// Entries that a journal keeps.
pub const ENTRIES: usize = 255;
/// The first word of a journal's silences.
pub const JOURNAL_SILENT: usize = JOURNAL_HEADER + ENTRIES * Entry::WORDS;
/// The first word of what the supervisor's threads tell each other.
pub const JOURNAL_WATCH: usize = JOURNAL_SILENT + MOST_CHILDREN * Silence::WORDS;
/// Bytes of a journal.
pub const JOURNAL_BYTES: u64 = 8 * (JOURNAL_WATCH + 2 + MOST_CHILDREN) as u64;

/// A heartbeat that was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// When that was noticed, in nanoseconds since boot; never 0.
    pub seen: u64,
    /// The name of the domain that had the CPU then, or zeros.
    pub by: [u64; 2],
}

impl Silence {
    /// Words that it takes.
    pub const WORDS: usize = 3;

    /// It as words, when it was noticed as the first.
    pub fn to_words(self) -> [u64; Silence::WORDS] {
        [self.seen, self.by[0], self.by[1]]
    }

    /// The silence in words; none if the first is 0.
    pub fn from_words([seen, low, high]: [u64; Silence::WORDS]) -> Option<Silence> {
        (seen != 0).then_some(Silence { seen, by: [low, high] })
    }
}

/// What became of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// It was restarted, with those that depend on it.
    Restarted = 1,
    /// It had failed too often: it stays down, with those that depend on it.
    GivenUp = 2,
    /// It could not be made; `detail` is the code of the [`Error`](crate::Error). It stays down.
    NotMade = 3,
}

/// Why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// A thread of it faulted or panicked: `kind`, `detail` and `at` are those of the message.
    Fault = 1,
    /// It did not signal its heartbeat: `detail` and `at` are the name of the domain that had the
    /// CPU then, or zeros.
    Silent = 2,
    /// Its program ended.
    Ended = 3,
    /// A client of the supervisor's asked for it.
    Asked = 4,
    /// It was to be made, at the start or with another one.
    Making = 5,
    /// It had used its budget up: `detail` is how often by then.
    Overran = 6,
    /// A job had not ended by its deadline: `detail` is its number, 1 for the first one.
    Missed = 7,
}

/// An entry of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The child's number.
    pub child: u32,
    /// What became of it.
    pub event: Event,
    /// Why.
    pub reason: Reason,
    /// The code of the [`FaultKind`](crate::message::FaultKind), for [`Reason::Fault`].
    pub kind: u32,
    /// The fault's address or detail.
    pub detail: u64,
    /// The instruction that faulted.
    pub at: u64,
    /// When the supervisor learnt of it, in nanoseconds since boot.
    pub seen: u64,
    /// When it had made all again, or had given up.
    pub done: u64,
}

impl Entry {
    /// Words that an entry takes.
    pub const WORDS: usize = 6;

    /// The entry as words.
    pub fn to_words(&self) -> [u64; Entry::WORDS] {
        let what = u64::from(self.event as u8) | u64::from(self.reason as u8) << 8;
        let who = u64::from(self.child) << 16 | u64::from(self.kind) << 32;
        [what | who, self.detail, self.at, self.seen, self.done, 0]
    }

    /// The entry in words; none if they are no entry.
    pub fn from_words([what, detail, at, seen, done, _]: [u64; Entry::WORDS]) -> Option<Entry> {
        let event = match what as u8 {
            1 => Event::Restarted,
            2 => Event::GivenUp,
            3 => Event::NotMade,
            _ => return None,
        };
        let reason = match (what >> 8) as u8 {
            1 => Reason::Fault,
            2 => Reason::Silent,
            3 => Reason::Ended,
            4 => Reason::Asked,
            5 => Reason::Making,
            6 => Reason::Overran,
            7 => Reason::Missed,
            _ => return None,
        };
        let (child, kind) = (u32::from((what >> 16) as u16), (what >> 32) as u32);
        Some(Entry { child, event, reason, kind, detail, at, seen, done })
    }

    /// The first word of the n-th entry that is written.
    pub const fn place(nth: u64) -> usize {
        JOURNAL_HEADER + (nth % ENTRIES as u64) as usize * Entry::WORDS
    }
}
