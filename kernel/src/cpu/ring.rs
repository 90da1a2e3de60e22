//! Where one CPU's trace records go: a ring in memory that the manifest names ([`abi::trace`],
//! S2C-10). Writing never waits and never allocates.

use crate::port::{Frame, Port};
use abi::trace::{Event, HEADER_WORDS, Keep, RECORD_WORDS, WORD_EVENTS};
use cells::Cell;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Relaxed, Release};
use locks::Cause;

/// Words in a page.
const WORDS: usize = size_of::<Frame>() / size_of::<u64>();

/// Where one CPU's records go.
pub struct Ring {
    /// Physical address of the memory; 0: there is none.
    pub(super) at: Cell<u64>,
    pub(super) pages: Cell<u64>,
    pub(super) keep: Cell<Keep>,
    /// The header, and the page that is being filled; `None`: there is no room left.
    open: Cell<Option<[&'static Frame; 2]>>,
    /// Its number, from 1, since the header is the memory's first.
    number: Cell<u64>,
    /// The word of it that comes next.
    pub(super) next: Cell<usize>,
    /// The events that are wanted.
    pub(super) wanted: Cell<u64>,
    /// The same while the trace is on, else 0.
    pub(super) mask: Cell<u64>,
    /// Aborts by cause that records tell of; this CPU's alone.
    pub(super) told: [AtomicU64; Cause::ALL.len()],
}

impl Ring {
    /// No ring.
    pub const fn new() -> Ring {
        Ring {
            at: Cell::new(0),
            pages: Cell::new(0),
            keep: Cell::new(Keep::First),
            open: Cell::new(None),
            number: Cell::new(0),
            next: Cell::new(0),
            wanted: Cell::new(0),
            mask: Cell::new(0),
            told: [const { AtomicU64::new(0) }; Cause::ALL.len()],
        }
    }

    /// Whether there is one.
    pub fn exists(&self) -> bool {
        self.at.get() != 0
    }

    /// Whether events of a kind are written now.
    pub fn wants(&self, event: Event) -> bool {
        self.mask.get() & event.bit() != 0
    }

    /// Begins to fill a page, or the first again, or none.
    #[cold]
    #[inline(never)]
    pub(super) fn turn_to<P: Port>(&self, port: &P, number: u64) {
        let number = match self.keep.get() {
            Keep::Last if number == self.pages.get() => 1,
            _ => number,
        };
        self.number.set(number);
        self.next.set(0);
        let exists = number < self.pages.get();
        let frame = |number| port.frame(self.at.get() + number * P::PAGE);
        self.open.set(exists.then(|| [frame(0), frame(number)]));
    }

    /// Counts an event for which there is no room.
    #[cold]
    #[inline(never)]
    fn lose<P: Port>(&self, port: &P) {
        count(port, port.frame(self.at.get()));
    }

    /// Counts an event and writes its record, if there is room or the oldest may go.
    #[inline(always)]
    pub(super) fn write<P: Port>(&self, port: &P, [low, high]: [u64; RECORD_WORDS]) {
        let Some([header, page]) = self.open.get() else { return self.lose(port) };
        // Never beyond the page: the mask saves the check.
        let at = self.next.get() & (WORDS - RECORD_WORDS);
        let words = [&page[at], &page[at + 1]];
        words.into_iter().for_each(|word| port.overwrites(word));
        words[0].store(low, Relaxed);
        words[1].store(high, Relaxed);
        self.next.set(at + RECORD_WORDS);
        count(port, header);
        if at == WORDS - RECORD_WORDS {
            // The last thing, so that the usual way needs no stack.
            self.turn_to(port, self.number.get() + 1);
        }
    }
}

impl Default for Ring {
    fn default() -> Self {
        Ring::new()
    }
}

/// Counts an event, after its record: a reader that sees the count sees the record.
#[inline(always)]
fn count<P: Port>(port: &P, header: &Frame) {
    port.overwrites(&header[WORD_EVENTS]);
    let events = header[WORD_EVENTS].load(Relaxed);
    header[WORD_EVENTS].store(events.wrapping_add(1), Release);
}

// The header takes one page, on which `turn_to` relies, and numbers of events fit into a mask.
const _: () = assert!(HEADER_WORDS == WORDS && Event::ALL.len() < 64);
