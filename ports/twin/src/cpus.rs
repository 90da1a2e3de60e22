//! Several CPUs: a coroutine each, which the order of the machine lets go on.

use crate::hardware::Hardware;
use crate::run::{End, ended_by};
use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

/// Bytes of a CPU's stack.
const STACK: usize = 512 << 10;

type Cpu = Coroutine<(), (), End>;

fn cpu(hardware: &'static Hardware, number: u32, work: impl FnOnce() -> End + 'static) -> Cpu {
    let stack = DefaultStack::new(STACK).expect("memory for a CPU's stack");
    Coroutine::with_stack(stack, move |way_out: &Yielder<(), ()>, ()| {
        hardware.processors[number as usize].way_out.set(way_out);
        hardware.begins(number);
        // What ends the run unwinds no further than to where the CPU began.
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(ended_by)
    })
}

/// Runs a section that may be undone, anew after each time that it was.
pub fn section<R>(hardware: &'static Hardware, work: impl Fn() -> R) -> R {
    let me = hardware.here();
    me.transaction.begin_section();
    loop {
        me.transaction.begin_attempt();
        let outer = me.way_out.get();
        let done = attempt(hardware, &work);
        me.way_out.set(outer);
        match done {
            Some(Ok(done)) => return done,
            Some(Err(cause)) => resume_unwind(cause),
            None => continue,
        }
    }
}

/// A stack of the machine's, which outlives the coroutine: that may never end.
struct Lent(&'static DefaultStack);

// SAFETY: it is what it refers to; a CPU has one section at a time, and so one user of its stack.
unsafe impl Stack for Lent {
    fn base(&self) -> StackPointer {
        self.0.base()
    }

    fn limit(&self) -> StackPointer {
        self.0.limit()
    }
}

/// Runs a section on a stack of its own. `None`: it was undone.
fn attempt<R>(hardware: &'static Hardware, work: &impl Fn() -> R) -> Option<thread::Result<R>> {
    let me = hardware.here();
    let outer = me.way_out.get();
    let new = || DefaultStack::new(STACK).expect("memory for a stack");
    let stack = Lent(me.stack.get_or_init(new));
    let body = |way_out: &Yielder<(), ()>, ()| {
        me.way_out.set(way_out);
        catch_unwind(AssertUnwindSafe(work))
    };
    // SAFETY: it has ended, one way or the other, when this returns.
    let mut section: Coroutine<(), (), _, Lent> =
        unsafe { Coroutine::with_stack_unchecked(stack, body) };
    loop {
        match section.resume(()) {
            CoroutineResult::Return(done) => return Some(done),
            CoroutineResult::Yield(()) if me.gone_back.take() => {
                // SAFETY: the kernel's stack holds nothing that needs to be dropped: the end of a
                // section is what never happens to one that is undone.
                unsafe { section.force_reset() };
                return None;
            }
            // SAFETY: this is the CPU's own stack, and that its way out.
            CoroutineResult::Yield(()) => unsafe { (*outer).suspend(()) },
        }
    }
}

/// Runs CPUs until one of them ends the run, or none goes on any more.
pub fn run<W>(hardware: &'static Hardware, work: impl Iterator<Item = W>) -> End
where
    W: FnOnce() -> End + 'static,
{
    let begun = crate::meter::now();
    hardware.processors.iter().for_each(|cpu| cpu.stand.set(begun));
    let mut cpus: Vec<Cpu> =
        (0..).zip(work).map(|(number, work)| cpu(hardware, number, work)).collect();
    let end = loop {
        let Some(next) = hardware.next_cpu() else {
            let waiting = hardware.who_waits();
            break if waiting.is_empty() { End::Stuck } else { End::Deadlock(waiting) };
        };
        if let CoroutineResult::Return(end) = cpus[next as usize].resume(()) {
            break end;
        }
    };
    for cpu in &mut cpus {
        if cpu.started() && !cpu.done() {
            // SAFETY: a CPU's stack holds nothing that needs to be dropped while it stands: it
            // owns no memory, and what it borrows it has given back.
            unsafe { cpu.force_reset() };
        }
    }
    end
}
