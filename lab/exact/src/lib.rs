//! A plugin of QEMU's that sees every instruction of a run. It takes two kinds of evidence:
//!
//! - `count`: how often each instruction was executed;
//! - `windows=PATH`, a file with lines `GROUP CPU MARK STEPS LESS`: what the CPU executed among
//!   the last so many instructions of all CPUs, before it executed for the given time, counted
//!   from 0, one of the instructions at the addresses `mark=ADDRESS`. Of a group the window is kept
//!   in which the CPU executed most, less the given number; of equals the last. When all were seen,
//!   the emulator ends. `cpus=N` says how many CPUs there are, and `back=N` how many instructions
//!   of each can be looked back at.
//!
//! `limit=N` ends the emulator after about so many instructions, always at the same one. The
//! evidence is written to the file `out=PATH`: a line `code` for each instruction, with its
//! address, the host's page that holds it, its bytes and its count; and a line `window` for each
//! window that was kept, with the number of its line from 0 and, as `BACK:CODE`, its instructions,
//! BACK instructions of all CPUs before the mark.

mod asked;
mod qemu;

use asked::Asked;
use qemu::{Code, Watcher};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fmt::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

/// Bits of the number of an instruction, in the word of one that was executed below its time.
const BITS: u32 = 20;
/// Instructions for which there is room.
const CODES: usize = 1 << BITS;

static ASKED: OnceLock<Asked> = OnceLock::new();
/// What has been translated, with its number.
static KNOWN: LazyLock<Mutex<HashMap<Code, usize>>> = LazyLock::new(Mutex::default);
/// How often each was executed, by number.
static COUNTS: LazyLock<Box<[AtomicU64]>> =
    LazyLock::new(|| (0..CODES).map(|_| AtomicU64::new(0)).collect());
/// How much was executed, block by block, and how much of it one by one.
static EXECUTED: AtomicU64 = AtomicU64::new(0);
static RECORDED: AtomicU64 = AtomicU64::new(0);
/// What each CPU executed.
static LAST: LazyLock<Vec<Last>> =
    LazyLock::new(|| (0..asked().cpus).map(|_| Last::new(asked().back)).collect());
/// How many windows were seen, and what was kept of them, by group.
static SEEN: Mutex<(usize, BTreeMap<u32, Kept>)> = Mutex::new((0, BTreeMap::new()));

/// What a CPU executed last.
struct Last {
    /// How many instructions it has executed, and how many marks.
    executed: AtomicU64,
    marks: AtomicU64,
    /// A ring of them: how many of all CPUs were before, and the number of the code.
    words: Box<[AtomicU64]>,
}

impl Last {
    fn new(back: u64) -> Last {
        let words = (0..back).map(|_| AtomicU64::new(0)).collect();
        Last { executed: AtomicU64::new(0), marks: AtomicU64::new(0), words }
    }

    fn word(&self, at: u64) -> &AtomicU64 {
        &self.words[at as usize & (self.words.len() - 1)]
    }

    /// What it executed since so many of all CPUs, as far back as can be seen.
    fn since(&self, time: u64) -> Range<u64> {
        let end = self.executed.load(Relaxed);
        let (mut low, mut high) = (end.saturating_sub(self.words.len() as u64), end);
        while low < high {
            let middle = low.midpoint(high);
            match self.word(middle).load(Relaxed) >> BITS >= time {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        low..end
    }
}

/// A window that was kept.
struct Kept {
    number: usize,
    /// How much the CPU executed in it, as windows are compared.
    counted: u64,
    /// How many instructions of all CPUs were before the mark.
    end: u64,
    words: Vec<u64>,
}

/// Installs the plugin.
///
/// # Safety
/// The emulator calls it, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    _: *const c_void,
    count: c_int,
    all: *const *const c_char,
) -> c_int {
    // SAFETY: the emulator passes these arguments.
    let arguments = unsafe { qemu::arguments(count, all) };
    match Asked::parse(&arguments) {
        Ok(asked) => {
            let _ = ASKED.set(asked);
            qemu::watch::<Evidence>(id);
            0
        }
        Err(wrong) => {
            eprintln!("{wrong}");
            1
        }
    }
}

fn asked() -> &'static Asked {
    ASKED.get().expect("it is set before anything is watched")
}

/// What is taken of a run.
struct Evidence;

impl Watcher for Evidence {
    fn translates(code: Code) -> Option<(extern "C" fn(c_uint, *mut c_void), usize)> {
        let asked = asked();
        let executes = match asked.count {
            true => counts,
            false if asked.windows.is_empty() => return None,
            false if asked.marks.contains(&code.address) => marks,
            false => records,
        };
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let next = known.len().min(CODES - 1);
        Some((executes, *known.entry(code).or_insert(next)))
    }

    fn executes(instructions: usize) {
        let executed = EXECUTED.fetch_add(instructions as u64, Relaxed);
        if executed >= asked().limit {
            Self::ends();
            qemu::leave();
        }
    }

    fn ends() {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut codes: Vec<_> = known.iter().collect();
        codes.sort_unstable_by_key(|(_, number)| **number);
        let mut text = String::new();
        for (code, number) in codes {
            let Code { address, page, bytes } = code;
            let _ = write!(text, "code {address:x} {page:x} ");
            bytes.iter().for_each(|byte| _ = write!(text, "{byte:02x}"));
            let _ = writeln!(text, " {}", COUNTS[*number].load(Relaxed));
        }
        for kept in SEEN.lock().unwrap_or_else(PoisonError::into_inner).1.values() {
            let _ = write!(text, "window {}", kept.number);
            for word in &kept.words {
                let (back, code) = (kept.end - (word >> BITS), word & (CODES as u64 - 1));
                let _ = write!(text, " {back}:{code}");
            }
            text.push('\n');
        }
        if let Err(error) = std::fs::write(&asked().out, text) {
            eprintln!("cannot write {}: {error}", asked().out);
        }
    }
}

extern "C" fn counts(_: c_uint, number: *mut c_void) {
    let count = &COUNTS[number as usize];
    // One CPU runs at a time.
    count.store(count.load(Relaxed) + 1, Relaxed);
}

extern "C" fn records(cpu: c_uint, number: *mut c_void) {
    let recorded = RECORDED.load(Relaxed);
    let last = &LAST[cpu as usize];
    let executed = last.executed.load(Relaxed);
    last.word(executed).store((recorded << BITS) | number as u64, Relaxed);
    last.executed.store(executed + 1, Relaxed);
    RECORDED.store(recorded + 1, Relaxed);
}

extern "C" fn marks(cpu: c_uint, number: *mut c_void) {
    let last = &LAST[cpu as usize];
    let mark = last.marks.fetch_add(1, Relaxed);
    let end = RECORDED.load(Relaxed);
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    for window in asked().ending((cpu, mark)) {
        seen.0 += 1;
        let executed = last.since(end.saturating_sub(window.steps));
        let counted = (executed.end - executed.start).saturating_sub(window.less);
        if seen.1.get(&window.group).is_none_or(|kept| kept.counted <= counted) {
            let words = executed.map(|at| last.word(at).load(Relaxed)).collect();
            let kept = Kept { number: window.number, counted, end, words };
            seen.1.insert(window.group, kept);
        }
    }
    let all = seen.0 == asked().windows.len();
    drop(seen);
    if all {
        Evidence::ends();
        qemu::leave();
    }
    records(cpu, number);
}
