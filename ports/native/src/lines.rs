//! What a cache line takes (S1-14): from one CPU to another, and from each level of the caches.
//!
//! A writer modifies all lines of a buffer, then a reader follows a chain through them once, each
//! load waiting for the one before. The buffer's size decides to which level the lines have gone
//! by then. With both on one CPU that is the local column of the paper's table.

use crate::request::Request;
use crate::think::random;
use crate::{counter, pin};
use rustix::mm::{Advice, madvise};
use serde::Serialize;
use std::alloc::{Layout, alloc, dealloc};
use std::fs;
use std::slice;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;

/// Bytes of a line.
const LINE: usize = 64;
/// Hand-overs in one sample of the ping.
const HANDS: u64 = 200;
/// Lines that a sample reads at most: a random part of a large buffer.
const SAMPLE: usize = 1 << 12;
/// Bytes that all rounds at a level write in all at most.
const WRITTEN: u64 = 1 << 30;
/// Bytes of a page that buffers are made of, if the host has it.
const LARGE_PAGE: usize = 2 << 20;
/// Bytes of a page.
const PAGE: usize = abi::PAGE as usize;

/// What is measured.
#[derive(Serialize)]
pub struct Lines {
    /// One line that two CPUs modify in turn.
    pub pings: Vec<Ping>,
    /// Lines that a CPU has modified and one reads.
    pub levels: Vec<Level>,
}

/// A line between two CPUs.
#[derive(Serialize)]
pub struct Ping {
    /// The host's numbers of both.
    pub between: [usize; 2],
    /// Ticks for one way, each the mean of many.
    pub ticks: Vec<u64>,
}

/// A level of the caches.
#[derive(Serialize)]
pub struct Level {
    /// Its name.
    pub level: String,
    /// Bytes of the buffer.
    pub bytes: usize,
    /// The host's numbers of writer and reader.
    pub writer: usize,
    /// See [`Level::writer`].
    pub reader: usize,
    /// Hundredths of ticks for one load, each the mean of all lines.
    pub hundredths: Vec<u64>,
}

/// Measures.
pub fn measure(request: &Request) -> Result<Lines, String> {
    let wanted = request.cpus.iter().copied().max().unwrap_or(1);
    let host = pin::choose(wanted)?;
    let mut found = Lines { pings: Vec::new(), levels: Vec::new() };
    for (index, first) in host.iter().enumerate() {
        for second in &host[index + 1..] {
            let ticks = ping([*first, *second], request.rounds)?;
            found.pings.push(Ping { between: [*first, *second], ticks });
        }
    }
    let reader = host[0];
    for (level, bytes) in sizes() {
        for writer in &host {
            let hundredths = level_of(bytes, *writer, reader, request)?;
            let level = level.clone();
            found.levels.push(Level { level, bytes, writer: *writer, reader, hundredths });
        }
    }
    Ok(found)
}

/// Levels with the bytes of a buffer that fits them and not the level before: a quarter of the
/// last caches, of which others use a part; and four times the last for memory.
fn sizes() -> Vec<(String, usize)> {
    let mut sizes = Vec::new();
    let mut last = 32 << 10;
    for index in 0..8 {
        let about = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        let read = |name: &str| fs::read_to_string(format!("{about}/{name}")).ok();
        let (Some(kind), Some(level), Some(size)) = (read("type"), read("level"), read("size"))
        else {
            break;
        };
        let size = size.trim().strip_suffix('K').and_then(|size| size.parse::<usize>().ok());
        let (Some(size), true) = (size, kind.trim() != "Instruction") else { continue };
        let bytes = size << 10;
        let part = if level.trim() == "1" { bytes / 2 } else { (bytes / 4).max(last * 2) };
        sizes.push((format!("L{}", level.trim()), part));
        last = bytes;
    }
    if sizes.is_empty() {
        sizes.push(("L1".to_string(), last / 2));
    }
    sizes.push(("memory".to_string(), (last * 4).min(256 << 20)));
    sizes
}

/// Runs two halves of an experiment, each pinned to its CPU.
fn together<A: Send, B: Send>(
    [first, second]: [usize; 2],
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> Result<(A, B), String> {
    thread::scope(|scope| {
        let one = scope.spawn(move || pin::pin(first).map(|()| one()));
        let other = scope.spawn(move || pin::pin(second).map(|()| other()));
        let joined = |_| "a thread has panicked".to_string();
        Ok((one.join().map_err(joined)??, other.join().map_err(joined)??))
    })
}

/// A line that two CPUs increment in turn.
fn ping(between: [usize; 2], rounds: u64) -> Result<Vec<u64>, String> {
    let line = locks::Line::new(AtomicU64::new(0));
    let hands = (rounds + 1) * HANDS;
    // No pause in between: it would be part of the time.
    let take = |mine: u64| {
        while line.load(Acquire) != mine {}
        line.store(mine + 1, Release);
    };
    let one = || {
        let mut samples = Vec::new();
        let mut begun = 0;
        for hand in 0..hands {
            take(2 * hand);
            if (hand + 1) % HANDS == 0 {
                let now = counter::settled();
                // The first sample began before both were there.
                if begun != 0 {
                    samples.push((now - begun) / (2 * HANDS));
                }
                begun = now;
            }
        }
        samples
    };
    let other = || (0..hands).for_each(|hand| take(2 * hand + 1));
    Ok(together(between, one, other)?.0)
}

/// A buffer of lines, each with the number of the next one of a chain through all of them.
struct Chain {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: the buffer consists of atomics alone.
unsafe impl Sync for Chain {}

impl Chain {
    /// A chain in random order, so that no line follows from the one before.
    fn new(bytes: usize, seed: u64) -> Chain {
        let layout = Layout::from_size_align(bytes, LARGE_PAGE).expect("a size that fits");
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc(layout) };
        assert!(!start.is_null(), "out of memory");
        // The advice comes before the first touch; a host that does not take it has dearer
        // translations.
        // SAFETY: the memory just allocated, which the advice leaves as it is.
        let _ =
            unsafe { madvise(start.cast(), bytes.next_multiple_of(PAGE), Advice::LinuxHugepage) };
        // SAFETY: the memory just allocated.
        unsafe { start.write_bytes(0, bytes) };
        let chain = Chain { start, layout };
        let mut order: Vec<usize> = (1..chain.lines()).collect();
        let mut seed = seed;
        for index in (1..order.len()).rev() {
            order.swap(index, random(&mut seed) as usize % (index + 1));
        }
        let mut at = 0;
        for next in order {
            chain.line(at)[0].store(next as u64, Relaxed);
            at = next;
        }
        chain.line(at)[0].store(0, Relaxed);
        chain
    }

    fn lines(&self) -> usize {
        self.layout.size() / LINE
    }

    fn line(&self, index: usize) -> &[AtomicU64] {
        assert!(index < self.lines());
        // SAFETY: a line within the buffer, which is zeroed, aligned and lives as long as `self`.
        unsafe { slice::from_raw_parts(self.start.add(index * LINE).cast::<AtomicU64>(), 8) }
    }

    /// Modifies every line.
    fn write(&self) {
        for index in 0..self.lines() {
            let word = &self.line(index)[1];
            word.store(word.load(Relaxed) + 1, Relaxed);
        }
    }

    /// Follows the chain from its beginning; returns the hundredths of ticks that each load took.
    fn read(&self, overhead: u64) -> u64 {
        let (mut at, count, begun) = (0, self.lines().min(SAMPLE), counter::settled());
        for _ in 0..count {
            at = self.line(at)[0].load(Relaxed) as usize;
        }
        let taken = (counter::settled() - begun).saturating_sub(overhead);
        // What the loads led to is used, so that they cannot be left out.
        assert!(at < self.lines(), "the chain leads out of the buffer");
        taken * 100 / count as u64
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start, self.layout) };
    }
}

/// One CPU writes a buffer, then one reads it, round by round.
fn level_of(
    bytes: usize,
    writer: usize,
    reader: usize,
    request: &Request,
) -> Result<Vec<u64>, String> {
    let chain = Chain::new(bytes, request.seed);
    let (overhead, turn) = (counter::overhead(), AtomicU64::new(0));
    let rounds = request.rounds.min(WRITTEN / bytes as u64).max(3);
    if writer == reader {
        pin::pin(reader)?;
        let sample = |_| {
            chain.write();
            chain.read(overhead)
        };
        return Ok((0..=rounds).map(sample).skip(1).collect());
    }
    let wait = |until: u64| {
        while turn.load(Acquire) != until {
            std::hint::spin_loop();
        }
    };
    let write = || {
        for round in 0..=rounds {
            wait(2 * round);
            chain.write();
            turn.store(2 * round + 1, Release);
        }
    };
    let read = || {
        let sample = |round| {
            wait(2 * round + 1);
            let taken = chain.read(overhead);
            turn.store(2 * round + 2, Release);
            taken
        };
        (0..=rounds).map(sample).skip(1).collect()
    };
    Ok(together([writer, reader], write, read)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_leads_through_all_lines() {
        let chain = Chain::new(64 << 10, 1);
        chain.write();
        let _ = chain.read(0);
        let mut seen = vec![false; chain.lines()];
        let mut at = 0;
        for _ in 0..chain.lines() {
            seen[at] = true;
            at = chain.line(at)[0].load(Relaxed) as usize;
        }
        assert!(seen.into_iter().all(|line| line) && at == 0);
        assert!((0..chain.lines()).all(|line| chain.line(line)[1].load(Relaxed) == 1));
    }

    #[test]
    fn levels_grow() {
        let sizes = sizes();
        assert!(sizes.len() >= 2 && sizes.windows(2).all(|pair| pair[0].1 < pair[1].1));
        assert_eq!(sizes.last().map(|(name, _)| name.as_str()), Some("memory"));
    }

    #[test]
    fn one_cpu_has_no_pairs() {
        let words = ["lines", "--rounds", "3"].map(String::from);
        let request = Request::parse(&words).expect("a command line");
        let own = pin::available().unwrap()[0];
        let hundredths = level_of(16 << 10, own, own, &request);
        assert_eq!(hundredths.map(|samples| samples.len()), Ok(3));
    }
}
