//! System call entry and the ways out. One instance per kernel: the entry register picks it.
//!
//! The user stub declares all registers but the stack pointer dead and message words travel in
//! r12 to r15, which Rust preserves; so the fast path saves the words, in case that it leaves the
//! message to the general path, but loads none.

#[macro_use]
mod train;

use crate::context::{Context, USER_CODE, USER_DATA, offset::*};
use crate::left::{left, left_call, left_exchange, left_reply_wait, left_unreceived};
use crate::machine::load_root;
use crate::paging::{Image, drop_init};
use crate::port::{Local, X86};
use crate::state;
use abi::log::STUCK;
use abi::message::REGISTER_WORDS;
use abi::object::Resource;
use abi::trace::Event;
use abi::{Info, call::Call};
use core::arch::{asm, naked_asm};
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, Ordering};
use kernel::access::Ref;
use kernel::cpu::Cpu;
use kernel::cpu::notes::Notes;
use kernel::entry::Entry;
use kernel::events;
use kernel::ipc::fast::{FoundCall, FoundExchange, FoundReplyWait};
use kernel::ipc::kind;
use kernel::kernel::Kernel;
use kernel::object::Thread;
use kernel::object::thread::flag;
use kernel::port::Port;
use kernel::report::Report;
use kernel::system::System;
use train::{fast_train_call, fast_train_return, train};

/// Offset of the current thread, whose context comes first, in the CPU structure behind GS.
pub const CURRENT: usize = offset_of!(Cpu<X86>, current);
/// Offset of the kernel stack's top.
pub const STACK: usize = offset_of!(Cpu<X86>, local) + offset_of!(Local, stack);

/// Offset of the CPU structure's own address in it.
#[cfg(feature = "smp")]
pub const MYSELF: usize = offset_of!(Cpu<X86>, local) + offset_of!(Local, myself);

pub const CALL: u64 = Call::Call as u64;
pub const REPLY_WAIT: u64 = Call::ReplyWait as u64;
/// A send and receive without timeouts.
pub const EXCHANGE: u64 = Call::Ipc as u64;

/// What a fast path leaves for entry code, in two registers.
#[repr(C)]
pub struct Resume {
    /// The context to go on with.
    context: *const Context,
    badge: u64,
}

/// A kernel's system call entry.
#[cfg(not(feature = "trace"))]
pub fn address<S: System<Port = X86>>() -> u64 {
    let entry =
        if S::FAST_PATH { fast_entry::<S> } else { plain_entry::<S> as extern "sysv64" fn() };
    entry as *const () as u64
}

/// A kernel's system call entry, which picks the instance with trace points if the trace is on.
#[cfg(feature = "trace")]
pub fn address<S: System<Port = X86>>() -> u64 {
    let entry =
        if S::FAST_PATH { pick_fast::<S> } else { pick_plain::<S> as extern "sysv64" fn() };
    entry as *const () as u64
}

#[cfg(feature = "trace")]
macro_rules! pick {
    ($name:ident, $entry:ident) => {
        #[unsafe(naked)]
        extern "sysv64" fn $name<S: System<Port = X86>>() {
            naked_asm!(
                "swapgs",
                "cmp byte ptr gs:[{traced}], 0",
                "jne {observed}",
                "jmp {silent}",
                traced = const offset_of!(Cpu<X86>, traced),
                observed = sym $entry::<S::Observed>,
                silent = sym $entry::<S>,
            )
        }
    };
}
#[cfg(feature = "trace")]
pick!(pick_fast, fast_entry);
#[cfg(feature = "trace")]
pick!(pick_plain, plain_entry);

/// Whether the code that picks an instance has made GS the kernel's already.
const PICKED: u8 = cfg!(feature = "trace") as u8;

/// System call entry: its own code picks a path; the rest saves the arguments of a kind of call,
/// and the words, and goes there. rbp is the current context.
macro_rules! entry_code {
    ($($code:expr,)* ; $($operands:tt)*) => {
        naked_asm!(
            ".if {picked} == 0",
            "swapgs",
            ".endif",
            "mov rbp, gs:[{current}]",
            "mov [rbp + {rsp}], rsp",
            "mov rsp, gs:[{stack}]",
            "mov [rbp + {rip}], rcx",
            "mov [rbp + {rflags}], r11",
            $($code,)*
            // The general path: what a kind of call has as arguments is saved, then words. The
            // number word is saved as a whole: its upper half may be another domain's still, and a
            // call that is issued again would show it.
            "5:",
            "mov [rbp + {rdi}], rdi",
            "mov [rbp + {rsi}], rsi",
            "mov qword ptr [rbp + {rax}], {call}",
            "mov [rbp + {r12}], r12",
            "mov [rbp + {r13}], r13",
            "mov [rbp + {r14}], r14",
            "mov [rbp + {r15}], r15",
            "jmp {call_path}",
            "6:",
            "mov [rbp + {rdi}], rdi",
            "mov [rbp + {rsi}], rsi",
            "mov qword ptr [rbp + {rax}], {reply_wait}",
            "mov [rbp + {r12}], r12",
            "mov [rbp + {r13}], r13",
            "mov [rbp + {r14}], r14",
            "mov [rbp + {r15}], r15",
            "jmp {reply_wait_path}",
            "7:",
            "mov [rbp + {rax}], rax",
            "mov [rbp + {rdi}], rdi",
            "mov [rbp + {rsi}], rsi",
            "mov [rbp + {rdx}], rdx",
            "mov [rbp + {r12}], r12",
            "mov [rbp + {r13}], r13",
            "mov [rbp + {r14}], r14",
            "mov [rbp + {r15}], r15",
            "jmp {any_path}",
            "8:",
            "mov [rbp + {rax}], rax",
            "mov [rbp + {rdi}], rdi",
            "mov [rbp + {rsi}], rsi",
            "mov [rbp + {rdx}], rdx",
            "mov [rbp + {r8}], r8",
            "mov [rbp + {r9}], r9",
            "mov [rbp + {r10}], r10",
            "mov [rbp + {r12}], r12",
            "mov [rbp + {r13}], r13",
            "mov [rbp + {r14}], r14",
            "mov [rbp + {r15}], r15",
            "jmp {system_call}",
            picked = const PICKED,
            current = const CURRENT, stack = const STACK,
            rip = const RIP, rflags = const RFLAGS, rsp = const RSP,
            rax = const RAX, rdi = const RDI, rsi = const RSI, rdx = const RDX,
            r8 = const R8, r9 = const R9, r10 = const R10,
            r12 = const R12, r13 = const R13, r14 = const R14, r15 = const R15,
            call = const CALL,
            reply_wait = const REPLY_WAIT,
            call_path = sym ipc::<S, { kind::CALL }>,
            reply_wait_path = sym ipc::<S, { kind::REPLY_WAIT }>,
            any_path = sym ipc::<S, { kind::ANY }>,
            system_call = sym system_call::<S>,
            $($operands)*
        )
    };
}

/// System call entry of a kernel with a fast path, which takes messages of few words.
#[unsafe(naked)]
extern "sysv64" fn fast_entry<S: System<Port = X86>>() {
    entry_code!(
        "cmp eax, {call}", "jne 2f",
        "cmp esi, {short}", "ja 5f",
        "mov [rbp + {r12}], r12", "mov [rbp + {r13}], r13",
        "mov [rbp + {r14}], r14", "mov [rbp + {r15}], r15",
        "mov rbx, rsi",
        "call {fast_call}",
        // Out with the words in place and everything else zero.
        "4:",
        "mov rdi, rdx",
        "mov rsi, rbx",
        "mov rcx, [rax + {rip}]",
        "mov r11, [rax + {rflags}]",
        "mov rsp, [rax + {rsp}]",
        "xor eax, eax", "xor edx, edx", "xor ebx, ebx", "xor ebp, ebp",
        "xor r8d, r8d", "xor r9d, r9d", "xor r10d, r10d",
        "swapgs",
        "sysretq",
        "2:",
        "cmp eax, {reply_wait}", "jne 3f",
        "cmp esi, {short}", "ja 6f",
        "mov [rbp + {r12}], r12", "mov [rbp + {r13}], r13",
        "mov [rbp + {r14}], r14", "mov [rbp + {r15}], r15",
        "mov rbx, rsi",
        "call {fast_reply_wait}",
        "jmp 4b",
        // The upper bits of a number are for options, which a fast path has none of.
        "3:",
        "jb 13f",
        // Calls on trains have the highest numbers: the comparison is one of signed bytes.
        "cmp al, {reply_wait}", "jg 8f",
        "je 6f",
        "test al, al", "jz 7f",
        "jns 5f",
        ".if {trains}",
        "cmp eax, {train_call}", "je 9f",
        "cmp eax, {train_return}", "je 19f",
        ".endif",
        "jmp 8f",
        train_code!(),
        // No timeouts: with both halves? The test of the upper one looks at a bit more, which no
        // slot has.
        "13:",
        "test rdi, {upper}", "jz 7f",
        "test edi, edi", "jz 7f",
        "cmp esi, {short}", "ja 7f",
        "mov [rbp + {r12}], r12", "mov [rbp + {r13}], r13",
        "mov [rbp + {r14}], r14", "mov [rbp + {r15}], r15",
        "mov rbx, rsi",
        "call {fast_exchange}",
        "jmp 4b",
        ;
        short = const REGISTER_WORDS, upper = const i32::MIN, trains = const FAST_TRAINS as u8,
        train_call = const Call::TrainCall as u64,
        train_return = const Call::TrainReturn as u64,
        train_call_path = sym train::<S, { Call::TrainCall as u8 }>,
        fast_train_call = sym fast_train_call::<S>,
        fast_train_return = sym fast_train_return::<S>,
        train_return_path = sym train::<S, { Call::TrainReturn as u8 }>,
        fast_call = sym fast_call::<S>,
        fast_reply_wait = sym fast_reply_wait::<S>,
        fast_exchange = sym fast_exchange::<S>,
    )
}

/// System call entry of a kernel without a fast path.
#[unsafe(naked)]
extern "sysv64" fn plain_entry<S: System<Port = X86>>() {
    entry_code!(
        "cmp al, {call}",
        "jb 7f",
        "je 5f",
        "cmp al, {reply_wait}",
        "je 6f",
        "jmp 8f",
        ;
    )
}

/// Goes on behind a system call, with the context in rax.
#[unsafe(naked)]
extern "sysv64" fn resume_call() {
    naked_asm!(
        "mov rcx, [rax + {rip}]",
        "mov r11, [rax + {rflags}]",
        "mov rsp, [rax + {rsp}]",
        "mov rdi, [rax + {rdi}]",
        "mov rsi, [rax + {rsi}]",
        "mov r12, [rax + {r12}]",
        "mov r13, [rax + {r13}]",
        "mov r14, [rax + {r14}]",
        "mov r15, [rax + {r15}]",
        "mov rax, [rax + {rax}]",
        // What carries no result is zero: the kernel's own values are not a program's.
        "xor edx, edx",
        "xor ebx, ebx",
        "xor ebp, ebp",
        "xor r8d, r8d",
        "xor r9d, r9d",
        "xor r10d, r10d",
        "swapgs",
        "sysretq",
        rip = const RIP, rflags = const RFLAGS, rsp = const RSP,
        rax = const RAX, rdi = const RDI, rsi = const RSI,
        r12 = const R12, r13 = const R13, r14 = const R14, r15 = const R15,
    )
}

/// Goes on with all registers of the context in rax. An interrupt that waits, such as one that made
/// a call be issued again, is taken here, while all registers lie in the context: that saves the
/// way to user mode and back.
#[unsafe(naked)]
extern "sysv64" fn resume_full() {
    naked_asm!(
        "sti",
        "nop",
        "cli",
        "push {user_data}",
        "push [rax + {rsp}]",
        "push [rax + {rflags}]",
        "push {user_code}",
        "push [rax + {rip}]",
        "mov rdi, [rax + {rdi}]",
        "mov rsi, [rax + {rsi}]",
        "mov rdx, [rax + {rdx}]",
        "mov rcx, [rax + {rcx}]",
        "mov r8, [rax + {r8}]",
        "mov r9, [rax + {r9}]",
        "mov r10, [rax + {r10}]",
        "mov r11, [rax + {r11}]",
        "mov r12, [rax + {r12}]",
        "mov r13, [rax + {r13}]",
        "mov r14, [rax + {r14}]",
        "mov r15, [rax + {r15}]",
        "mov rbx, [rax + {rbx}]",
        "mov rbp, [rax + {rbp}]",
        "mov rax, [rax + {rax}]",
        "swapgs",
        "iretq",
        user_data = const USER_DATA, user_code = const USER_CODE,
        rip = const RIP, rflags = const RFLAGS, rsp = const RSP,
        rax = const RAX, rdi = const RDI, rsi = const RSI, rdx = const RDX,
        r8 = const R8, r9 = const R9, r10 = const R10,
        r12 = const R12, r13 = const R13, r14 = const R14, r15 = const R15,
        rbx = const RBX, rbp = const RBP, rcx = const RCX, r11 = const R11,
    )
}

/// Idles. There is nothing to keep, so the next interrupt starts from the top of the stack again.
#[unsafe(naked)]
extern "sysv64" fn idle() {
    naked_asm!("mov rsp, gs:[{stack}]", "sti", "2:", "hlt", "jmp 2b", stack = const STACK)
}

/// Leaves the kernel one way, with a context. The stack begins anew at the next entry.
macro_rules! go {
    ($way:ident, $context:expr) => {
        // SAFETY: the way takes the context in this register and needs no more of the stack than
        // is left.
        unsafe { asm!("jmp {way}", way = sym $way, in("rax") $context, options(noreturn)) }
    };
}

extern "sysv64" fn fast_call<S: System<Port = X86>>(slot: u64, info: u64) -> Resume {
    let machine = state::machine();
    // SAFETY: called by entry code, interrupts off, once per entry.
    let core = unsafe { Entry::<S>::enter_fast(machine.kernel, machine.cpu) };
    match core.fast_call(slot as u32, Info(info)) {
        Ok((next, badge)) => {
            drop(core);
            go_fast::<S>(machine.cpu, next, badge)
        }
        Err(found) => {
            drop(core);
            match found {
                Some(FoundCall { to, badge, receiver: Some(receiver) }) => {
                    left_call::<S>(slot, info, to, badge, receiver)
                }
                Some(FoundCall { to, badge, receiver: None }) => {
                    left_unreceived::<S>(slot, info, to, badge)
                }
                None => left::<S, { kind::CALL }>(slot, info),
            }
        }
    }
}

extern "sysv64" fn fast_reply_wait<S: System<Port = X86>>(slot: u64, info: u64) -> Resume {
    let machine = state::machine();
    // SAFETY: called by entry code, interrupts off, once per entry.
    let core = unsafe { Entry::<S>::enter_fast(machine.kernel, machine.cpu) };
    match core.fast_reply_wait(slot as u32, Info(info)) {
        Ok((next, badge)) => {
            drop(core);
            go_fast::<S>(machine.cpu, next, badge)
        }
        Err(found) => {
            drop(core);
            match found {
                Some(FoundReplyWait { to, from }) => left_reply_wait::<S>(slot, info, to, from),
                None => left::<S, { kind::REPLY_WAIT }>(slot, info),
            }
        }
    }
}

extern "sysv64" fn fast_exchange<S: System<Port = X86>>(partners: u64, info: u64) -> Resume {
    let machine = state::machine();
    // SAFETY: called by entry code, interrupts off, once per entry.
    let core = unsafe { Entry::<S>::enter_fast(machine.kernel, machine.cpu) };
    match core.fast_exchange(partners, Info(info)) {
        Ok((next, badge)) => {
            drop(core);
            go_fast::<S>(machine.cpu, next, badge)
        }
        Err(found) => {
            drop(core);
            match found {
                Some(FoundExchange { to, badge, from }) => {
                    left_exchange::<S>(partners, info, to, badge, from)
                }
                None => left::<S, { kind::ANY }>(partners, info),
            }
        }
    }
}

/// Whether trains have a fast path: with several CPUs a thread enters another domain while all of
/// the kernel is held, which the general path begins with.
const FAST_TRAINS: bool = X86::TRAINS && !X86::SMP;

pub extern "sysv64" fn ipc<S: System<Port = X86>, const KIND: u8>() -> ! {
    // SAFETY: called by entry code, interrupts off, once per entry.
    let next = unsafe { events::ipc::<S, KIND>(state::machine()) };
    leave::<S>(next)
}

extern "sysv64" fn system_call<S: System<Port = X86>>() -> ! {
    // SAFETY: called by entry code, interrupts off, once per entry.
    let next = unsafe { events::system_call::<S>(state::machine()) };
    leave::<S>(next)
}

/// Leaves boot for the first program; the code that only boot needs vanishes.
#[inline(never)]
pub fn begin<S: System<Port = X86>>(next: Ref<Thread<X86>>, image: &Image) -> ! {
    drop_init(image);
    #[cfg(feature = "smp")]
    crate::secondary::go();
    leave_apart::<S>(next)
}

/// The hardware part of a switch, after the core is done, and the way out.
#[inline(always)]
pub fn leave<S: System<Port = X86>>(next: Ref<Thread<X86>>) -> ! {
    let cpu = state::machine().cpu;
    cpu.finish();
    #[cfg(feature = "smp")]
    crate::time_sharing::note(cpu.number, next == cpu.idle);
    if next == cpu.idle {
        if !X86::SMP && cpu.is_disarmed() {
            tell_if_stuck();
        }
        note_exit::<S>(cpu, next);
        go!(idle, core::ptr::null::<Context>())
    }
    let context = go_over::<S>(cpu, next);
    // SAFETY: between entries this CPU alone touches the current thread.
    let thread = unsafe { &*next.address() };
    let full = if X86::SMP { cpu.full.get() } else { thread.has(flag::FULL) };
    if full {
        if !X86::SMP {
            thread.clear(flag::FULL);
        }
        go!(resume_full, context)
    }
    go!(resume_call, context)
}

/// No timer will interrupt the CPU that is going to idle. Where no other interrupt can either, the
/// console is told so, once.
#[cold]
#[inline(never)]
fn tell_if_stuck() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let machine = state::machine();
    let (interrupts, _) = machine.kernel.usage(Resource::Interrupts);
    // What waits for the console interrupts as well.
    let Kernel { port, console, .. } = machine.kernel;
    let wakes = interrupts > 0 || port.pending() || !console.is_empty();
    if !wakes && !TOLD.swap(true, Ordering::Relaxed) {
        console.report(*port, Report { of: None, end: STUCK, lost: 0 });
    }
}

/// [`leave`], out of line.
#[inline(never)]
pub fn leave_apart<S: System<Port = X86>>(next: Ref<Thread<X86>>) -> ! {
    leave::<S>(next)
}

/// The trace's last record of an entry.
#[inline(always)]
fn note_exit<S: System<Port = X86>>(cpu: &'static Cpu<X86>, next: Ref<Thread<X86>>) {
    if S::Notes::ON {
        cpu.note(Event::Exit, next, 0, 0);
    }
}

#[inline(always)]
fn go_over<S: System<Port = X86>>(
    cpu: &'static Cpu<X86>,
    next: Ref<Thread<X86>>,
) -> *const Context {
    let context = switch_space(cpu, next);
    note_exit::<S>(cpu, next);
    context
}

/// [`go_over`] at the end of a fast path. The rare half is called last: so nothing has to outlast a
/// call, and a fast path saves no registers.
#[inline(always)]
fn go_fast<S: System<Port = X86>>(
    cpu: &'static Cpu<X86>,
    next: Ref<Thread<X86>>,
    badge: u64,
) -> Resume {
    let context = switch_tables(cpu, next);
    note_exit::<S>(cpu, next);
    if has_special(cpu, context) {
        return switch_special(cpu, context, badge);
    }
    Resume { context, badge }
}

#[cold]
#[inline(never)]
extern "sysv64" fn switch_special(
    cpu: &'static Cpu<X86>,
    context: &'static Context,
    badge: u64,
) -> Resume {
    cpu.local.special.switch(context);
    Resume { context, badge }
}

#[inline(always)]
fn switch_space(cpu: &'static Cpu<X86>, next: Ref<Thread<X86>>) -> *const Context {
    let context = switch_tables(cpu, next);
    if has_special(cpu, context) {
        cpu.local.special.switch(context);
    }
    context
}

/// Loads the page tables of `next`, if they differ. Returns its context.
#[inline(always)]
fn switch_tables(cpu: &'static Cpu<X86>, next: Ref<Thread<X86>>) -> &'static Context {
    // SAFETY: between entries this CPU alone touches the current thread and its domain.
    let (thread, domain) = unsafe {
        let thread = &*next.address();
        (thread, &*thread.domain.get().address())
    };
    let root = domain.space.root();
    if root != cpu.local.root.get() {
        cpu.local.root.set(root);
        // SAFETY: every domain's tables share the kernel's half.
        unsafe { load_root(root) };
    }
    &thread.context
}

/// Whether this CPU or the next thread has more than general registers.
#[inline(always)]
fn has_special(cpu: &Cpu<X86>, next: &Context) -> bool {
    cpu.local.special.live.get() | next.special.get() != 0
}
