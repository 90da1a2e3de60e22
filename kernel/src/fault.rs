//! Faults and exceptions as messages: a call to the thread's handler that the kernel makes on
//! the thread's behalf. The answer says how the thread goes on and changes no other register.

use crate::access::Ref;
use crate::cost::CostEvent;
use crate::entry::Entry;
use crate::ipc::transfer::Message;
use crate::manage::Manager;
use crate::object::thread::{Continuation, Outgoing, State, Wait, flag};
use crate::object::{Endpoint, Thread};
use crate::port::{Context, Port};
pub use crate::report::Fault;
use crate::report::{Faulted, Report};
use crate::sched::Scheduler;
use crate::system::System;
use abi::call::ThreadState;
use abi::call::fault::{CONTINUE, RETRY};
use abi::message::{FaultKind, PANIC};
use abi::trace::{Event, point};
use abi::{Error, Info};

impl<S: System> Entry<S> {
    /// The current thread has faulted; its context is full.
    pub fn fault(&self, fault: Fault) {
        let me = self.cpu.current.get();
        let thread = self.hold(me);
        let (instruction, stack) = thread.context.position();
        if S::Port::TRAINS && thread.inside.get().is_some() {
            return self.fault_inside(me, fault, instruction);
        }
        let handler = thread.handler.get().and_then(|weak| weak.get());
        let receiver = handler.and_then(|handler| self.hold(handler).receivers.head());
        if receiver.is_some_and(|receiver| self.makes_room_for_fault(receiver, fault.kind)) {
            // The thread faults again when it runs.
            return;
        }
        if receiver.is_none()
            && let Some(handler) = handler
            && self.makes_room_for_lending(me, handler, fault.kind)
        {
            return;
        }
        let Some(handler) = handler else {
            return self.stop_unhandled(me, fault, [fault.detail, instruction, stack, fault.code]);
        };
        self.note(Event::Fault, me, fault.kind as u32, 0);
        let info = Info(Info::new(fault.kind as u32, 4).0 | Info::FAULT);
        let badge = thread.handler_badge.get();
        thread.fault.set([fault.detail, instruction, stack, fault.code]);
        thread.set(flag::FAULT);
        thread.outgoing.set(Outgoing { info, badge, then: Continuation::Reply });
        let endpoint = self.hold(handler);
        match receiver {
            Some(receiver) => {
                if self.hold(receiver).has(Self::BEGIN_SLOWLY) {
                    self.begin_call(receiver);
                }
                endpoint.receivers().remove(receiver);
                self.transfer(me, receiver, Message::of(info), badge);
                self.give_reply_right(me, receiver);
                self.hold(receiver).become_ready();
                self.call(receiver, me);
            }
            None => {
                thread.wait.set(Wait::Endpoint(handler));
                self.join_senders(me, handler);
                self.wait_in(me, State::Sending);
                self.block(me, State::Sending);
            }
        }
    }

    /// Gives up the caller that `receiver` has not answered. Whether an interrupt is pending behind
    /// that, if a deadline is to end as well, and the instruction can be executed again.
    fn makes_room_for_fault(&self, receiver: Ref<Thread<S::Port>>, kind: FaultKind) -> bool {
        if self.hold(receiver).caller.get().is_none() {
            return false;
        }
        self.abandon(receiver);
        let late = self.hold(receiver).has(flag::DEADLINE);
        late && kind != FaultKind::Debug && self.cpu.poll(point::HALVES)
    }

    /// A thread that is to be queued at its handler lends its priority, if that is served. Whether
    /// an interrupt is pending before it, and the instruction can be executed again: else the
    /// thread lends nothing then.
    fn makes_room_for_lending(
        &self,
        me: Ref<Thread<S::Port>>,
        handler: Ref<Endpoint<S::Port>>,
        kind: FaultKind,
    ) -> bool {
        let served = Self::CALLS_LEND && self.hold(handler).served.get() != 0;
        served && self.manage().lends_queued(me, handler) && kind != FaultKind::Debug
    }

    /// A fault without a handler ends the thread for all that wait for it, and says so on the
    /// console. The thread itself stays, to be looked at.
    ///
    /// An interrupt may come between the steps of that. It faults again then, and goes on, at an
    /// address where nothing is mapped: its own instruction could go well by then, and it would go
    /// on without what it has given up.
    #[cold]
    #[inline(never)]
    fn stop_unhandled(&self, me: Ref<Thread<S::Port>>, fault: Fault, words: [u64; 4]) {
        let thread = self.hold(me);
        if !thread.has(flag::ENDED) {
            self.note(Event::Fault, me, fault.kind as u32, 0);
            self.manage().tell_console(me, fault, words[1]);
            thread.fault.set(words);
            thread.set(flag::ENDED);
        }
        if !self.manage().gives_up_all(me) {
            return self.hold(me).context.set_instruction(0);
        }
        let [_, instruction, ..] = self.hold(me).fault.get();
        self.hold(me).context.set_instruction(instruction);
        self.hold(me).set(flag::SUSPENDED);
        S::Port::cost(CostEvent::Block(me.index()));
        self.note(Event::Block, me, 0, ThreadState::Suspended as u16);
        // It waits for an answer that does not come.
        S::Scheduler::block::<S::Port, S::Notes>(self.cpu, me, State::Calling);
    }

    /// The code that a thread has entered has faulted: the thread is back where it has entered,
    /// with an error. The domain's people are told; what its handler would be told is another
    /// domain's. Between steps it faults again.
    #[cold]
    #[inline(never)]
    fn fault_inside(&self, me: Ref<Thread<S::Port>>, fault: Fault, instruction: u64) {
        if self.manage().leaves(me).is_none() {
            self.note(Event::Fault, me, fault.kind as u32, 0);
            self.manage().tell_console(me, fault, instruction);
        }
        self.manage().go_back(me, Error::Faulted);
    }

    /// The handler has answered the fault of `thread`. Returns it if it is ready.
    #[inline(never)]
    pub(crate) fn answer_fault(
        &self,
        handler: Ref<Thread<S::Port>>,
        thread: Ref<Thread<S::Port>>,
        info: Info,
    ) -> Option<Ref<Thread<S::Port>>> {
        let body = self.hold(thread);
        body.clear(flag::FAULT);
        let [instruction, ..] = self.hold(handler).context.words();
        let goes_on = match info.label() {
            RETRY => true,
            CONTINUE if instruction < S::Port::USER_TOP => {
                body.context.set_instruction(instruction);
                true
            }
            _ => {
                body.set(flag::SUSPENDED);
                false
            }
        };
        body.become_ready();
        goes_on.then_some(thread)
    }
}

impl<P: Port> Manager<'_, P> {
    /// A panicking program ends the run: tells the console of it as of the fault that it would be
    /// if the program might not do that. `place` is where, above [`PANIC`]; 0 if it is not known.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_of_panic(&self, me: Ref<Thread<P>>, place: u64) {
        let fault = Fault { kind: FaultKind::Memory, detail: PANIC + place, code: 0 };
        let (instruction, _) = self.all.open(me).context.position();
        self.report(me, fault, instruction, "; the run ends");
    }

    /// Tells the console of a fault, if the domain may still have it told.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_console(&self, me: Ref<Thread<P>>, fault: Fault, instruction: u64) {
        let thread = self.all.open(me);
        let inside = P::TRAINS && thread.inside.get().is_some();
        let payer = self.all.open(self.outermost(thread.domain.get()));
        if let Some(left) = payer.reports.get().checked_sub(1) {
            payer.reports.set(left);
            let end = match inside {
                true => "; the call that has entered fails",
                false => "; no handler, thread suspended",
            };
            self.report(me, fault, instruction, end);
        }
    }

    /// A thread whose trap was not answered has no handler any more: it is to end, as by another
    /// fault, which its instruction would cause again. A trap is behind its own: nothing is mapped
    /// at 0.
    #[cold]
    #[inline(never)]
    pub(crate) fn ends_by_trap(&self, at: Ref<Thread<P>>) {
        let thread = self.all.open(at);
        let [detail, instruction, _, code] = thread.fault.get();
        self.tell_console(at, Fault { kind: FaultKind::Debug, detail, code }, instruction);
        thread.set(flag::ENDED);
        thread.context.set_instruction(0);
    }

    /// Tells the console of a fault of a thread, under the names that it and its domain have.
    #[inline(never)]
    fn report(&self, me: Ref<Thread<P>>, fault: Fault, instruction: u64, end: &'static str) {
        let of = Some(Faulted { fault, names: self.names(me), thread: me.index(), instruction });
        let report = Report { of, end, lost: 0 };
        self.kernel.console.report(self.kernel.port, report);
    }
}
