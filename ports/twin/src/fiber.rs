//! Coroutines for threads.

use crate::context::{Regs, Trap};
use crate::hardware::Hardware;
use crate::machine_code;
use crate::programs;
use crate::signals::{self, RESERVE, Refusal, WayOut};
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use rt::arch::hosted::{self, Instruction, Left, Start};
use std::cell::Cell;
use std::thread_local;

/// Bytes of a coroutine's stack, of which the host provides what is used. Programs in development
/// builds are greedy.
const STACK: usize = (1 << 20) + RESERVE;

/// Stacks that a host thread keeps for its next run.
const KEPT: usize = 1100;

thread_local! {
    static STACKS: Cell<Vec<DefaultStack>> = const { Cell::new(Vec::new()) };
}

struct Fiber {
    coroutine: Coroutine<(), (), Refusal>,
    yielder: *const Yielder<(), ()>,
    vector: u64,
    way_out: WayOut,
    left: Left,
    /// What the host refused to it: it stands there for ever.
    refused: Option<Refusal>,
}

/// The coroutines of a run, by number from 1.
pub struct Fibers {
    twin: &'static Hardware,
    fibers: Vec<Option<Fiber>>,
    free: Vec<u32>,
    stacks: Vec<DefaultStack>,
}

impl Fibers {
    /// None yet.
    pub fn new(twin: &'static Hardware) -> Fibers {
        Fibers { twin, fibers: vec![None], free: Vec::new(), stacks: STACKS.take() }
    }

    /// A new coroutine for a thread that begins with an instruction.
    pub fn begin(&mut self, instruction: Instruction, start: Start) -> u32 {
        self.run(move || hosted::begin(instruction, programs::all(), start))
    }

    /// A new coroutine for a thread whose machine code begins with these registers, and at this
    /// instruction and stack pointer.
    pub fn begin_code(&mut self, regs: Regs, at: (u64, u64)) -> u32 {
        let twin = self.twin;
        self.add(true, move || machine_code::begin(twin, regs, at))
    }

    /// Whether a coroutine is one of machine code.
    pub fn is_code(&self, number: u32) -> bool {
        self.fibers[number as usize].as_ref().is_some_and(|fiber| fiber.way_out.is_code)
    }

    /// A new coroutine for a thread's work, which does not return.
    pub fn run(&mut self, work: impl FnOnce() -> Refusal + 'static) -> u32 {
        self.add(false, work)
    }

    fn add(&mut self, is_code: bool, work: impl FnOnce() -> Refusal + 'static) -> u32 {
        let own = self
            .stacks
            .pop()
            .unwrap_or_else(|| DefaultStack::new(STACK).expect("memory for a coroutine's stack"));
        let (twin, limit) = (self.twin, own.limit().get());
        let coroutine = Coroutine::with_stack(own, move |yielder: &Yielder<(), ()>, ()| {
            twin.here().yielder.set(yielder);
            signals::begin_program();
            work()
        });
        let way_out = WayOut { handler: coroutine.trap_handler(), limit, is_code };
        let (yielder, left) = (std::ptr::null(), Left::default());
        let fiber = Some(Fiber { coroutine, yielder, vector: 0, way_out, left, refused: None });
        match self.free.pop() {
            Some(number) => {
                self.fibers[number as usize] = fiber;
                number
            }
            None => {
                self.fibers.push(fiber);
                self.fibers.len() as u32 - 1
            }
        }
    }

    /// Lets a thread run until it stops.
    #[inline]
    pub fn resume(&mut self, number: u32) {
        let fiber = self.fibers[number as usize].as_mut().expect("a coroutine that exists");
        let cpu = self.twin.here();
        cpu.yielder.set(fiber.yielder);
        cpu.vector.set(fiber.vector);
        cpu.patience.set(0);
        if fiber.refused.is_none() {
            hosted::exchange_left(&mut fiber.left);
            signals::set_running(Some(fiber.way_out));
            if let CoroutineResult::Return(refusal) = fiber.coroutine.resume(()) {
                fiber.refused = Some(refusal);
            }
            signals::set_running(None);
            if fiber.way_out.is_code {
                signals::use_usual_stack();
            }
            hosted::exchange_left(&mut fiber.left);
        }
        if let Some(refusal) = fiber.refused {
            cpu.trap.set(Trap::Refused(refusal));
        }
        fiber.yielder = cpu.yielder.get();
        fiber.vector = cpu.vector.get();
    }

    /// Ends a coroutine wherever it stands.
    pub fn end(&mut self, number: u32) {
        if let Some(fiber) = self.fibers[number as usize].take() {
            self.free.push(number);
            self.reclaim(fiber);
        }
    }

    fn reclaim(&mut self, mut fiber: Fiber) {
        // SAFETY: nothing on a program's stack needs to be dropped: programs own no memory and
        // hold no lock.
        unsafe { fiber.coroutine.force_reset() };
        self.stacks.push(fiber.coroutine.into_stack());
    }
}

impl Drop for Fibers {
    fn drop(&mut self) {
        for fiber in std::mem::take(&mut self.fibers).into_iter().flatten() {
            self.reclaim(fiber);
        }
        let mut stacks = std::mem::take(&mut self.stacks);
        stacks.truncate(KEPT);
        STACKS.set(stacks);
    }
}
