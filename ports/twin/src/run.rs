//! A whole run, from archive to outcome.

use crate::attached::Attached;
use crate::costs::Costs;
use crate::hardware::{Hardware, Shutdown};
use crate::lines::Lines;
use crate::locking::{BigLock, ElidedLock, FineLocks, MOST_CPUS};
use crate::memory::Ram;
use crate::typist::{Ask, Typist};
use crate::window::Window;
use crate::{kernels, machine_code, meter, signals};
use abi::PAGE;
use abi::boot::WORD_CPUS;
use abi::statistics::Counter;
use cells::Watcher;
use kernel::arena::Arena;
use kernel::boot::Archive;
use kernel::locks::{LockPolicy, Unlocked};
use rt::arch::hosted::{self, Machine};
use std::any::Any;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use twin_protocol::Run;
pub use twin_protocol::{End, Options, Outcome};

/// A reference that outlives its type.
///
/// # Safety
/// It is not used once the value is gone.
pub unsafe fn lengthen<T: ?Sized>(value: &T) -> &'static T {
    // SAFETY: up to the caller.
    unsafe { &*std::ptr::from_ref(value) }
}

/// How a run ended that was left so.
pub fn ended_by(cause: Box<dyn Any + Send>) -> End {
    match cause.downcast::<Shutdown>() {
        Ok(shutdown) => End::Done(shutdown.0),
        Err(_) => End::Panic(hosted::message_of_panic()),
    }
}

/// Runs the kernel that the options name under the lock policy that they name.
fn run_kernel(
    options: &'static Options,
    hardware: &'static Hardware,
    archive: Archive,
    arena: &mut Arena,
) -> Option<End> {
    let usual = if hardware.processors.len() == 1 { Unlocked::NAME } else { BigLock::NAME };
    match options.locking.as_deref().unwrap_or(usual) {
        Unlocked::NAME => kernels::run::<Unlocked>(options, hardware, archive, arena),
        BigLock::NAME => kernels::run_locked::<BigLock>(options, hardware, archive, arena),
        FineLocks::NAME => kernels::run_locked::<FineLocks>(options, hardware, archive, arena),
        ElidedLock::NAME => kernels::run_locked::<ElidedLock>(options, hardware, archive, arena),
        other => panic!("the twin has no kernel under the locking `{other}`"),
    }
}

/// The counters of a CPU now.
fn counters(cpu: u32) -> [u64; Counter::ALL.len()] {
    meter::statistics(cpu, |statistics| {
        Counter::ALL.map(|counter| statistics.counter(counter, meter::now(), None))
    })
}

/// The machine's RAM, and the file that it is if programs may be machine code.
fn ram(options: &Options) -> (Ram, Option<OwnedFd>) {
    let pages = (options.memory / PAGE) as usize;
    if !options.machine_code {
        return (Ram::new(pages), None);
    }
    let (ram, file) = Ram::in_file(pages).expect("the host has memory for the machine");
    (ram, Some(file))
}

/// What is in a memory that begins at a physical address.
fn read(hardware: &Hardware, first: u64, bytes: u64) -> Vec<u8> {
    if first == 0 {
        // The run ended before the memory was made.
        return Vec::new();
    }
    let pages = (first..first + bytes.next_multiple_of(PAGE)).step_by(PAGE as usize);
    let mut contents = Vec::with_capacity(bytes.next_multiple_of(PAGE) as usize);
    for word in pages.flat_map(|page| hardware.frame(page)) {
        contents.extend_from_slice(&word.load(Relaxed).to_le_bytes());
    }
    contents.truncate(bytes as usize);
    contents
}

/// Boots an archive and runs it. If the run listens, `ask` is told each line that programs print,
/// and says what is typed then.
///
/// # Panics
/// If no kernel or locking has the name in the options.
pub fn run(run: &Run, ask: Ask) -> Outcome {
    let Run { archive, options, wanted } = run;
    hosted::remember_panics();
    signals::watch();
    let (ram, file) = ram(options);
    let words: Box<[AtomicU64]> = archive.iter().copied().map(AtomicU64::new).collect();
    // SAFETY: handed out once; kernel and programs are gone when `ram` is dropped, at the end.
    let (frames, mut arena) = unsafe { ram.hand_out() };
    let cpus = archive.get(WORD_CPUS).map_or(1, |&cpus| cpus.clamp(1, MOST_CPUS.into()));
    meter::reset(cpus as u32, &Costs::of(options), options.log);
    // SAFETY: as above: these are dropped after everything that refers to them.
    let (module, kept) = unsafe { (lengthen(&*words), lengthen(options)) };
    let typist = options.listens.then(|| Typist::new(ask));
    let window = file.map(|file| Window::new(file, frames.as_ptr().addr()));
    let attached = Attached::new(options, module);
    let mut twin = Hardware::new(options, cpus as u32, frames, attached, window);
    twin.typist = typist;
    // SAFETY: likewise.
    let port = unsafe { lengthen(&twin) };
    let before = hosted::install(Some(port as &'static dyn Machine));
    Hardware::install(Some(port));
    let locked = options.locking.as_deref().is_some_and(|locking| locking != Unlocked::NAME);
    let watched = cells::watch((cpus > 1 || locked).then_some(port as &'static dyn Watcher));
    if options.machine_code {
        machine_code::tell_time(true);
    }
    let end =
        catch_unwind(AssertUnwindSafe(|| run_kernel(kept, port, Archive::new(module), &mut arena)));
    if options.machine_code {
        machine_code::tell_time(false);
    }
    cells::watch(watched);
    Hardware::install(None);
    hosted::install(before);
    let end = match end {
        Ok(Some(end)) => end,
        Ok(None) => panic!("no kernel is called `{}`", options.kernel),
        Err(cause) => ended_by(cause),
    };
    let read = |(word, bytes): &(usize, u64)| read(port, words[*word].load(Relaxed), *bytes);
    let log = meter::log();
    let spelled = log[log.len().saturating_sub(options.spell)..].iter();
    Outcome {
        memories: wanted.iter().map(read).map(Vec::into).collect(),
        end,
        console: String::from_utf8_lossy(&twin.take_output()).into_owned(),
        time: meter::now(),
        entries: twin.entries.get(),
        places: twin.places.get(),
        worked: twin.worked.take(),
        events: meter::events(),
        counts: meter::counts().to_vec(),
        statistics: (0..cpus as u32).map(|cpu| counters(cpu).to_vec()).collect(),
        most_blocked: twin.most_blocked.get(),
        calls: twin.calls.as_ref().map(|calls| calls.take()).unwrap_or_default(),
        spelled: spelled.map(|step| format!("{step:?}")).collect(),
        log: log.iter().map(|step| step.word()).collect(),
        sections: twin.sections.get(),
        ipis: twin.processors.iter().map(|cpu| cpu.ipis.get()).collect(),
        barriers: twin.barriers.get(),
        threads: twin.threads.take(),
        given_up: twin.given_up.take(),
        wires: twin.attached.as_ref().map(Attached::take_record).unwrap_or_default(),
        shared: twin.lines.as_ref().map(Lines::shared).unwrap_or_default(),
    }
}
