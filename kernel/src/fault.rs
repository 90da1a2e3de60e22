//! Faults and exceptions as messages: a call to the thread's handler that the kernel makes on
//! the thread's behalf. The answer says how the thread goes on and changes no other register.

use crate::access::Ref;
use crate::core::Core;
use crate::object::Thread;
use crate::object::thread::{Outgoing, State, Then, Wait, attention};
use crate::port::{Context, Port};
use crate::system::System;
use abi::call::fault::{CONTINUE, RETRY};
use abi::message::FaultKind;
use abi::{Info, USER_TOP};

/// A fault, as a port reports it.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Address or detail.
    pub detail: u64,
    /// The machine's error code.
    pub code: u64,
}

impl<S: System> Core<S> {
    /// The current thread has faulted; its context is full.
    pub fn fault(&self, fault: Fault) {
        let me = self.cpu.current.get();
        let thread = self.hold(me);
        let (instruction, stack) = thread.context.position();
        let handler = thread.handler.get().and_then(|weak| weak.get());
        let Some(handler) = handler else {
            return self.stop_unhandled(me, fault, instruction);
        };
        let info = Info(Info::new(fault.kind as u32, 4).0 | Info::FAULT);
        let badge = thread.handler_badge.get();
        thread.fault.set([fault.detail, instruction, stack, fault.code]);
        thread.set(attention::FAULT);
        thread.outgoing.set(Outgoing { info, badge, then: Then::Reply });
        let endpoint = self.hold(handler);
        match endpoint.receivers.head() {
            Some(receiver) => {
                endpoint.receivers.remove(receiver);
                self.deliver(me, receiver, info, badge);
                self.give_reply_right(me, receiver);
                self.hand_over(receiver, me);
            }
            None => {
                thread.state.set(State::Sending);
                thread.wait.set(Wait::Endpoint(handler));
                endpoint.senders.push_back(me);
                self.block(me);
            }
        }
    }

    /// A fault that nobody handles ends the thread's progress, and says so on the console.
    fn stop_unhandled(&self, me: Ref<Thread<S::Port>>, fault: Fault, instruction: u64) {
        let domain = self.hold(self.hold(me).domain.get()).name.get();
        self.kernel.report_fault(domain, me.index(), fault, instruction);
        self.hold(me).set(attention::SUSPENDED);
        self.block(me);
    }

    /// The handler has answered the fault of `thread`. Returns it if it is ready.
    pub(crate) fn answer_fault(
        &self,
        handler: Ref<Thread<S::Port>>,
        thread: Ref<Thread<S::Port>>,
        info: Info,
    ) -> Option<Ref<Thread<S::Port>>> {
        let body = self.hold(thread);
        body.clear(attention::FAULT);
        body.state.set(State::Ready);
        let [instruction, ..] = self.hold(handler).context.words();
        match info.label() {
            RETRY => Some(thread),
            CONTINUE if instruction < USER_TOP => {
                body.context.set_instruction(instruction);
                Some(thread)
            }
            _ => {
                body.set(attention::SUSPENDED);
                None
            }
        }
    }
}

impl<P: Port> crate::kernel::Kernel<P> {
    fn report_fault(&self, domain: [u64; 2], thread: u32, fault: Fault, at: u64) {
        use core::fmt::Write;
        struct Console<'a, P>(&'a P);
        impl<P: Port> Write for Console<'_, P> {
            fn write_str(&mut self, text: &str) -> core::fmt::Result {
                self.0.console_write(text.as_bytes());
                Ok(())
            }
        }
        let name = abi::boot::name_bytes(domain);
        let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        let (port, mut console) = (self.port, Console(self.port));
        port.console_write(b"fault: ");
        port.console_write(fault.kind.name().as_bytes());
        port.console_write(b", domain ");
        port.console_write(&name[..length]);
        // Writing to the console cannot fail.
        let _ = writeln!(
            console,
            ", thread {thread}, detail {:#x}, code {:#x}, at {at:#x}; no handler, thread suspended",
            fault.detail, fault.code,
        );
    }
}
