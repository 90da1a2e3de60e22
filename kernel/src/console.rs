//! Text on its way to the console: a ring of entries in the order in which they were written. The
//! kernel waits for no device: what the console does not take at once is sent when it interrupts.
//!
//! A `ConsoleWrite` makes one entry. Each place in the pool of domains has room for [`SHARE`] of
//! them, so that no domain takes room from another one. The count is the place's: text of a domain
//! that has ended is still sent. The first place, the kernel's own, has room for [`REPORTS`], which
//! are put together a part at a time.
//!
//! Sections that have the whole kernel touch this, and a kernel that panics.

use crate::arena::Arena;
use crate::port::Port;
use crate::report::Report;
use abi::Error;
use cells::Cell;
use section::init;

/// Entries that may wait of each domain.
pub const SHARE: u32 = 8;
/// Reports of the kernel's that may wait.
pub const REPORTS: u32 = 12;
/// Bytes in an entry.
pub const ENTRY: usize = 32;
/// How often a write asks for room. A real device has some once; one that is always ready takes the
/// text at once. With 16 characters each time a write sends at most 48, an interrupt 16, of a
/// report a piece.
const ROUNDS: u32 = 3;
/// The kernel's own place.
const KERNEL: u32 = 0;

/// Some text of one writer.
#[derive(Clone, Copy)]
struct Entry {
    text: [u8; ENTRY],
    /// The place of the domain that has written it. The kernel's own: a report.
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
    /// Bytes of the first entry, or of the part of it, that are sent.
    sent: Cell<u8>,
    reports: [Cell<Report>; REPORTS as usize],
    /// Which of them is the first, and the part of it that is sent.
    report: Cell<u8>,
    part: Cell<u8>,
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
            reports: [const { Cell::new(Report::EMPTY) }; REPORTS as usize],
            report: Cell::new(0),
            part: Cell::new(0),
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
        if !self.has_room(place) {
            return Err(Error::Timeout);
        }
        self.append(&Entry { text, place, length });
        self.drain(port, ROUNDS);
        Ok(())
    }

    /// Writes a line of the kernel's. Without room, it is counted among those that are lost.
    #[inline(never)]
    pub fn report<P: Port>(&self, port: &P, report: Report) {
        if !self.has_room(KERNEL) {
            return self.lost.set(self.lost.get() + 1);
        }
        let behind =
            usize::from(self.report.get()) + usize::from(self.waiting[KERNEL as usize].get());
        let lost = self.lost.replace(0);
        self.reports[behind % REPORTS as usize].set(Report { lost, ..report });
        self.append(&Entry { text: [0; ENTRY], place: KERNEL, length: 0 });
        self.drain(port, 1);
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
    fn send_first<P: Port>(&self, port: &P, room: usize) -> usize {
        let entry = self.entries[self.first.get() as usize].get();
        if entry.place == KERNEL {
            self.send_report(port, room);
            return 0;
        }
        let text = &entry.text[..usize::from(entry.length).min(ENTRY)];
        let (sent, left) = send(port, text, self.sent.get().into(), room);
        if sent < text.len() {
            self.sent.set(sent as u8);
            return 0;
        }
        self.sent.set(0);
        self.remove_first(entry.place);
        left
    }

    /// Sends a piece of the first report as far as there is room.
    #[cold]
    #[inline(never)]
    fn send_report<P: Port>(&self, port: &P, room: usize) {
        let (at, sent) = (self.report.get(), usize::from(self.sent.get()));
        let (part, next) = self.reports[usize::from(at)].get().part(self.part.get());
        let (bytes, length) = part.piece(sent);
        let (count, _) = send(port, &bytes[..length], 0, room);
        if sent + count < part.length() {
            return self.sent.set((sent + count) as u8);
        }
        self.sent.set(0);
        self.part.set(next.unwrap_or(0));
        if next.is_none() {
            self.report.set((at + 1) % REPORTS as u8);
            self.remove_first(KERNEL);
        }
    }

    /// The first entry is sent.
    fn remove_first(&self, place: u32) {
        self.first.set(self.index(1));
        self.count.set(self.count.get() - 1);
        let waiting = &self.waiting[place as usize];
        waiting.set(waiting.get() - 1);
    }

    /// Where the entry is that comes so many behind the first.
    fn index(&self, behind: u32) -> u32 {
        let (at, length) = (self.first.get() + behind, self.entries.len() as u32);
        if at < length { at } else { at - length }
    }

    fn has_room(&self, place: u32) -> bool {
        let most = if place == KERNEL { REPORTS } else { SHARE };
        u32::from(self.waiting[place as usize].get()) < most
    }

    /// Puts an entry for which there is room behind the last.
    fn append(&self, entry: &Entry) {
        self.entries[self.index(self.count.get()) as usize].set(*entry);
        self.count.set(self.count.get() + 1);
        let waiting = &self.waiting[entry.place as usize];
        waiting.set(waiting.get() + 1);
    }

    /// Panics where counts are not those of the entries, for tests.
    pub fn check(&self) {
        let waits = |behind| self.entries[self.index(behind) as usize].get();
        let entries = || (0..self.count.get()).map(waits);
        for (place, waiting) in (0..).zip(self.waiting) {
            let count = entries().filter(|entry| entry.place == place).count();
            assert_eq!(usize::from(waiting.get()), count, "entries of place {place}");
            let most = if place == KERNEL { REPORTS } else { SHARE };
            assert!(count <= most as usize, "place {place} has more than its share");
        }
        let texts = || entries().filter(|entry| entry.place != KERNEL);
        assert!(texts().all(|entry| (1..=ENTRY).contains(&entry.length.into())));
        let length = match entries().next().filter(|entry| entry.place == KERNEL) {
            None => texts().next().map_or(1, |entry| entry.length.into()),
            Some(_) => {
                let report = self.reports[usize::from(self.report.get())].get();
                report.part(self.part.get()).0.length()
            }
        };
        assert!(usize::from(self.sent.get()) < length, "the first entry is sent");
    }
}

/// Sends a text from here on as far as there is room: up to where, and what is left of the room.
#[inline(always)]
fn send<P: Port>(port: &P, text: &[u8], mut at: usize, mut room: usize) -> (usize, usize) {
    while at < text.len() {
        let ends_line = text[at] == b'\n';
        if room == 0 || ends_line && room == 1 {
            return (at, 0);
        }
        // In two branches, each of which knows what it sends.
        match ends_line {
            true => {
                port.console_put(b'\n');
                room -= 2;
            }
            false => {
                port.console_put(text[at]);
                room -= 1;
            }
        }
        at += 1;
    }
    (at, room)
}
