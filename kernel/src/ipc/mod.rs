//! The IPC primitive: a send half, then a receive half, either of which may be missing (S0-01).
//!
//! The general path: `plan` looks up both partners and checks everything; what follows moves the
//! message, changes states and cannot fail. Who runs next is S0-08's table:
//!
//! | operation of A | next |
//! |---|---|
//! | send to B | the higher of A and B |
//! | call B | B |
//! | receive, served by C | the higher of A and C |
//! | send to B, receive from waiting C | the higher of B and C |
//! | send to B, receive, no sender waits | B |
//!
//! A keeps the CPU on a tie. A sender that is a caller does not become ready by being received;
//! A, which then has work, takes its place in the table.
//!
//! The path is written once and instantiated for each [`kind`], so that what a call or a
//! reply-and-wait cannot do costs it nothing.

mod decode;
pub mod fast;
pub mod left;
mod lock_set;
mod plan;
mod receive;
pub(crate) mod signal;
pub(crate) mod transfer;

use crate::access::Ref;
use crate::cost::CostEvent;
use crate::entry::Entry;
use crate::object::deadlines::TimerEntry;
use crate::object::thread::{Continuation, Outgoing, State, Wait, flag};
use crate::object::{Endpoint, Thread};
use crate::port::{Context, Port};
use crate::sched::Scheduler;
use crate::send_queue::SendQueue;
use crate::system::System;
use abi::call::{Call, NOTHING, Timeout};
use abi::trace::{Event, point};
use abi::{Error, Status};
use decode::{Source, Target, Unanswered};
use plan::{IpcTimeout, Plan, Refusal};
use receive::Received;
use transfer::Message;

/// The system calls that are IPC, as constants to instantiate the path with.
pub mod kind {
    use super::Call;
    /// Any combination of halves and timeouts.
    pub const ANY: u8 = Call::Ipc as u8;
    /// A call without timeout.
    pub const CALL: u8 = Call::Call as u8;
    /// A reply and an open receive without timeout.
    pub const REPLY_WAIT: u8 = Call::ReplyWait as u8;
}

impl<S: System> Entry<S> {
    /// Executes the IPC operation that the current thread's context describes.
    #[inline(always)]
    pub fn ipc<const KIND: u8>(&self) {
        self.hold_for_message::<KIND>();
        let me = self.cpu.current.get();
        match self.plan::<KIND>(me) {
            Ok(plan) => self.commit::<KIND>(me, plan),
            Err(refusal) => self.refuse::<KIND>(me, refusal),
        }
        if S::Scheduler::TREE {
            // It may have answered its caller, or have taken another one's message, and go on.
            S::Scheduler::caller_changed(self.cpu, self.cpu, me);
        }
    }

    /// An operation that does not happen. It fails in the receive half, if it has no other.
    #[cold]
    #[inline(never)]
    fn refuse<const KIND: u8>(&self, me: Ref<Thread<S::Port>>, refusal: Refusal) {
        let thread = self.hold(me);
        let (number, [partners, ..]) = thread.context.call();
        let receives = KIND == kind::ANY && partners as u32 == NOTHING;
        if let Refusal::Failed(error) | Refusal::Unfit(error) = refusal {
            self.note_failure(me, error, receives);
        }
        match refusal {
            Refusal::Failed(error) if receives => thread.finish(Status::failed_in_receive(error)),
            Refusal::Failed(error) | Refusal::Unfit(error) => thread.finish(Status::failed(error)),
            Refusal::Preempted => self.reissue::<KIND>(me, number),
        }
    }

    #[inline(always)]
    fn commit<const KIND: u8>(&self, me: Ref<Thread<S::Port>>, plan: Plan<S::Port>) {
        let Plan { target, source, message, send_timeout, receive_timeout } = plan;
        let woken = match target {
            Target::Nothing => None,
            Target::Endpoint(cap) => match self.hold(cap.at).receivers.head() {
                Some(receiver) if matches!(source, Source::Reply) => {
                    let to = (cap.at, cap.badge);
                    return self.call_receiver::<KIND>(me, to, receiver, message, receive_timeout);
                }
                Some(receiver) => {
                    self.hold(cap.at).receivers().remove(receiver);
                    self.deliver(me, receiver, message, cap.badge);
                    self.hold(receiver).become_ready();
                    Some(receiver)
                }
                None => {
                    let then = match source {
                        Source::Nothing => Continuation::Nothing,
                        Source::Reply => Continuation::Reply,
                        _ => Continuation::Receive,
                    };
                    let outgoing = Outgoing { info: message.info, badge: cap.badge, then };
                    return self.queue_up(me, cap.at, outgoing, send_timeout);
                }
            },
            Target::Reply(caller) => self.reply::<KIND>(me, caller, message),
            Target::Dropped(why) => {
                if self.drops_reply(me, why) {
                    return;
                }
                None
            }
        };
        self.receive_half::<KIND>(me, (woken, message), source, receive_timeout);
    }

    /// Calls the first thread that waits to receive on an endpoint, where `me` has this badge.
    #[inline(always)]
    fn call_receiver<const KIND: u8>(
        &self,
        me: Ref<Thread<S::Port>>,
        (to, badge): (Ref<Endpoint<S::Port>>, u64),
        receiver: Ref<Thread<S::Port>>,
        message: Message,
        timeout: IpcTimeout,
    ) {
        if self.is_long_call::<KIND>(receiver, timeout)
            && self.makes_room_for_call(receiver, timeout)
        {
            return self.calls_again::<KIND>(me);
        }
        self.hold(to).receivers().remove(receiver);
        if self.hold(receiver).has(Self::BEGIN_SLOWLY) {
            self.begin_call(receiver);
        }
        self.transfer(me, receiver, message, badge);
        match KIND {
            kind::ANY => self.await_reply_until(me, receiver, timeout),
            _ => self.await_reply(me, receiver, timeout),
        }
    }

    /// Flags of a server, because of which a call to it begins with [`Entry::begin_call`].
    pub(crate) const BEGIN_SLOWLY: u32 =
        if Self::CALLS_LEND { flag::DEADLINE | flag::SERVES } else { flag::DEADLINE };

    /// Whether callers and senders may lend servers their priorities, or leaves.
    pub(crate) const CALLS_LEND: bool = S::Port::FUTEXES;

    /// `server`, which has waited with a deadline, or serves an endpoint, is about to have the call
    /// of the current thread.
    #[cold]
    #[inline(never)]
    pub(crate) fn begin_call(&self, server: Ref<Thread<S::Port>>) {
        self.cancel_timeout(server);
        if Self::CALLS_LEND && self.hold(server).has(flag::SERVES) {
            self.manage().lend_call(self.cpu.current.get(), server);
        }
    }

    /// `me` issues its operation again, as an interrupt is pending.
    #[cold]
    #[inline(never)]
    fn sends_again(&self, me: Ref<Thread<S::Port>>) {
        let (number, _) = self.hold(me).context.call();
        self.reissue::<{ kind::ANY }>(me, number);
    }

    /// `me` issues its call again. The server has waited for it and may have to come back first: a
    /// call that may not wait to be sent waits for that no longer than for its answer.
    #[cold]
    #[inline(never)]
    fn calls_again<const KIND: u8>(&self, me: Ref<Thread<S::Port>>) {
        let (number, _) = self.hold(me).context.call();
        let number = if KIND == kind::ANY { IpcTimeout::of_begun_call(number) } else { number };
        self.reissue::<KIND>(me, number);
    }

    /// `me` issues its whole operation again, with this number word.
    fn reissue<const KIND: u8>(&self, me: Ref<Thread<S::Port>>, number: u64) {
        let thread = self.hold(me);
        let (_, [partners, info, deadline, ..]) = thread.context.call();
        let deadline = if IpcTimeout::has_instant(number) { deadline } else { 0 };
        thread.issue_again(number, [partners, info, deadline, 0, 0, 0]);
    }

    /// Between two halves that take long: whether an interrupt is pending. The receive half is
    /// left then, and `me` issues it when it runs.
    #[inline(never)]
    fn leaves_halfway(&self, me: Ref<Thread<S::Port>>) -> bool {
        let pending = self.cpu.is_wanted();
        self.note(Event::Preempt, me, point::HALVES, u16::from(pending));
        if pending {
            self.again(me);
        }
        pending
    }

    /// The second half of an operation whose send half, if any, made `woken` ready with a message.
    #[inline(always)]
    fn receive_half<const KIND: u8>(
        &self,
        me: Ref<Thread<S::Port>>,
        (woken, message): (Option<Ref<Thread<S::Port>>>, Message),
        source: Source<S::Port>,
        timeout: IpcTimeout,
    ) {
        if matches!(source, Source::Nothing) {
            self.hold(me).finish(Status::OK);
            if let Some(woken) = woken {
                self.wake(woken);
            }
            return;
        }
        if let Source::Endpoint(endpoint) = source
            && KIND != kind::ANY
            && self.is_quiet(endpoint)
        {
            let received = self.block_on_endpoint(me, endpoint, timeout);
            return self.decide(me, woken, received);
        }
        let long = !message.info.is_short() || (KIND == kind::ANY && timeout.kind == Timeout::At);
        if long && woken.is_some() && self.leaves_halfway(me) {
            return self.decide(me, woken, Received::Done);
        }
        self.receive_and_decide(me, woken, source, timeout);
    }

    /// [`Entry::receive_half`] where it need not be fast.
    #[inline(never)]
    fn receive_and_decide(
        &self,
        me: Ref<Thread<S::Port>>,
        woken: Option<Ref<Thread<S::Port>>>,
        source: Source<S::Port>,
        timeout: IpcTimeout,
    ) {
        let received = self.receive(me, source, timeout);
        self.decide(me, woken, received);
    }

    /// Who runs after a receive half (S0-08).
    #[inline(always)]
    fn decide(
        &self,
        me: Ref<Thread<S::Port>>,
        woken: Option<Ref<Thread<S::Port>>>,
        received: Received<S::Port>,
    ) {
        match (received, woken) {
            (Received::Blocked, Some(woken)) => self.reply_wait(woken, me),
            (Received::Blocked, None) => self.block(me, State::Receiving),
            (Received::From(sender), woken) => {
                if let Some(woken) = woken {
                    self.hand_over(woken);
                }
                self.wake_slowly(sender);
            }
            (Received::Done, Some(woken)) => self.wake_slowly(woken),
            (Received::Done, None) => {}
            (Received::Chained(next), woken) => {
                if let Some(woken) = woken {
                    self.wake_slowly(woken);
                }
                self.run_chain(next);
            }
        }
    }

    /// `server` has the message of `me`, which waits for its reply.
    #[inline(always)]
    fn await_reply(
        &self,
        me: Ref<Thread<S::Port>>,
        server: Ref<Thread<S::Port>>,
        timeout: IpcTimeout,
    ) {
        if self.expired(timeout) {
            self.gives_up_call(me);
            self.hold(me).finish(Status::failed_in_receive(Error::Timeout));
            self.hold(server).become_ready();
            return self.wake_slowly(server);
        }
        self.give_reply_right(me, server);
        self.arm_timeout(me, timeout);
        self.hold(server).become_ready();
        self.call(server, me);
    }

    /// [`Entry::await_reply`] where it need not be fast.
    #[inline(never)]
    fn await_reply_until(
        &self,
        me: Ref<Thread<S::Port>>,
        server: Ref<Thread<S::Port>>,
        timeout: IpcTimeout,
    ) {
        self.await_reply(me, server, timeout);
    }

    /// Leaves the right to answer `caller` in `server`, which has answered earlier ones.
    #[inline(always)]
    pub(crate) fn give_reply_right(
        &self,
        caller: Ref<Thread<S::Port>>,
        server: Ref<Thread<S::Port>>,
    ) {
        let thread = self.hold(server);
        debug_assert!(thread.caller.get().is_none(), "an earlier caller would wait for ever");
        thread.set_caller(Some(caller));
        self.hold(caller).server.set(Some(server));
        self.wait_in(caller, State::Calling);
    }

    /// Whether a call to a waiting server takes long: an earlier caller still waits for its answer,
    /// and is given up, or the call may time out.
    #[inline(always)]
    fn is_long_call<const KIND: u8>(
        &self,
        server: Ref<Thread<S::Port>>,
        timeout: IpcTimeout,
    ) -> bool {
        let times_out = KIND == kind::ANY && timeout.kind == Timeout::At;
        times_out || self.hold(server).caller.get().is_some()
    }

    /// Before a long call puts its deadline in: whether an interrupt is pending. An earlier caller
    /// is given up first, since its deadline may have to go as well; then that of the server goes.
    #[cold]
    #[inline(never)]
    fn makes_room_for_call(&self, server: Ref<Thread<S::Port>>, timeout: IpcTimeout) -> bool {
        if self.expired(timeout) {
            return false;
        }
        if self.hold(server).caller.get().is_some() {
            self.abandon(server);
        }
        self.cpu.poll(point::HALVES)
            || (self.hold(server).has(flag::DEADLINE) && self.ends_timeout_early(server))
    }

    /// Ends the timeout of a thread that waits to receive, before what it waits for comes. Whether
    /// an interrupt is pending behind that: the thread issues its receive half again then.
    pub(crate) fn ends_timeout_early(&self, receiver: Ref<Thread<S::Port>>) -> bool {
        self.end_timeout(receiver);
        let pending = self.cpu.poll(point::HALVES);
        if pending {
            self.waits_anew(receiver);
        }
        pending
    }

    /// The caller that `server` has not answered is given up.
    #[cold]
    #[inline(never)]
    pub(crate) fn abandon(&self, server: Ref<Thread<S::Port>>) {
        self.manage().abandon(server, Error::Abandoned);
    }

    /// The endpoint has no receiver: `me` joins its queue, and lends its priority if it is served.
    #[inline(always)]
    fn queue_up(
        &self,
        me: Ref<Thread<S::Port>>,
        endpoint: Ref<Endpoint<S::Port>>,
        outgoing: Outgoing,
        timeout: IpcTimeout,
    ) {
        let served = Self::CALLS_LEND && self.hold(endpoint).served.get() != 0;
        if served && self.manage().lends_queued(me, endpoint) {
            return self.sends_again(me);
        }
        self.queue_sender(me, endpoint, outgoing, timeout);
    }

    /// `me` joins the queue of senders of an endpoint. With a deadline to add it makes room
    /// for an interrupt first.
    #[inline(never)]
    fn queue_sender(
        &self,
        me: Ref<Thread<S::Port>>,
        endpoint: Ref<Endpoint<S::Port>>,
        outgoing: Outgoing,
        timeout: IpcTimeout,
    ) {
        let thread = self.hold(me);
        // One that lends has made room already.
        let makes_room = timeout.kind == Timeout::At && !thread.has(flag::LENDS);
        if makes_room && self.cpu.poll(point::HALVES) {
            return self.sends_again(me);
        }
        thread.outgoing.set(outgoing);
        thread.wait.set(Wait::Endpoint(endpoint));
        self.join_senders(me, endpoint);
        self.arm_timeout(me, timeout);
        self.wait_in(me, State::Sending);
        self.block(me, State::Sending);
    }

    /// `thread` joins the queue of senders of an endpoint.
    #[inline(always)]
    pub(crate) fn join_senders(
        &self,
        thread: Ref<Thread<S::Port>>,
        endpoint: Ref<Endpoint<S::Port>>,
    ) {
        let body = self.hold(endpoint);
        S::SendQueue::insert(&*body, thread);
        if S::Port::LENGTHS {
            let length = body.queued.get() + 1;
            body.queued.set(length);
            S::Port::cost(CostEvent::Queued(length));
            self.note(Event::Queue, thread, endpoint.index(), length as u16);
        }
    }

    /// Starts a blocked thread's timeout, on the CPU that it belongs to.
    #[inline(always)]
    pub(crate) fn arm_timeout(&self, thread: Ref<Thread<S::Port>>, timeout: IpcTimeout) {
        if timeout.kind == Timeout::At {
            self.hold(thread).set(flag::DEADLINE);
            match self.is_elsewhere(thread) {
                true => self.manage().sleep(timeout.deadline, thread),
                false => self.cpu.sleep(timeout.deadline, TimerEntry::Thread(thread)),
            }
        }
    }

    /// Ends a thread's timeout, if it has one.
    #[inline(always)]
    pub(crate) fn cancel_timeout(&self, thread: Ref<Thread<S::Port>>) {
        if self.hold(thread).has(flag::DEADLINE) {
            self.end_timeout(thread);
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn end_timeout(&self, thread: Ref<Thread<S::Port>>) {
        self.cpu.took_long.set(true);
        if self.is_elsewhere(thread) {
            return self.manage().end_timeout(thread);
        }
        self.hold(thread).clear(flag::DEADLINE);
        self.cpu.deadlines.remove(TimerEntry::Thread(thread));
    }

    /// Whether a half that would block may not.
    #[inline(always)]
    fn expired(&self, timeout: IpcTimeout) -> bool {
        match timeout.kind {
            Timeout::Never => false,
            Timeout::Zero => true,
            Timeout::At => timeout.deadline <= self.kernel.port.now(),
        }
    }

    /// Flags of a caller, because of which its answer begins with [`Entry::end_call`].
    const END_SLOWLY: u32 =
        if Self::CALLS_LEND { flag::DEADLINE | flag::LENDS } else { flag::DEADLINE };

    /// A caller that has waited with a deadline, or has lent its priority, is about to have its
    /// answer.
    #[cold]
    #[inline(never)]
    fn end_call(&self, caller: Ref<Thread<S::Port>>) {
        self.cancel_timeout(caller);
        if Self::CALLS_LEND && self.hold(caller).has(flag::LENDS) {
            self.manage().stop_lending(caller);
        }
    }

    /// A call does not wait for its answer: its time is over.
    #[cold]
    #[inline(never)]
    pub(super) fn gives_up_call(&self, caller: Ref<Thread<S::Port>>) {
        if Self::CALLS_LEND && self.hold(caller).has(flag::LENDS) {
            self.manage().stop_lending(caller);
        }
        self.note_failure(caller, Error::Timeout, true);
    }

    /// Answers `caller`. Returns it if that made it ready.
    #[inline(always)]
    fn reply<const KIND: u8>(
        &self,
        me: Ref<Thread<S::Port>>,
        caller: Ref<Thread<S::Port>>,
        message: Message,
    ) -> Option<Ref<Thread<S::Port>>> {
        let thread = self.hold(me);
        if KIND == kind::REPLY_WAIT || thread.caller.get() == Some(caller) {
            thread.set_caller(None);
        } else {
            self.use_saved_reply(me);
        }
        self.hold(caller).server.set(None);
        if self.hold(caller).has(Self::END_SLOWLY) {
            self.end_call(caller);
        }
        if self.hold(caller).has(flag::FAULT) {
            return self.answer_fault(me, caller, message.info);
        }
        self.transfer(me, caller, message, 0);
        self.hold(caller).become_ready();
        Some(caller)
    }

    /// A reply goes nowhere: its right is used up all the same. Whether an interrupt is pending
    /// behind that: the receive half is left then.
    #[cold]
    #[inline(never)]
    fn drops_reply(&self, me: Ref<Thread<S::Port>>, why: Unanswered<S::Port>) -> bool {
        match why {
            Unanswered::Gone => {}
            Unanswered::Saved => self.use_saved_reply(me),
            Unanswered::Unfit(caller, error) => {
                if self.hold(me).caller.get() != Some(caller) {
                    self.use_saved_reply(me);
                }
                self.manage().cancel(caller, error);
                return self.leaves_halfway(me);
            }
        }
        false
    }

    #[cold]
    #[inline(never)]
    fn use_saved_reply(&self, me: Ref<Thread<S::Port>>) {
        let (_, [partners, ..]) = self.hold(me).context.call();
        self.manage().take_saved_reply(me, partners as u32);
    }
}
