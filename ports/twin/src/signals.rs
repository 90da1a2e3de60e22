//! What the host's processor refuses to a program: an overflow of its stack, a wild pointer, an
//! instruction that may not be. It becomes a fault of the program's thread; what is refused to the
//! simulator itself ends this process as ever.
//!
//! While a program runs, its coroutine can be left from a signal's handler. While it is in one of
//! the machine's functions, which run on its stack, it cannot. Those find room: a stack that is
//! nearly used up has overflowed when one of them is called. Machine code has a stack of its own,
//! and its coroutine is where handlers run (`machine_code.rs`).

use abi::message::FaultKind;
use corosensei::trap::CoroutineTrapHandler;
use std::cell::Cell;
use std::sync::atomic::{Ordering, compiler_fence};
use std::thread_local;

/// Bytes of a coroutine's stack that the machine's functions may use.
pub const RESERVE: usize = 32 << 10;
/// Bytes of the host's page below a stack.
const GUARD: usize = abi::PAGE as usize;

/// What the host's processor refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What happened.
    pub kind: FaultKind,
    /// The address that was used; `None`: the stack is used up.
    pub address: Option<u64>,
    /// The instruction, counted from where the host has loaded this program; 0: not known.
    pub at: u64,
}

/// The way out of a coroutine, whose stack begins at `limit`.
#[derive(Clone, Copy)]
pub struct WayOut {
    /// Leaves it.
    pub handler: CoroutineTrapHandler<Refusal>,
    /// The lowest address of its stack, which is the guard's.
    pub limit: usize,
    /// Whether what runs there is machine code, on a stack of its own.
    pub is_code: bool,
}

thread_local! {
    /// The way out of the coroutine that runs on this host thread.
    static RUNNING: Cell<Option<WayOut>> = const { Cell::new(None) };
    /// Where the room for the machine's functions begins on its stack.
    static FLOOR: Cell<usize> = const { Cell::new(0) };
    /// Whether it is in one of them.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// A coroutine begins or goes on, or stops. One that goes on is in a function of the machine.
pub fn set_running(way_out: Option<WayOut>) {
    RUNNING.set(way_out);
    FLOOR.set(way_out.map_or(0, |way_out| way_out.limit + GUARD + RESERVE));
    set_inside(true);
}

/// A program's own code begins.
pub fn begin_program() {
    set_inside(false);
}

/// The handler sees this in its place among the accesses of the code around it.
#[inline]
fn set_inside(inside: bool) {
    compiler_fence(Ordering::SeqCst);
    INSIDE.set(inside);
    compiler_fence(Ordering::SeqCst);
}

/// A function of the machine runs until this is dropped.
pub struct Inside(());

impl Inside {
    /// A program has called a function of the machine; `None`: its stack is used up.
    #[inline]
    pub fn enter() -> Option<Inside> {
        let here = Cell::new(0u8);
        set_inside(true);
        (here.as_ptr().addr() >= FLOOR.get()).then_some(Inside(()))
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        set_inside(false);
    }
}

/// Has this host thread notice what is refused to its programs.
pub fn watch() {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    linux::watch();
}

/// Has signals handled on what is left of the running coroutine's stack, as machine code is to run
/// on a stack of its own, and to be told when time passes.
pub fn use_own_stack() {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    {
        linux::use_own_stack();
        linux::mask_time(libc::SIG_UNBLOCK);
    }
}

/// Notes where this host thread keeps what is its own: machine code that is to begin there may
/// change the register that leads to it, and handlers set that right.
pub fn keep_storage() {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    linux::entry::keep_storage();
}

/// Has signals handled where they usually are.
pub fn use_usual_stack() {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    linux::use_usual_stack();
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod linux {
    pub mod entry;

    use super::{GUARD, INSIDE, RUNNING, Refusal, set_inside};
    use crate::machine_code;
    use crate::memory::HOST;
    use abi::message::FaultKind;
    use corosensei::trap::TrapHandlerRegs;
    use libc::{
        REG_RBP, REG_RDI, REG_RIP, REG_RSI, REG_RSP, SA_NODEFER, SA_ONSTACK, SA_RESTART,
        SA_SIGINFO, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, SIGVTALRM, SS_DISABLE, c_int,
        c_void, siginfo_t, stack_t, ucontext_t,
    };
    use rt::arch::hosted;
    use std::cell::Cell;
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::OnceLock;
    use std::thread_local;

    /// Bytes of the stack that handlers run on.
    const STACK: usize = 64 << 10;

    /// The signals, and what they are to a program.
    const SIGNALS: [(c_int, FaultKind); 7] = [
        (SIGSEGV, FaultKind::Memory),
        (SIGBUS, FaultKind::Memory),
        (SIGILL, FaultKind::Instruction),
        (SIGFPE, FaultKind::Arithmetic),
        (SIGTRAP, FaultKind::Debug),
        (SIGSYS, FaultKind::Other),
        (SIGVTALRM, FaultKind::Other),
    ];

    thread_local! {
        /// The stack that handlers run on while no machine code does: where it begins, and bytes.
        static USUAL: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    }

    /// What was there before.
    struct Before {
        actions: [libc::sigaction; SIGNALS.len()],
        /// Where the host has loaded this program.
        base: usize,
    }

    // SAFETY: it is written once and then only read; the addresses in it are the process's.
    unsafe impl Sync for Before {}
    // SAFETY: as above.
    unsafe impl Send for Before {}

    static BEFORE: OnceLock<Before> = OnceLock::new();

    pub fn watch() {
        give_stack();
        mask_time(libc::SIG_BLOCK);
        BEFORE.get_or_init(|| Before {
            actions: SIGNALS.map(|(signal, _)| install(signal)),
            base: base(),
        });
    }

    /// Sees to it that this host thread has a stack for handlers that is large enough.
    fn give_stack() {
        let mut now = MaybeUninit::<stack_t>::uninit();
        // SAFETY: it asks for what there is, and fills that in.
        let now = unsafe {
            assert_eq!(libc::sigaltstack(ptr::null(), now.as_mut_ptr()), 0);
            now.assume_init()
        };
        if now.ss_flags & SS_DISABLE == 0 && now.ss_size >= STACK {
            USUAL.set((now.ss_sp.expose_provenance(), now.ss_size));
            return;
        }
        // It stays for as long as the thread may take signals, which is for ever.
        let memory = Box::leak(vec![0u64; STACK / 8].into_boxed_slice());
        USUAL.set((memory.as_mut_ptr().expose_provenance(), STACK));
        use_usual_stack();
    }

    pub fn use_usual_stack() {
        let (begin, bytes) = USUAL.get();
        use_stack(begin, bytes);
    }

    pub fn use_own_stack() {
        let here = Cell::new(0u8);
        let begin = RUNNING.get().map_or(0, |way_out| way_out.limit + GUARD);
        // In front of what stands on it now, and of what a function may use without saying so.
        use_stack(begin, here.as_ptr().addr() - GUARD - begin);
    }

    fn use_stack(begin: usize, bytes: usize) {
        let begin = ptr::with_exposed_provenance_mut(begin);
        let stack = stack_t { ss_sp: begin, ss_flags: 0, ss_size: bytes };
        // SAFETY: nothing else uses this memory, and the thread is on no such stack now.
        unsafe { assert_eq!(libc::sigaltstack(&stack, ptr::null_mut()), 0) };
    }

    /// Has this host thread told when time passes, or not. It is told while machine code runs
    /// alone: a handler blocks that, and the host goes back to what was before when it returns.
    pub fn mask_time(how: c_int) {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: the set is filled in before it is used.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), SIGVTALRM);
            assert_eq!(libc::pthread_sigmask(how, set.as_ptr(), ptr::null_mut()), 0);
        }
    }

    /// Takes over a signal; how it was handled before.
    fn install(signal: c_int) -> libc::sigaction {
        let mut before = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: an action of zeros is one without flags and mask; the handler has the form that
        // goes with `SA_SIGINFO`.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = entry::enter as *const () as usize;
            // A handler may wait for ever, while another program runs.
            action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
            libc::sigaddset(&mut action.sa_mask, SIGVTALRM);
            assert_eq!(libc::sigaction(signal, &action, before.as_mut_ptr()), 0);
            before.assume_init()
        }
    }

    unsafe extern "C" {
        /// The end of this program's text, as the linker names it.
        static etext: u8;
    }

    /// Where this program's text ends.
    fn end() -> usize {
        (&raw const etext).addr()
    }

    /// Where the host has loaded this program.
    fn base() -> usize {
        let mut found = MaybeUninit::<libc::Dl_info>::uninit();
        // SAFETY: it fills in what it finds, and then says so.
        unsafe {
            match libc::dladdr(handle as *const c_void, found.as_mut_ptr()) {
                0 => 0,
                _ => found.assume_init().dli_fbase.addr(),
            }
        }
    }

    /// What `entry.rs` goes on with.
    extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the host gives a handler of this form valid ones, for itself alone.
        let (info, context) = unsafe { (&*info, &mut *context.cast::<ucontext_t>()) };
        let registers = &mut context.uc_mcontext.gregs;
        // SAFETY: these signals have an address.
        let address = unsafe { info.si_addr() }.addr();
        let is_code = RUNNING.get().is_some_and(|way_out| way_out.is_code) && !INSIDE.get();
        // Time passes everywhere, and matters to machine code alone.
        if signal == SIGVTALRM && !(is_code && (registers[REG_RIP as usize] as u64) < HOST) {
            return;
        }
        if is_code {
            set_inside(true);
            machine_code::stopped(signal, address as u64, registers);
            return set_inside(false);
        }
        let stack = registers[REG_RSP as usize] as usize;
        let way_out = RUNNING.get().filter(|way| way.handler.stack_ptr_in_bounds(stack));
        let kind = SIGNALS.iter().find(|(known, _)| *known == signal).map(|(_, kind)| *kind);
        // The standard library may hold a lock for a panic. That of another program, which stands
        // in a system call of a destructor or was destroyed there, does not matter.
        let free = !INSIDE.get() && !hosted::panics();
        let Some((way_out, kind)) = way_out.filter(|_| free).zip(kind) else {
            return give_up(signal);
        };
        let overflow = (way_out.limit..way_out.limit + GUARD).contains(&address);
        let at = registers[REG_RIP as usize] as usize;
        let base = BEFORE.get().map_or(at, |before| before.base);
        let refusal = Refusal {
            kind,
            address: (kind != FaultKind::Memory || !overflow).then_some(address as u64),
            // Libraries lie elsewhere each time.
            at: if (base..end()).contains(&at) { (at - base) as u64 } else { 0 },
        };
        // SAFETY: the stack pointer is the coroutine's. A program that does not panic owns no
        // memory and holds no lock, so what stands on its stack can be dropped; it is not in a
        // function of the machine.
        let regs = unsafe { way_out.handler.setup_trap_handler(move || refusal) };
        let TrapHandlerRegs { rip, rsp, rbp, rdi, rsi } = regs;
        let places =
            [(REG_RIP, rip), (REG_RSP, rsp), (REG_RBP, rbp), (REG_RDI, rdi), (REG_RSI, rsi)];
        places.iter().for_each(|(place, value)| registers[*place as usize] = *value as i64);
    }

    /// Leaves a signal to whom it belonged before: the instruction raises it again.
    fn give_up(signal: c_int) {
        let index = SIGNALS.iter().position(|(known, _)| *known == signal);
        if let (Some(index), Some(before)) = (index, BEFORE.get()) {
            // SAFETY: it was in force before.
            unsafe { libc::sigaction(signal, &before.actions[index], ptr::null_mut()) };
        }
    }
}

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests;
