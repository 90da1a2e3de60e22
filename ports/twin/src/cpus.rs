//! Several CPUs: a coroutine each, which the order of the machine lets go on.

use crate::hardware::Hardware;
use crate::run::{End, ended_by};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::panic::{AssertUnwindSafe, catch_unwind};

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
