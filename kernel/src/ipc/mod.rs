//! The IPC primitive: a send half, then a receive half, either of which may be missing (S0-01).
//!
//! The general path: [`plan`] looks up both partners and checks everything; what follows moves
//! the message, changes states and cannot fail. Who runs next is S0-08's table:
//!
//! | operation of A | next |
//! |---|---|
//! | send to B | the higher of A and B |
//! | call B | B |
//! | receive, served by C | the higher of A and C |
//! | send to B, receive from waiting C | the higher of B and C |
//! | send to B, receive, nobody waiting | B |
//!
//! A keeps the CPU on a tie. A sender that is a caller does not become ready by being received;
//! A, which then has work, takes its place in the table.

pub mod fast;
mod plan;
mod receive;
mod signal;
mod transfer;

use crate::access::Ref;
use crate::core::Core;
use crate::object::Thread;
use crate::object::thread::{Outgoing, State, Then, Wait, attention};
use crate::port::Context;
use crate::sched::hint::{CURRENT_OR_NEW, NEW};
use crate::system::System;
use abi::call::Timeout;
use abi::{Error, Status};
use plan::{Plan, Source, Target};
use receive::Received;

impl<S: System> Core<S> {
    /// Executes the IPC operation that the current thread's context describes.
    #[inline(always)]
    pub fn ipc(&self) {
        let me = self.cpu.current.get();
        match self.plan(me) {
            Ok(plan) => self.commit(me, plan),
            Err(error) => self.hold(me).finish(Status::failed(error)),
        }
    }

    #[inline(always)]
    fn commit(&self, me: Ref<Thread<S::Port>>, plan: Plan<S::Port>) {
        let woken = match plan.target {
            Target::Nothing => None,
            Target::Endpoint(cap) => match self.hold(cap.at).receivers.head() {
                Some(receiver) => {
                    self.hold(cap.at).receivers.remove(receiver);
                    self.deliver(me, receiver, plan.info, cap.badge);
                    if matches!(plan.source, Source::Reply) {
                        return self.await_reply(me, receiver, &plan);
                    }
                    Some(receiver)
                }
                None => return self.queue_sender(me, cap, &plan),
            },
            Target::Reply(caller) => self.reply(me, caller, &plan),
        };
        self.receive_half(me, woken, &plan);
    }

    /// The second half of an operation whose send half, if any, made `woken` ready.
    #[inline(always)]
    fn receive_half(
        &self,
        me: Ref<Thread<S::Port>>,
        woken: Option<Ref<Thread<S::Port>>>,
        plan: &Plan<S::Port>,
    ) {
        if matches!(plan.source, Source::Nothing) {
            self.hold(me).finish(Status::OK);
            if let Some(woken) = woken {
                self.wake::<CURRENT_OR_NEW>(woken);
            }
            return;
        }
        let received = self.receive(me, plan);
        match (woken, received) {
            (Some(woken), Received::Blocked) => self.hand_over(woken, me),
            (None, Received::Blocked) => self.block(me),
            (Some(woken), Received::From(sender)) => {
                self.wake::<NEW>(woken);
                self.wake::<CURRENT_OR_NEW>(sender);
            }
            (None, Received::From(sender)) => self.wake::<CURRENT_OR_NEW>(sender),
            (Some(woken), Received::Chained(next)) => {
                self.wake::<CURRENT_OR_NEW>(woken);
                self.run_chain(next);
            }
            (None, Received::Chained(next)) => self.run_chain(next),
            (Some(woken), Received::Done) => self.wake::<CURRENT_OR_NEW>(woken),
            (None, Received::Done) => {}
        }
    }

    /// `me` has been received by `server` and waits for its reply.
    #[inline(always)]
    fn await_reply(
        &self,
        me: Ref<Thread<S::Port>>,
        server: Ref<Thread<S::Port>>,
        plan: &Plan<S::Port>,
    ) {
        if self.expired(plan.receive_timeout, plan.deadline) {
            self.hold(me).finish(Status::failed_in_receive(Error::Timeout));
            return self.wake::<CURRENT_OR_NEW>(server);
        }
        self.give_reply_right(me, server);
        self.limit(me, plan.receive_timeout, plan.deadline);
        self.hand_over(server, me);
    }

    /// Leaves the right to answer `caller` in `server`.
    #[inline(always)]
    pub(crate) fn give_reply_right(
        &self,
        caller: Ref<Thread<S::Port>>,
        server: Ref<Thread<S::Port>>,
    ) {
        let thread = self.hold(server);
        if thread.caller.get().is_some() {
            self.manage().abandon(server, Error::Abandoned);
        }
        thread.caller.set(Some(caller));
        let caller = self.hold(caller);
        caller.server.set(Some(server));
        caller.state.set(State::Calling);
    }

    /// Nobody receives on the endpoint: `me` joins its queue.
    fn queue_sender(
        &self,
        me: Ref<Thread<S::Port>>,
        cap: crate::capability::Cap<crate::object::Endpoint<S::Port>>,
        plan: &Plan<S::Port>,
    ) {
        let thread = self.hold(me);
        let then = match plan.source {
            Source::Nothing => Then::Nothing,
            Source::Reply => Then::Reply,
            _ => Then::Receive,
        };
        thread.outgoing.set(Outgoing { info: plan.info, badge: cap.badge, then });
        thread.state.set(State::Sending);
        thread.wait.set(Wait::Endpoint(cap.at));
        self.hold(cap.at).senders.push_back(me);
        self.limit(me, plan.send_timeout, plan.deadline);
        self.block(me);
    }

    /// Starts a blocked thread's timeout.
    #[inline(always)]
    pub(crate) fn limit(&self, thread: Ref<Thread<S::Port>>, timeout: Timeout, deadline: u64) {
        if timeout == Timeout::At {
            self.hold(thread).set(attention::DEADLINE);
            self.cpu.sleep(deadline, crate::time::Sleeper::Thread(thread));
        }
    }

    /// Ends a thread's timeout, if it has one.
    #[inline(always)]
    pub(crate) fn unlimit(&self, thread: Ref<Thread<S::Port>>) {
        if self.hold(thread).has(attention::DEADLINE) {
            self.manage().end_timeout(thread);
        }
    }

    /// Answers `caller`. Returns it if that made it ready.
    #[inline(always)]
    fn reply(
        &self,
        me: Ref<Thread<S::Port>>,
        caller: Ref<Thread<S::Port>>,
        plan: &Plan<S::Port>,
    ) -> Option<Ref<Thread<S::Port>>> {
        let thread = self.hold(me);
        if thread.caller.get() == Some(caller) {
            thread.caller.set(None);
        } else {
            let (_, [partners, ..]) = thread.context.call();
            self.manage().take_saved_reply(me, partners as u32);
        }
        self.hold(caller).server.set(None);
        if self.hold(caller).has(attention::FAULT) {
            return self.answer_fault(me, caller, plan.info);
        }
        self.deliver(me, caller, plan.info, 0);
        Some(caller)
    }
}
