//! Text on its way to the console: a ring of entries in the order in which they were written. The
//! kernel waits for no device: what the console does not take at once is sent when it interrupts.
//!
//! A `ConsoleWrite` makes one entry. Each place in the pool of domains has room for [`SHARE`] of
//! them, so that no domain takes room from another one. The count is the place's: text of a domain
//! that has ended is still sent. The first place, the kernel's own, has room for [`REPORTS`].
//!
//! Sections that have the whole kernel touch this, and a kernel that panics.

use crate::arena::Arena;
use crate::port::Port;
use abi::Error;
use cells::Cell;
use section::init;

/// Entries that may wait of each domain.
pub const SHARE: u32 = 8;
/// Entries that may wait of the kernel's own reports.
pub const REPORTS: u32 = 64;
/// Bytes in an entry.
pub const ENTRY: usize = 32;
/// How often a write asks for room. A real device has some once; one that is always ready takes the
/// text at once. With 16 characters each time a write sends at most 48, an interrupt 16.
const ROUNDS: u32 = 3;
/// The kernel's own place.
const KERNEL: u32 = 0;

/// Some text of one writer.
#[derive(Clone, Copy)]
struct Entry {
    text: [u8; ENTRY],
    /// The place of the domain that has written it.
    place: u32,
    length: u8,
}

/// The ring.
pub struct Console {
    entries: &'static [Cell<Entry>],
    /// How many of them wait, by place.
    waiting: &'static [Cell<u8>],
    first: Cell<u32>,
    count: Cell<u32>,
    /// Bytes of the first entry that are sent.
    sent: Cell<u8>,
    /// Reports that were dropped since one last had room.
    lost: Cell<u64>,
}

impl Console {
    /// Carves a ring for so many places of domains.
    #[init]
    pub fn carve(arena: &mut Arena, places: usize) -> Option<Console> {
        let length = REPORTS as usize + places.checked_sub(1)?.checked_mul(SHARE as usize)?;
        let empty = Entry { text: [0; ENTRY], place: KERNEL, length: 0 };
        Some(Console {
            entries: arena.slice(length, |_, _| Some(Cell::new(empty)))?,
            waiting: arena.slice(places, |_, _| Some(Cell::new(0)))?,
            first: Cell::new(0),
            count: Cell::new(0),
            sent: Cell::new(0),
            lost: Cell::new(0),
        })
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    /// Writes so many bytes of a text, at most all, for the domain at a place, or nothing: there is
    /// no room for it.
    pub fn write<P: Port>(
        &self,
        port: &P,
        place: u32,
        text: [u8; ENTRY],
        length: u8,
    ) -> Result<(), Error> {
        if length == 0 {
            return Ok(());
        }
        if !self.has_room(place, 1) {
            return Err(Error::Timeout);
        }
        self.put(0, &Entry { text, place, length });
        self.append(place, 1);
        self.drain(port, ROUNDS);
        Ok(())
    }

    /// Begins a report of the kernel's.
    #[inline(never)]
    pub fn report(&self) -> Report<'_> {
        let entry = Entry { text: [0; ENTRY], place: KERNEL, length: 0 };
        let mut report = Report { console: self, entry, entries: 0 };
        if self.lost.get() > 0 {
            report.write_number(b"console: reports lost: ", self.lost.get());
            report.write(b"\n");
        }
        report
    }

    /// Sends what the console takes, asked so often. It interrupts when it takes more, if there is
    /// more.
    #[inline(never)]
    pub fn drain<P: Port>(&self, port: &P, rounds: u32) {
        for _ in 0..rounds {
            let mut room = port.console_room();
            if room == 0 || self.is_empty() {
                break;
            }
            while room > 0 && !self.is_empty() {
                room = self.send_first(port, room);
            }
        }
        port.console_wants(!self.is_empty());
    }

    /// Sends all that waits, as fast as the console takes it: the run is over. Other CPUs may write
    /// meanwhile, so it is asked no more often than there are bytes.
    #[inline(never)]
    pub fn empty<P: Port>(&self, port: &P) {
        for _ in 0..self.entries.len() * ENTRY {
            if self.is_empty() {
                return;
            }
            port.console_flush();
            self.drain(port, 1);
        }
    }

    /// Sends the first entry as far as there is room. What is left of that for the next one.
    #[inline(always)]
    fn send_first<P: Port>(&self, port: &P, mut room: usize) -> usize {
        let entry = self.entries[self.first.get() as usize].get();
        let length = usize::from(entry.length).min(ENTRY);
        let mut sent = usize::from(self.sent.get());
        while sent < length {
            let byte = entry.text[sent];
            let ends_line = byte == b'\n';
            if room == 0 || ends_line && room == 1 {
                self.sent.set(sent as u8);
                return 0;
            }
            // In two branches, each of which knows what it sends.
            match ends_line {
                true => {
                    port.console_put(b'\n');
                    room -= 2;
                }
                false => {
                    port.console_put(byte);
                    room -= 1;
                }
            }
            sent += 1;
        }
        self.sent.set(0);
        self.first.set(self.index(1));
        self.count.set(self.count.get() - 1);
        let waiting = &self.waiting[entry.place as usize];
        waiting.set(waiting.get() - 1);
        room
    }

    /// Where the entry is that comes so many behind the first.
    fn index(&self, behind: u32) -> u32 {
        let (at, length) = (self.first.get() + behind, self.entries.len() as u32);
        if at < length { at } else { at - length }
    }

    fn has_room(&self, place: u32, entries: u32) -> bool {
        let most = if place == KERNEL { REPORTS } else { SHARE };
        u32::from(self.waiting[place as usize].get()) + entries <= most
    }

    /// Puts an entry so many behind the last.
    fn put(&self, behind: u32, entry: &Entry) {
        self.entries[self.index(self.count.get() + behind) as usize].set(*entry);
    }

    /// So many that were put there, for which there is room, are to be sent.
    fn append(&self, place: u32, entries: u32) {
        self.count.set(self.count.get() + entries);
        let waiting = &self.waiting[place as usize];
        waiting.set(waiting.get() + entries as u8);
    }

    /// Panics where counts are not those of the entries, for tests.
    pub fn check(&self) {
        let waits = |behind| self.entries[self.index(behind) as usize].get();
        let entries = || (0..self.count.get()).map(waits);
        for (place, waiting) in (0..).zip(self.waiting) {
            let count = entries().filter(|entry| entry.place == place).count();
            assert_eq!(usize::from(waiting.get()), count, "entries of place {place}");
            assert!(self.has_room(place, 0), "place {place} has more than its share");
        }
        let length = entries().next().map_or(1, |entry| entry.length);
        assert!(self.sent.get() < length, "the first entry is sent");
        assert!(entries().all(|entry| (1..=ENTRY).contains(&entry.length.into())));
    }
}

/// A report of the kernel's, which is written as a whole or not at all.
pub struct Report<'a> {
    console: &'a Console,
    /// The last entry, as far as it is filled, and those before it.
    entry: Entry,
    entries: u32,
}

impl Report<'_> {
    /// Goes on with a text.
    #[inline(never)]
    pub fn write(&mut self, text: &[u8]) {
        let mut used = usize::from(self.entry.length);
        for byte in text {
            self.entry.text[used % ENTRY] = *byte;
            used += 1;
            if used == ENTRY {
                self.end_entry(used);
                used = 0;
            }
        }
        self.entry.length = used as u8;
    }

    /// Goes on with a text and a number in hexadecimal.
    #[inline(never)]
    pub fn write_number(&mut self, before: &[u8], value: u64) {
        self.write(before);
        self.write(&hex(value));
    }

    #[inline(never)]
    fn end_entry(&mut self, length: usize) {
        self.entry.length = length as u8;
        if self.console.has_room(KERNEL, self.entries + 1) {
            self.console.put(self.entries, &self.entry);
        }
        self.entries += 1;
    }

    /// Ends it. Without room for all of it, it is counted among those that are lost.
    #[inline(never)]
    pub fn finish<P: Port>(mut self, port: &P) {
        let length = usize::from(self.entry.length);
        if length > 0 {
            self.end_entry(length);
        }
        let (console, entries) = (self.console, self.entries);
        if !console.has_room(KERNEL, entries) {
            return console.lost.set(console.lost.get() + 1);
        }
        console.lost.set(0);
        console.append(KERNEL, entries);
        console.drain(port, 1);
    }
}

/// A number in hexadecimal.
#[inline(never)]
pub fn hex(value: u64) -> [u8; 18] {
    let mut text = *b"0x0000000000000000";
    let mut rest = value;
    for digit in text.iter_mut().rev() {
        // Else the compiler writes sixteen steps out.
        if rest == 0 {
            break;
        }
        *digit = b"0123456789abcdef"[(rest & 15) as usize];
        rest >>= 4;
    }
    text
}
