//! Cache lines: which CPU has which, and what an access therefore moves.

use std::collections::BTreeMap;

/// What a CPU does to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// It does both at once.
    Swap,
}

/// What that costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The line is here.
    Hit,
    /// No CPU has had the line yet.
    Cold,
    /// The line comes from another CPU.
    Transfer,
    /// The line is here, and copies elsewhere die.
    Upgrade,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An access of a CPU to a line.
    Access(usize, usize, Access, Outcome),
    /// A mark of a CPU.
    Note(usize, &'static str),
}

impl Event {
    /// Whether it is a mark with this text.
    pub fn is_note(&self, wanted: &str) -> bool {
        matches!(self, Event::Note(_, text) if *text == wanted)
    }

    /// Whether a line moved.
    pub fn is_transfer(&self) -> bool {
        matches!(self, Event::Access(.., Outcome::Transfer))
    }
}

/// All lines.
pub struct Lines {
    /// The CPUs that have a copy, as bits.
    holders: BTreeMap<usize, u128>,
    events: Vec<Event>,
}

impl Lines {
    /// No CPU has any line.
    pub fn new() -> Lines {
        Lines { holders: BTreeMap::new(), events: Vec::new() }
    }

    /// An access, with what it costs. A lone copy counts as writable.
    pub fn access(&mut self, cpu: usize, line: usize, access: Access) {
        let me = 1 << cpu;
        let holders = self.holders.entry(line).or_default();
        let outcome = match *holders {
            0 => Outcome::Cold,
            all if all & me == 0 => Outcome::Transfer,
            all if all != me && access != Access::Load => Outcome::Upgrade,
            _ => Outcome::Hit,
        };
        *holders = if access == Access::Load { *holders | me } else { me };
        self.events.push(Event::Access(cpu, line, access, outcome));
    }

    /// A mark.
    pub fn note(&mut self, cpu: usize, text: &'static str) {
        self.events.push(Event::Note(cpu, text));
    }

    /// Everything so far.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}
