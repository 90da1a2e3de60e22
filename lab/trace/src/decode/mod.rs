//! Decoding a trace: the memory object that the kernel filled with records.

use abi::trace::{
    Event, HEADER_WORDS, Keep, MAGIC, PAGE_RECORDS, RECORD_WORDS, Record, WORD_CAPACITY, WORD_COST,
    WORD_CPU, WORD_CPUS, WORD_EVENTS, WORD_HZ, WORD_KEEP, WORD_KERNEL, WORD_MAGIC, WORD_START,
    WORD_TURN,
};

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

/// Why bytes cannot be read as a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// The bytes end early.
    #[error("the trace is truncated: it needs {expected} bytes and has {found}")]
    Truncated {
        /// Bytes that header and capacity ask for.
        expected: u64,
        /// Bytes at hand.
        found: u64,
    },
    /// The magic word is missing.
    #[error(
        "the trace was never begun (first word {first:#x}): the kernel was built without trace, \
         or the manifest names another memory object"
    )]
    NotBegun {
        /// What stands in place of the magic word.
        first: u64,
    },
    /// A word of the header makes no sense.
    #[error("the trace's header is damaged: {what} is {value:#x}")]
    Header {
        /// What the word says.
        what: &'static str,
        /// What stands there.
        value: u64,
    },
    /// No event has this number.
    #[error(
        "record {number} of the trace has the unknown event {event}: the kernel is newer than \
         this reader, or something else wrote into the trace"
    )]
    UnknownEvent {
        /// The record, counted from 0 in the order of events.
        number: u64,
        /// The event's number.
        event: u8,
    },
    /// A record is of another CPU than its trace.
    #[error(
        "record {number} of the trace is torn: it says CPU {found} in the trace of CPU {expected}"
    )]
    OtherCpu {
        /// The record, counted from 0 in the order of events.
        number: u64,
        /// What it says.
        found: u8,
        /// The CPU of the trace.
        expected: u8,
    },
    /// The memory holds the traces of several CPUs, which do not belong together.
    #[error("the trace of CPU {cpu} is not one of {cpus} of the same run: {what} differs")]
    Stranger {
        /// The CPU whose trace is wrong.
        cpu: u8,
        /// How many there should be.
        cpus: u8,
        /// What is not as in the first one.
        what: &'static str,
    },
    /// Two CPUs' records contradict each other: a clock runs backwards from one to the other.
    #[error("the CPUs' records contradict each other {at} steps after boot: {what}")]
    Disorder {
        /// Counter steps since boot.
        at: u64,
        /// What cannot have been.
        what: String,
    },
    /// A record is older than the one before it.
    #[error(
        "record {number} of the trace is torn: it is {steps} counter steps older than the last"
    )]
    Backwards {
        /// The record, counted from 0 in the order of events.
        number: u64,
        /// How much older.
        steps: u64,
    },
}

impl Trace {
    /// Decodes a trace from the bytes of its memory object. The kernel counts a record when it is
    /// complete, so a run that crashed can be read up to the crash.
    pub fn decode(bytes: &[u8]) -> Result<Trace, TraceError> {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let found = bytes.len() as u64;
        if words.len() < HEADER_WORDS {
            let first = words.first().map_or(0, |word| u64::from_le_bytes(*word));
            let expected = (HEADER_WORDS * 8) as u64;
            return match words.is_empty() || first == MAGIC {
                true => Err(TraceError::Truncated { expected, found }),
                false => Err(TraceError::NotBegun { first }),
            };
        }
        if word(WORD_MAGIC) != MAGIC {
            return Err(TraceError::NotBegun { first: word(WORD_MAGIC) });
        }
        let mut trace = header(word)?;
        let (records, _) = words[HEADER_WORDS..].as_chunks::<RECORD_WORDS>();
        let room = trace.capacity.saturating_mul((RECORD_WORDS * 8) as u64);
        let expected = room.saturating_add((HEADER_WORDS * 8) as u64);
        let records = usize::try_from(trace.capacity)
            .ok()
            .and_then(|capacity| records.get(..capacity))
            .ok_or(TraceError::Truncated { expected, found })?;
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
    fn read(&mut self, ring: &[[[u8; 8]; RECORD_WORDS]]) -> Result<(), TraceError> {
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
            let record =
                Record::from_words(words).ok_or(TraceError::UnknownEvent { number, event })?;
            if record.cpu != self.cpu {
                let (found, expected) = (record.cpu, self.cpu);
                return Err(TraceError::OtherCpu { number, found, expected });
            }
            let steps = match last {
                None => record.time.wrapping_sub(self.start) & STAMP,
                Some(last) => {
                    let here = last.wrapping_add(self.start);
                    let ahead = record.time.wrapping_sub(here) & STAMP;
                    if ahead > STAMP / 2 {
                        let steps = STAMP + 1 - ahead;
                        return Err(TraceError::Backwards { number, steps });
                    }
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

/// What the header says.
fn header(word: impl Fn(usize) -> u64) -> Result<Trace, TraceError> {
    let damaged = |what, index| TraceError::Header { what, value: word(index) };
    let keep = match word(WORD_KEEP) {
        0 => Keep::First,
        1 => Keep::Last,
        _ => return Err(damaged("what is kept", WORD_KEEP)),
    };
    let cpu = u8::try_from(word(WORD_CPU)).map_err(|_| damaged("the CPU", WORD_CPU))?;
    // Traces of before there were several CPUs say nothing.
    let cpus = u8::try_from(word(WORD_CPUS).max(1)).map_err(|_| damaged("the CPUs", WORD_CPUS))?;
    if cpu >= cpus {
        return Err(damaged("the CPU", WORD_CPU));
    }
    if word(WORD_HZ) == 0 {
        return Err(damaged("the counter's frequency", WORD_HZ));
    }
    let name: Vec<u8> = [word(WORD_KERNEL), word(WORD_KERNEL + 1)].map(u64::to_le_bytes).concat();
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    let (name, padding) = name.split_at(end);
    let printable = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    if !printable || padding.iter().any(|&byte| byte != 0) {
        return Err(damaged("the kernel's name", WORD_KERNEL));
    }
    Ok(Trace {
        kernel: String::from_utf8_lossy(name).into_owned(),
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
