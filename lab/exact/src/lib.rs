//! A plugin of QEMU's that sees every instruction of a run. It takes two kinds of evidence:
//!
//! - `count`: how often each instruction was executed;
//! - `window=CPU:MARK:STEPS`, any number: the last so many instructions of all CPUs before a CPU
//!   executes for the given time, counted from 0, one of the instructions at the addresses
//!   `mark=ADDRESS`. When it has all, it ends the emulator.
//!
//! `limit=N` ends the emulator after about so many instructions, always at the same one. The
//! evidence is written to the file `out=PATH`: a line `code` for each instruction, with its
//! address, the host's page that holds it, its bytes and its count; and a line `window` for each
//! window that was seen, with its number and, as `CPU:CODE`, its instructions.

mod asked;
mod qemu;

use asked::Asked;
use qemu::{Code, Watcher};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fmt::Write;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

/// Instructions for which there is room.
const CODES: usize = 1 << 20;
/// Executed instructions that can be looked back at.
const BACK: u64 = 1 << 22;
/// The CPU's place in the word of an executed instruction.
const CPU: u32 = 24;
/// CPUs for which there is room.
const CPUS: usize = 256;

static ASKED: OnceLock<Asked> = OnceLock::new();
/// What has been translated, with its number.
static KNOWN: LazyLock<Mutex<HashMap<Code, usize>>> = LazyLock::new(Mutex::default);
/// How often each was executed, by number.
static COUNTS: LazyLock<Box<[AtomicU64]>> =
    LazyLock::new(|| (0..CODES).map(|_| AtomicU64::new(0)).collect());
/// What was executed last: numbers with CPUs.
static LAST: LazyLock<Box<[AtomicU32]>> =
    LazyLock::new(|| (0..BACK).map(|_| AtomicU32::new(0)).collect());
/// How much was executed, block by block, and how much of it can be looked back at.
static EXECUTED: AtomicU64 = AtomicU64::new(0);
static RECORDED: AtomicU64 = AtomicU64::new(0);
/// How often each CPU has executed a mark.
static MARKS: [AtomicU64; CPUS] = [const { AtomicU64::new(0) }; CPUS];
/// The windows that were seen: their numbers, and what was executed in them.
static SEEN: Mutex<Vec<(usize, Vec<u32>)>> = Mutex::new(Vec::new());

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
        for (number, window) in SEEN.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = write!(text, "window {number}");
            for word in window {
                let _ = write!(text, " {}:{}", word >> CPU, word & ((1 << CPU) - 1));
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
    LAST[(recorded % BACK) as usize].store(cpu << CPU | number as u32, Relaxed);
    RECORDED.store(recorded + 1, Relaxed);
}

extern "C" fn marks(cpu: c_uint, number: *mut c_void) {
    let mark = MARKS[cpu as usize % CPUS].fetch_add(1, Relaxed);
    let windows = &asked().windows;
    let ends =
        windows.iter().enumerate().filter(|(_, window)| window.cpu == cpu && window.mark == mark);
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    for (index, window) in ends {
        let end = RECORDED.load(Relaxed);
        let steps = window.steps.min(end).min(BACK);
        let one = |at: u64| LAST[(at % BACK) as usize].load(Relaxed);
        seen.push((index, (end - steps..end).map(one).collect()));
    }
    let all = seen.len() == windows.len();
    drop(seen);
    if all {
        Evidence::ends();
        qemu::leave();
    }
    records(cpu, number);
}
