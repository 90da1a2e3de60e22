//! From a fast path that has left a message to the general path.

use crate::entry::{CALL, EXCHANGE, REPLY_WAIT, Resume, ipc, leave, leave_apart};
use crate::port::X86;
use crate::state;
use abi::Info;
use core::arch::naked_asm;
use kernel::access::Ref;
use kernel::events::{self, Machine};
use kernel::ipc::fast::{FoundCall, FoundExchange, FoundReplyWait};
use kernel::object::{Endpoint, Thread};
use kernel::system::System;

/// Hands a message that a fast path has left, with what it found, to the general path, which does
/// not return. The compiler is not to know that: the fast path ends in a jump then, and has no
/// registers to save.
macro_rules! leaves {
    ($($name:ident to $path:path, with ($($found:ident: $type:ty),*);)*) => {$(
        #[unsafe(naked)]
        pub extern "sysv64" fn $name<S: System<Port = X86>>(
            first: u64,
            info: u64,
            $($found: $type),*
        ) -> Resume {
            naked_asm!("jmp {path}", path = sym $path)
        }
    )*};
}
type To = Ref<Endpoint<X86>>;
leaves! {
    left_call to go_on_call::<S>, with (to: To, badge: u64, receiver: Ref<Thread<X86>>);
    left_unreceived to go_on_unreceived::<S>, with (to: To, badge: u64);
    left_reply_wait to go_on_reply_wait::<S>, with (to: Ref<Thread<X86>>, from: To);
    left_exchange to go_on_exchange::<S>, with (to: To, badge: u64, from: To);
}

/// As `left_call` and its like, if nothing was found.
#[unsafe(naked)]
pub extern "sysv64" fn left<S: System<Port = X86>, const KIND: u8>(
    first: u64,
    info: u64,
) -> Resume {
    naked_asm!("jmp {path}", path = sym look_again::<S, KIND>)
}

extern "sysv64" fn go_on_call<S: System<Port = X86>>(
    slot: u64,
    info: u64,
    to: To,
    badge: u64,
    receiver: Ref<Thread<X86>>,
) -> ! {
    let machine = save_call(CALL, slot, info);
    let found = FoundCall { to, badge, receiver: Some(receiver) };
    // SAFETY: entry code has entered once, and the fast path has left.
    leave::<S>(unsafe { events::go_on::<S, _>(machine, Info(info), found) })
}

extern "sysv64" fn go_on_unreceived<S: System<Port = X86>>(
    slot: u64,
    info: u64,
    to: To,
    badge: u64,
) -> ! {
    let machine = save_call(CALL, slot, info);
    let found = FoundCall { to, badge, receiver: None };
    // SAFETY: as for a call that a thread waits for.
    leave_apart::<S>(unsafe { events::go_on::<S, _>(machine, Info(info), found) })
}

extern "sysv64" fn go_on_reply_wait<S: System<Port = X86>>(
    slot: u64,
    info: u64,
    to: Ref<Thread<X86>>,
    from: To,
) -> ! {
    let machine = save_call(REPLY_WAIT, slot, info);
    // SAFETY: as for a call.
    leave_apart::<S>(unsafe {
        events::go_on::<S, _>(machine, Info(info), FoundReplyWait { to, from })
    })
}

extern "sysv64" fn go_on_exchange<S: System<Port = X86>>(
    partners: u64,
    info: u64,
    to: To,
    badge: u64,
    from: To,
) -> ! {
    let machine = save_call(EXCHANGE, partners, info);
    // SAFETY: as for a call.
    leave_apart::<S>(unsafe {
        events::go_on::<S, _>(machine, Info(info), FoundExchange { to, badge, from })
    })
}

extern "sysv64" fn look_again<S: System<Port = X86>, const KIND: u8>(first: u64, info: u64) -> ! {
    save_call(u64::from(KIND), first, info);
    ipc::<S, KIND>()
}

/// Saves what the general path has saved when it begins, but for the words.
#[inline(always)]
fn save_call(number: u64, first: u64, info: u64) -> Machine<X86> {
    let machine = state::machine();
    // SAFETY: between entries this CPU alone touches the current thread.
    unsafe { (*machine.cpu.current.get().address()).context.save_call(number, first, info) };
    machine
}
