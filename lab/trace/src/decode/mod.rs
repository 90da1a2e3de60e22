//! Decoding a trace: the memory object that the kernel filled with records.

use abi::trace::{
    Event, HEADER_WORDS, Keep, MAGIC, PAGE_RECORDS, RECORD_WORDS, Record, WORD_CAPACITY, WORD_COST,
    WORD_CPU, WORD_CPUS, WORD_EVENTS, WORD_HZ, WORD_KEEP, WORD_KERNEL, WORD_START, WORD_TURN,
};
use anyhow::{Context, Result, bail, ensure};

/// The bits of a record's stamp.
const STAMP: u64 = (1 << 48) - 1;

/// One event and when it happened. What `thread`, `argument` and `extra` say depends on the
/// [event](Event).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Counter steps since boot.
    pub steps: u64,
    /// Nanoseconds since boot.
    pub ns: u64,
    /// What happened.
    pub event: Event,
    /// The thread that it is about: its index, the idle thread's is 0.
    pub thread: u16,
    /// What else it says.
    pub argument: u32,
    /// More of it.
    pub extra: u16,
    /// On which CPU.
    pub cpu: u8,
    /// Counter steps that writing its record took, from the instant of the moment on.
    pub cost: u64,
}

/// The trace of one CPU, or of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The name that the running kernel reported.
    pub kernel: String,
    /// The CPU; of all, the first.
    pub cpu: u8,
    /// How many CPUs there are.
    pub cpus: u8,
    /// Whether it holds the moments of all of them.
    pub whole: bool,
    /// The counter's frequency in Hz.
    pub hz: u64,
    /// The counter's value at boot.
    pub start: u64,
    /// Which records are lost when there are too many.
    pub keep: Keep,
    /// How many records there is room for.
    pub capacity: u64,
    /// How many events there were, kept or not.
    pub events: u64,
    /// Counter steps that writing one record takes.
    pub cost: u64,
    /// Counter steps that a record takes beyond [`Trace::cost`] when it fills a page.
    pub turn: u64,
    /// The records that were kept, in the order of their events.
    pub moments: Vec<Moment>,
}

impl Trace {
    /// Decodes a trace from the bytes of its memory object. The kernel counts a record when it is
    /// complete, so a run that crashed can be read up to the crash.
    pub fn decode(bytes: &[u8]) -> Result<Trace> {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let first = words.first().map(|word| u64::from_le_bytes(*word));
        ensure!(
            first.is_none_or(|first| first == MAGIC),
            "the trace was never begun (first word {:#x}): the kernel was built without trace, or \
             the manifest names another memory object",
            first.unwrap_or_default()
        );
        let room = |records: u64| {
            records.saturating_mul(RECORD_WORDS as u64 * 8).saturating_add(HEADER_WORDS as u64 * 8)
        };
        ensure!(words.len() >= HEADER_WORDS, truncated(room(0), bytes));
        let mut trace = header(word)?;
        let (records, _) = words[HEADER_WORDS..].as_chunks::<RECORD_WORDS>();
        let records = usize::try_from(trace.capacity)
            .ok()
            .and_then(|capacity| records.get(..capacity))
            .with_context(|| truncated(room(trace.capacity), bytes))?;
        trace.read(records)?;
        Ok(trace)
    }

    /// Events whose records were not kept.
    pub fn lost(&self) -> u64 {
        self.events.saturating_sub(self.capacity)
    }

    /// When the first kept record was written, and the last, in ns since boot.
    pub fn span(&self) -> Option<(u64, u64)> {
        Some((self.moments.first()?.ns, self.moments.last()?.ns))
    }

    /// When the kernel was first entered or left after boot, in ns since boot.
    pub fn begun(&self) -> Option<u64> {
        let entry = |moment: &&Moment| matches!(moment.event, Event::Enter | Event::Exit);
        self.moments.iter().find(entry).map(|moment| moment.ns)
    }

    /// The CPUs whose moments it holds.
    pub fn held(&self) -> std::ops::Range<u8> {
        if self.whole { 0..self.cpus } else { self.cpu..self.cpu + 1 }
    }

    /// Counter steps as nanoseconds.
    pub fn ns(&self, steps: u64) -> u64 {
        let ns = u128::from(steps) * 1_000_000_000 / u128::from(self.hz);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// The low half of the counter at a moment.
    pub(crate) fn low(&self, steps: u64) -> u32 {
        self.start.wrapping_add(steps) as u32
    }

    /// The steps between two moments of a CPU without what writing the records took: each record
    /// between the two stamps, the first included, took its [`Moment::cost`].
    pub fn net(&self, from: usize, to: usize) -> u64 {
        let gross = self.moments[to].steps - self.moments[from].steps;
        let costs = self.moments[from..to].iter().map(|moment| moment.cost);
        costs.fold(gross, u64::saturating_sub)
    }

    /// Reads the records that the ring holds, oldest first.
    fn read(&mut self, ring: &[[[u8; 8]; RECORD_WORDS]]) -> Result<()> {
        let kept = self.events.min(self.capacity);
        let first = match self.keep {
            Keep::First => 0,
            Keep::Last => self.events - kept,
        };
        self.moments.reserve(ring.len().min(kept as usize));
        let mut last: Option<u64> = None;
        for number in first..first + kept {
            let place = (number % self.capacity) as usize;
            let words = ring[place].map(u64::from_le_bytes);
            let event = (words[1] >> 8) as u8;
            let record = Record::from_words(words).with_context(|| {
                format!(
                    "record {number} of the trace has the unknown event {event}: the kernel is \
                     newer than this reader, or something else wrote into the trace"
                )
            })?;
            ensure!(
                record.cpu == self.cpu,
                "record {number} of the trace is torn: it says CPU {} in the trace of CPU {}",
                record.cpu,
                self.cpu
            );
            let steps = match last {
                None => record.time.wrapping_sub(self.start) & STAMP,
                Some(last) => {
                    let here = last.wrapping_add(self.start);
                    let ahead = record.time.wrapping_sub(here) & STAMP;
                    ensure!(
                        ahead <= STAMP / 2,
                        "record {number} of the trace is torn: it is {} counter steps older than \
                         the last",
                        STAMP + 1 - ahead
                    );
                    last.saturating_add(ahead)
                }
            };
            last = Some(steps);
            let Record { thread, argument, extra, event, .. } = record;
            let ns = self.ns(steps);
            let fills = (place + 1).is_multiple_of(PAGE_RECORDS);
            let cost = self.cost.saturating_add(if fills { self.turn } else { 0 });
            let cpu = self.cpu;
            self.moments.push(Moment { steps, ns, event, thread, argument, extra, cpu, cost });
        }
        Ok(())
    }
}

fn truncated(expected: u64, bytes: &[u8]) -> String {
    format!("the trace is truncated: it needs {expected} bytes and has {}", bytes.len())
}

/// What the header says.
fn header(word: impl Fn(usize) -> u64) -> Result<Trace> {
    let damaged =
        |what: &str, index| format!("the trace's header is damaged: {what} is {:#x}", word(index));
    let keep = match word(WORD_KEEP) {
        0 => Keep::First,
        1 => Keep::Last,
        _ => bail!(damaged("what is kept", WORD_KEEP)),
    };
    // Traces of before there were several CPUs say nothing.
    let cpus = u8::try_from(word(WORD_CPUS).max(1));
    let cpus = cpus.ok().with_context(|| damaged("the CPUs", WORD_CPUS))?;
    let cpu = u8::try_from(word(WORD_CPU)).ok().filter(|cpu| *cpu < cpus);
    let cpu = cpu.with_context(|| damaged("the CPU", WORD_CPU))?;
    ensure!(word(WORD_HZ) != 0, damaged("the counter's frequency", WORD_HZ));
    let kernel = results::name_in([word(WORD_KERNEL), word(WORD_KERNEL + 1)]);
    Ok(Trace {
        kernel: kernel.with_context(|| damaged("the kernel's name", WORD_KERNEL))?,
        cpu,
        cpus,
        whole: cpus == 1,
        hz: word(WORD_HZ),
        start: word(WORD_START),
        keep,
        capacity: word(WORD_CAPACITY),
        events: word(WORD_EVENTS),
        cost: word(WORD_COST),
        turn: word(WORD_TURN),
        moments: Vec::new(),
    })
}

mod together;

pub use together::Traces;

#[cfg(test)]
mod tests;
