//! Calls on trains: their entry code, behind that of messages, and the fast path.

use super::{Resume, leave, note_exit, switch_tables};
use crate::port::X86;
use crate::state;
use kernel::entry::Entry;
use kernel::events;
use kernel::system::System;

/// What entry code does with calls on trains: tries the fast path, and saves what the general path
/// has as arguments, and the words.
macro_rules! train_code {
    () => {
        concat!(
            ".if {trains}\n",
            "9:\n",
            "mov [rbp + {rdi}], rdi\n",
            "call {fast_train_call}\n",
            "test rax, rax\n",
            "jz 14f\n",
            // The badge was put where results are loaded from.
            "mov rsi, [rax + {rsi}]\n",
            "15:\n",
            "mov rdi, rdx\n",
            "mov rcx, [rax + {rip}]\n",
            "mov r11, [rax + {rflags}]\n",
            "mov rsp, [rax + {rsp}]\n",
            "xor eax, eax\n",
            "xor edx, edx\n",
            "xor ebx, ebx\n",
            "xor ebp, ebp\n",
            "xor r8d, r8d\n",
            "xor r9d, r9d\n",
            "xor r10d, r10d\n",
            "swapgs\n",
            "sysretq\n",
            "14:\n",
            "mov qword ptr [rbp + {rax}], {train_call}\n",
            "mov [rbp + {r12}], r12\n",
            "mov [rbp + {r13}], r13\n",
            "mov [rbp + {r14}], r14\n",
            "mov [rbp + {r15}], r15\n",
            "jmp {train_call_path}\n",
            "19:\n",
            "mov [rbp + {rdi}], rdi\n",
            "call {fast_train_return}\n",
            "xor esi, esi\n",
            "test rax, rax\n",
            "jnz 15b\n",
            "mov qword ptr [rbp + {rax}], {train_return}\n",
            "mov [rbp + {r12}], r12\n",
            "mov [rbp + {r13}], r13\n",
            "mov [rbp + {r14}], r14\n",
            "mov [rbp + {r15}], r15\n",
            "jmp {train_return_path}\n",
            ".endif\n",
        )
    };
}

/// Without a context the call is left to the general path.
const LEFT: Resume = Resume { context: core::ptr::null(), badge: 0 };

pub(super) extern "sysv64" fn fast_train_call<S: System<Port = X86>>(slot: u64) -> Resume {
    let machine = state::machine();
    // SAFETY: called by entry code, interrupts off, once per entry.
    let core = unsafe { Entry::<S>::enter_fast(machine.kernel, machine.cpu) };
    let entered = core.fast_train_call(slot as u32);
    drop(core);
    let Some((me, word, badge)) = entered else { return LEFT };
    let context = switch_tables(machine.cpu, me);
    note_exit::<S>(machine.cpu, me);
    context.save_second(badge);
    Resume { context, badge: word }
}

pub(super) extern "sysv64" fn fast_train_return<S: System<Port = X86>>(result: u64) -> Resume {
    let machine = state::machine();
    // SAFETY: called by entry code, interrupts off, once per entry.
    let core = unsafe { Entry::<S>::enter_fast(machine.kernel, machine.cpu) };
    let returned = core.fast_train_return();
    drop(core);
    let Some(me) = returned else { return LEFT };
    let context = switch_tables(machine.cpu, me);
    note_exit::<S>(machine.cpu, me);
    Resume { context, badge: result }
}

/// A call on a train without options, which goes a way of its own.
pub(super) extern "sysv64" fn train<S: System<Port = X86>, const CALL: u8>() -> ! {
    // SAFETY: called by entry code, interrupts off, once per entry.
    let next = unsafe { events::train::<S, CALL>(state::machine()) };
    leave::<S>(next)
}
