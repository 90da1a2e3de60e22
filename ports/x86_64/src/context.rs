//! A thread's saved registers. Entry code writes them at fixed offsets.

use abi::{Info, Status};
use core::cell::{Cell, UnsafeCell};
use core::mem::offset_of;
use kernel::port;

/// User code and stack selectors.
pub const USER_CODE: u64 = 0x2b;
/// See [`USER_CODE`].
pub const USER_DATA: u64 = 0x23;

/// Interrupts on; the bit that is always one.
const INITIAL_FLAGS: u64 = 0x202;
/// Vector registers of a new thread: control words as after `fninit`, all exceptions masked.
static INITIAL_FPU: [u8; 512] = {
    let mut fpu = [0; 512];
    (fpu[0], fpu[1]) = (0x7f, 0x03);
    (fpu[24], fpu[25]) = (0x80, 0x1f);
    fpu
};
/// Bytes of the `syscall` instruction.
const CALL_LENGTH: u64 = 2;

/// Bits of [`Context::special`]: state that a switch moves only for threads that have it.
pub mod special {
    /// The thread uses the x87 and SSE registers.
    pub const FPU: u64 = 1;
    /// The thread has set its thread pointer.
    pub const POINTER: u64 = 2;
}

/// x87 and SSE state as `fxsave64` writes it.
#[repr(C, align(16))]
pub struct FpuState(pub UnsafeCell<[u8; 512]>);

/// Saved registers. Which of them are valid depends on how the thread entered: a system call
/// saves those of its arguments and `r12` to `r15`, an interrupt all.
#[repr(C)]
pub struct Context {
    rip: Cell<u64>,
    rflags: Cell<u64>,
    rsp: Cell<u64>,
    rax: Cell<u64>,
    rdi: Cell<u64>,
    rsi: Cell<u64>,
    rdx: Cell<u64>,
    r8: Cell<u64>,
    r9: Cell<u64>,
    r10: Cell<u64>,
    words: [Cell<u64>; 4],
    rbx: Cell<u64>,
    rbp: Cell<u64>,
    rcx: Cell<u64>,
    r11: Cell<u64>,
    /// Bits of [`special`].
    pub special: Cell<u64>,
    /// The thread pointer: the base of FS.
    pub pointer: Cell<u64>,
    /// x87 and SSE registers, while they are not in the CPU.
    pub fpu: FpuState,
}

/// Offsets for entry code.
pub mod offset {
    use super::{Context, offset_of};
    pub const RIP: usize = offset_of!(Context, rip);
    pub const RFLAGS: usize = offset_of!(Context, rflags);
    pub const RSP: usize = offset_of!(Context, rsp);
    pub const RAX: usize = offset_of!(Context, rax);
    pub const RDI: usize = offset_of!(Context, rdi);
    pub const RSI: usize = offset_of!(Context, rsi);
    pub const RDX: usize = offset_of!(Context, rdx);
    pub const R8: usize = offset_of!(Context, r8);
    pub const R9: usize = offset_of!(Context, r9);
    pub const R10: usize = offset_of!(Context, r10);
    pub const R12: usize = offset_of!(Context, words);
    pub const R13: usize = R12 + 8;
    pub const R14: usize = R12 + 16;
    pub const R15: usize = R12 + 24;
    pub const RBX: usize = offset_of!(Context, rbx);
    pub const RBP: usize = offset_of!(Context, rbp);
    pub const RCX: usize = offset_of!(Context, rcx);
    pub const R11: usize = offset_of!(Context, r11);
}

impl Context {
    /// Saves a message's number word and arguments.
    #[inline(always)]
    pub fn save_call(&self, number: u64, first: u64, info: u64) {
        self.rax.set(number);
        self.rdi.set(first);
        self.rsi.set(info);
    }

    /// Leaves a second result for entry code.
    #[inline(always)]
    pub fn save_second(&self, result: u64) {
        self.rsi.set(result);
    }
}

/// What is kept of a thread that is in another domain. What it has beside general registers is
/// there if `special` says so.
pub struct Kept {
    rip: Cell<u64>,
    rflags: Cell<u64>,
    rsp: Cell<u64>,
    /// Bits of [`special`].
    pub special: Cell<u64>,
    /// The thread pointer.
    pub pointer: Cell<u64>,
    /// x87 and SSE registers.
    pub fpu: FpuState,
}

impl Default for Kept {
    fn default() -> Kept {
        let [rip, rflags, rsp, special, pointer] = [const { Cell::new(0) }; 5];
        Kept { rip, rflags, rsp, special, pointer, fpu: FpuState(UnsafeCell::new([0; 512])) }
    }
}

impl Context {
    /// The thread enters another domain. A way out behind a system call zeroes what carries
    /// neither results nor words; flags are a program's to set, and so are put back as well.
    #[inline(always)]
    pub fn enter(&self, kept: &Kept, entry: u64, stack: u64) {
        kept.rip.set(self.rip.replace(entry));
        kept.rsp.set(self.rsp.replace(stack));
        kept.rflags.set(self.rflags.replace(INITIAL_FLAGS));
    }

    /// The thread is back behind its system call.
    #[inline(always)]
    pub fn come_back(&self, kept: &Kept) {
        self.rip.set(kept.rip.get());
        self.rsp.set(kept.rsp.get());
        self.rflags.set(kept.rflags.get());
    }

    /// x87 and SSE registers as a new thread has them.
    pub fn reset_fpu(&self) {
        // SAFETY: no reference to the area exists; the CPU reads and writes it only in `fpu`.
        unsafe { self.fpu.0.get().write(INITIAL_FPU) };
    }
}

impl port::Context for Context {
    fn new() -> Context {
        Context {
            rip: Cell::new(0),
            rflags: Cell::new(INITIAL_FLAGS),
            rsp: Cell::new(0),
            rax: Cell::new(0),
            rdi: Cell::new(0),
            rsi: Cell::new(0),
            rdx: Cell::new(0),
            r8: Cell::new(0),
            r9: Cell::new(0),
            r10: Cell::new(0),
            words: [const { Cell::new(0) }; 4],
            rbx: Cell::new(0),
            rbp: Cell::new(0),
            rcx: Cell::new(0),
            r11: Cell::new(0),
            special: Cell::new(0),
            pointer: Cell::new(0),
            fpu: FpuState(UnsafeCell::new(INITIAL_FPU)),
        }
    }

    #[inline(always)]
    fn call(&self) -> (u64, [u64; 6]) {
        let args = [&self.rdi, &self.rsi, &self.rdx, &self.r8, &self.r9, &self.r10];
        (self.rax.get(), args.map(Cell::get))
    }

    #[inline(always)]
    fn words(&self) -> [u64; 4] {
        self.words.each_ref().map(Cell::get)
    }

    #[inline(always)]
    fn set_words(&self, words: [u64; 4]) {
        for (cell, word) in self.words.iter().zip(words) {
            cell.set(word);
        }
    }

    #[inline(always)]
    fn set_results(&self, status: Status, badge: u64, info: Info) {
        self.rax.set(status.0);
        self.rdi.set(badge);
        self.rsi.set(info.0);
    }

    fn restart(&self, number: u64, args: [u64; 6]) {
        self.rax.set(number);
        let cells = [&self.rdi, &self.rsi, &self.rdx, &self.r8, &self.r9, &self.r10];
        cells.into_iter().zip(args).for_each(|(cell, value)| cell.set(value));
        // The call has not saved these.
        [&self.rbx, &self.rbp, &self.rcx, &self.r11].iter().for_each(|cell| cell.set(0));
        self.rip.set(self.rip.get() - CALL_LENGTH);
    }

    fn reset(&self) {
        for cell in [
            &self.rip,
            &self.rsp,
            &self.rax,
            &self.rdi,
            &self.rsi,
            &self.rdx,
            &self.r8,
            &self.r9,
            &self.r10,
            &self.rbx,
            &self.rbp,
            &self.rcx,
            &self.r11,
            &self.special,
            &self.pointer,
        ] {
            cell.set(0);
        }
        port::Context::set_words(self, [0; 4]);
        self.rflags.set(INITIAL_FLAGS);
        self.reset_fpu();
    }

    fn position(&self) -> (u64, u64) {
        (self.rip.get(), self.rsp.get())
    }

    fn set_instruction(&self, at: u64) {
        self.rip.set(at);
    }

    fn set_stack(&self, at: u64) {
        self.rsp.set(at);
    }

    fn set_argument(&self, value: u64) {
        self.rdi.set(value);
    }

    fn set_thread_pointer(&self, value: u64) {
        self.pointer.set(value);
        self.special.set(self.special.get() | special::POINTER);
    }
}
