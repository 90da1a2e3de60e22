//! What a measuring thread has seen, in memory that it shares with the thread that prints.
//!
//! As in rt-tests a histogram has as many places for the cycles of overflows as it has bins.

use super::options::Options;
use rt::Words;

/// One thread's part of the memory: counters, bins of the histogram, as many cycles of samples
/// beyond it, and single samples.
#[derive(Clone, Copy)]
pub struct Tally {
    words: Words,
    bins: usize,
}

/// Counters.
#[derive(Clone, Copy)]
enum Of {
    Count,
    Least,
    Last,
    Most,
    Sum,
    Overflows,
    Broke,
    Done,
    Missed,
}

/// What is told as the least of no samples, as by rt-tests.
const NONE: u64 = 1_000_000;

/// Words before the bins.
const HEAD: usize = 16;

impl Tally {
    /// Words that a thread needs.
    pub fn needs(options: &Options) -> usize {
        HEAD + 2 * options.histogram as usize
    }

    /// A thread's part; each of `threads` has an equal one.
    pub fn of(memory: Words, thread: u64, options: &Options) -> Tally {
        let each = memory.len() / options.threads as usize;
        let words = memory.part(thread as usize * each, each);
        Tally { words, bins: options.histogram as usize }
    }

    fn get(&self, counter: Of) -> u64 {
        self.words.get(counter as usize)
    }

    fn set(&self, counter: Of, value: u64) {
        self.words.set(counter as usize, value);
    }

    /// Adds a sample in units that are printed.
    pub fn add(&self, value: u64, verbose: bool) {
        let count = self.get(Of::Count);
        if count == 0 || value < self.get(Of::Least) {
            self.set(Of::Least, value);
        }
        self.set(Of::Most, value.max(self.get(Of::Most)));
        self.set(Of::Last, value);
        self.set(Of::Sum, self.get(Of::Sum) + value);
        if self.bins > 0 {
            if value < self.bins as u64 {
                let bin = HEAD + value as usize;
                self.words.set(bin, self.words.get(bin) + 1);
            } else {
                let overflows = self.get(Of::Overflows);
                if overflows < self.bins as u64 {
                    self.words.set(HEAD + self.bins + overflows as usize, count);
                }
                self.set(Of::Overflows, overflows + 1);
            }
        }
        let place = self.samples_from() + count as usize;
        if verbose && place < self.words.len() {
            self.words.set(place, value);
        }
        self.set(Of::Count, count + 1);
    }

    /// Notes instants that passed before the thread could wait for them.
    pub fn miss(&self, instants: u64) {
        self.set(Of::Missed, self.get(Of::Missed) + instants);
    }

    /// The latency ended the run.
    pub fn breaks(&self, value: u64) {
        self.set(Of::Broke, value);
    }

    /// The thread measures no more.
    pub fn finish(&self) {
        self.set(Of::Done, 1);
    }

    /// Samples.
    pub fn count(&self) -> u64 {
        self.get(Of::Count)
    }

    /// The least sample.
    pub fn least(&self) -> u64 {
        if self.count() == 0 { NONE } else { self.get(Of::Least) }
    }

    /// The last one.
    pub fn last(&self) -> u64 {
        self.get(Of::Last)
    }

    /// The greatest one.
    pub fn most(&self) -> u64 {
        self.get(Of::Most)
    }

    /// The mean in hundredths.
    pub fn mean(&self) -> u64 {
        (self.get(Of::Sum) * 100).checked_div(self.count()).unwrap_or(0)
    }

    /// Samples beyond the histogram.
    pub fn overflows(&self) -> u64 {
        self.get(Of::Overflows)
    }

    /// The cycles of the first of them, counted from 0.
    pub fn overflow_cycles(&self) -> impl Iterator<Item = u64> + '_ {
        let kept = self.overflows().min(self.bins as u64) as usize;
        (0..kept).map(|index| self.words.get(HEAD + self.bins + index))
    }

    /// Where single samples begin.
    fn samples_from(&self) -> usize {
        HEAD + 2 * self.bins
    }

    /// The latency that ended the run, or 0.
    pub fn broke(&self) -> u64 {
        self.get(Of::Broke)
    }

    /// Whether the thread has finished.
    pub fn is_done(&self) -> bool {
        self.get(Of::Done) != 0
    }

    /// Instants that were missed.
    pub fn missed(&self) -> u64 {
        self.get(Of::Missed)
    }

    /// A bin of the histogram.
    pub fn bin(&self, bin: usize) -> u64 {
        self.words.get(HEAD + bin)
    }

    /// The single samples that were kept.
    pub fn samples(&self) -> impl Iterator<Item = u64> + '_ {
        let from = self.samples_from();
        let room = self.words.len() - from;
        (0..room.min(self.count() as usize)).map(move |index| self.words.get(from + index))
    }
}
