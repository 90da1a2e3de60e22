//! The receive half.

use super::decode::{Source, UnderLocks};
use super::kind;
use super::plan::IpcTimeout;
use super::transfer::{Message, acceptable};
use crate::access::Ref;
use crate::entry::Entry;
use crate::object::thread::{Begins, Continuation, Outgoing, State, Wait, flag};
use crate::object::{Endpoint, Notification, Thread};
use crate::port::{Context, Port};
use crate::sched::Scheduler;
use crate::send_queue::SendQueue;
use crate::system::System;
use abi::call::{NOTHING, Timeout, ipc, partners};
use abi::trace::{Event, point};
use abi::{Error, Info, Status};

/// How a receive half came out for the thread that asked.
pub(super) enum Received<P: Port> {
    /// It waits.
    Blocked,
    /// It is ready, with a message or an error.
    Done,
    /// It is ready, and so is this sender.
    From(Ref<Thread<P>>),
    /// It is ready, and this sender, blocked still, goes on to its own receive half.
    Chained(Ref<Thread<P>>),
}

/// Whether a message is taken in few steps: it stays in registers, its sender has no deadline,
/// lends no priority and does not begin the tick, and if it is a call, this neither begins a
/// deadline nor gives up an earlier call that was not answered.
struct Short(bool);

impl<S: System> Entry<S> {
    /// Whether nothing can be received on an endpoint now.
    #[inline(always)]
    pub(super) fn is_quiet(&self, endpoint: Ref<Endpoint<S::Port>>) -> bool {
        let endpoint = self.hold(endpoint);
        S::SendQueue::is_empty(&*endpoint) && endpoint.attached.get().is_none()
    }

    /// Receives for `thread`, or blocks it.
    #[inline(never)]
    pub(super) fn receive(
        &self,
        thread: Ref<Thread<S::Port>>,
        source: Source<S::Port>,
        timeout: IpcTimeout,
    ) -> Received<S::Port> {
        match source {
            Source::Endpoint(endpoint) => match self.take_message(thread, endpoint) {
                Some(received) => received,
                None => self.block_on_endpoint(thread, endpoint, timeout),
            },
            Source::Notification(notification) => {
                if self.take_signals(thread, notification) {
                    return Received::Done;
                }
                self.block_receiver(thread, timeout, Wait::Notification(notification), || {
                    self.hold(notification).receivers().push_back(thread);
                })
            }
            Source::Sleep => self.block_receiver(thread, timeout, Wait::Nothing, || {}),
            Source::Nothing | Source::Reply => unreachable!("not a receive half of its own"),
        }
    }

    #[inline(always)]
    pub(super) fn block_on_endpoint(
        &self,
        thread: Ref<Thread<S::Port>>,
        endpoint: Ref<Endpoint<S::Port>>,
        timeout: IpcTimeout,
    ) -> Received<S::Port> {
        self.block_receiver(thread, timeout, Wait::Endpoint(endpoint), || {
            self.hold(endpoint).receivers().push_back(thread);
        })
    }

    #[inline(always)]
    fn block_receiver(
        &self,
        thread: Ref<Thread<S::Port>>,
        timeout: IpcTimeout,
        wait: Wait<S::Port>,
        join: impl FnOnce(),
    ) -> Received<S::Port> {
        if self.expired(timeout) {
            if timeout.kind == Timeout::At {
                self.released(thread, Some(timeout.deadline));
            }
            self.hold(thread).finish(Status::failed_in_receive(Error::Timeout));
            return Received::Done;
        }
        if timeout.kind == Timeout::At && self.makes_room_for_wait(thread) {
            return Received::Done;
        }
        self.hold(thread).wait.set(wait);
        join();
        self.arm_timeout(thread, timeout);
        self.wait_in(thread, State::Receiving);
        Received::Blocked
    }

    /// Before a wait with a timeout adds its deadline, or another step: whether an interrupt is
    /// pending. `thread` issues its receive half again, then.
    #[cold]
    #[inline(never)]
    fn makes_room_for_wait(&self, thread: Ref<Thread<S::Port>>) -> bool {
        let pending = self.cpu.poll(point::RECEIVE);
        if pending {
            self.again(thread);
        }
        pending
    }

    /// A thread has what it asked for without a wait: that begins a job of its own, unless it owes
    /// an answer still.
    #[inline(always)]
    fn released(&self, thread: Ref<Thread<S::Port>>, at: Option<u64>) {
        if S::Scheduler::TREE && self.hold(thread).caller.get().is_none() {
            S::Scheduler::released(self.cpu, thread, at);
        }
    }

    /// Takes pending signals, if there are any.
    #[inline(always)]
    fn take_signals(
        &self,
        thread: Ref<Thread<S::Port>>,
        notification: Ref<Notification<S::Port>>,
    ) -> bool {
        let bits = self.hold(notification).bits.replace(0);
        if bits != 0 {
            self.released(thread, None);
            let context = &self.hold(thread).context;
            context.set_results(Status::OK, bits, Info(Info::NOTIFICATION));
        }
        bits != 0
    }

    /// Takes the message of the first sender that has one for this receiver, or the signals of
    /// the attached notification.
    #[inline(always)]
    fn take_message(
        &self,
        thread: Ref<Thread<S::Port>>,
        endpoint: Ref<Endpoint<S::Port>>,
    ) -> Option<Received<S::Port>> {
        let queue = self.hold(endpoint);
        if let Some(attached) = queue.attached.get().and_then(|weak| weak.get())
            && self.take_signals(thread, attached)
        {
            return Some(Received::Done);
        }
        let mut steps = 0;
        let sender = loop {
            let sender = S::SendQueue::first(&*queue)?;
            // What follows as urgently may change which one is the first.
            if self.cpu.waits.has_followers()
                && self.manage().follows_as_urgent(sender.priority.get())
            {
                if self.makes_room_for_wait(thread) {
                    return Some(Received::Done);
                }
                continue;
            }
            let taken = self.can_take(thread, sender);
            match taken {
                Ok(Short(true)) => break sender,
                Ok(_) => self.prepare_taking(sender, thread),
                Err(error) => {
                    self.manage().cancel(sender, error);
                    steps += 1;
                }
            }
            let pending = self.cpu.is_wanted() || self.cpu.is_in_the_way(self.kernel, steps);
            self.note(Event::Preempt, thread, point::RECEIVE, u16::from(pending));
            if pending || (taken.is_ok() && self.makes_room_for_caller(sender, thread)) {
                self.again(thread);
                return Some(Received::Done);
            }
            if taken.is_ok() {
                break sender;
            }
        };
        S::SendQueue::remove(&*queue, sender);
        queue.sender_left();
        self.released(thread, None);
        Some(self.take_from(sender, thread))
    }

    /// Takes the message of a sender that has left its queue.
    #[inline(always)]
    fn take_from(
        &self,
        sender: Ref<Thread<S::Port>>,
        thread: Ref<Thread<S::Port>>,
    ) -> Received<S::Port> {
        let outgoing = self.hold(sender).outgoing.get();
        let calls = matches!(outgoing.then, Continuation::Reply);
        self.lends_no_more_there(sender, thread, calls);
        // A caller waits for its answer until the same instant.
        if !calls {
            self.cancel_timeout(sender);
        }
        self.transfer(sender, thread, Message::of(outgoing.info), outgoing.badge);
        let goes_on = |status| {
            let sender = self.hold(sender);
            sender.finish(status);
            sender.become_ready();
            Received::From(sender.name())
        };
        match outgoing.then {
            Continuation::Nothing => goes_on(Status::OK),
            Continuation::Reply => match self.reply_timeout(sender) {
                timeout if self.expired(timeout) => {
                    self.cancel_timeout(sender);
                    self.gives_up_call(sender);
                    goes_on(Status::failed_in_receive(Error::Timeout))
                }
                timeout => {
                    self.give_reply_right(sender, thread);
                    if !self.hold(sender).has(flag::DEADLINE) {
                        self.arm_timeout(sender, timeout);
                    } else if timeout.kind != Timeout::At {
                        self.cancel_timeout(sender);
                    }
                    Received::Done
                }
            },
            Continuation::Receive => {
                // It is in no queue, where a change of its priority would look for it.
                self.hold(sender).wait.set(Wait::Nothing);
                Received::Chained(sender)
            }
        }
    }

    /// A sender whose message a thread has taken lends its priority to that one alone, if it calls.
    #[inline(always)]
    fn lends_no_more_there(
        &self,
        sender: Ref<Thread<S::Port>>,
        to: Ref<Thread<S::Port>>,
        calls: bool,
    ) {
        // These alone have the whole kernel open, where objects have locks of their own.
        let lends =
            || self.hold(sender).has(flag::LENDS) || calls && self.hold(to).has(flag::SERVES);
        if Self::CALLS_LEND && lends() {
            self.manage().taken(sender, to);
        }
    }

    /// Before the next poll: copies the words of a queued message that is taken behind it, and
    /// begins the tick, as the sender or the thread that was answered is going to wait for the CPU.
    fn prepare_taking(&self, sender: Ref<Thread<S::Port>>, thread: Ref<Thread<S::Port>>) {
        let Outgoing { info, .. } = self.hold(sender).outgoing.get();
        if !info.is_short() && !info.is_fault() {
            self.copy_words(sender, thread, info);
        }
        if self.begins_tick() {
            self.cpu.start_tick();
        }
    }

    /// Whether the tick is to begin with this message.
    #[inline(always)]
    fn begins_tick(&self) -> bool {
        !S::Scheduler::TREE && !self.cpu.ticks()
    }

    /// Before `thread` takes the message of `sender`, if that is a call and an earlier one is given
    /// up for it: whether an interrupt is pending behind that.
    #[cold]
    #[inline(never)]
    fn makes_room_for_caller(
        &self,
        sender: Ref<Thread<S::Port>>,
        thread: Ref<Thread<S::Port>>,
    ) -> bool {
        let calls = matches!(self.hold(sender).outgoing.get().then, Continuation::Reply);
        calls
            && self.hold(thread).caller.get().is_some()
            && self.makes_room_for_call(thread, self.reply_timeout(sender))
    }

    /// Whether `thread` can take the message of `sender`, and whether in few steps.
    fn can_take(
        &self,
        thread: Ref<Thread<S::Port>>,
        sender: Ref<Thread<S::Port>>,
    ) -> Result<Short, Error> {
        let (thread, Outgoing { info, then, .. }) =
            (self.hold(thread), self.hold(sender).outgoing.get());
        if info.is_short() || info.is_fault() {
            let sender = self.hold(sender);
            let limited = || IpcTimeout::is_given(sender.context.call().0);
            let calls = matches!(then, Continuation::Reply);
            let long = calls && (thread.caller.get().is_some() || limited());
            let slow = flag::DEADLINE | flag::LENDS;
            let limited = self.cpu.took_long.replace(false) || sender.has(slow);
            return Ok(Short(!long && !limited && !self.begins_tick()));
        }
        acceptable(info, self.kernel.port, &thread)?;
        Ok(Short(false))
    }

    /// How long a caller that was queued waits for its reply; a fault waits as long as it takes.
    #[inline(always)]
    pub(super) fn reply_timeout(&self, caller: Ref<Thread<S::Port>>) -> IpcTimeout {
        let thread = self.hold(caller);
        if thread.has(flag::FAULT) {
            return IpcTimeout::NEVER;
        }
        let (number, [_, _, deadline, ..]) = thread.context.call();
        IpcTimeout::of_receive(number, deadline).unwrap_or(IpcTimeout::NEVER)
    }

    /// Runs the receive halves of senders whose messages have been taken, one after another: a
    /// chain (S0-41). With an interrupt pending, or if another CPU waits, the chain is left, unless
    /// the manifest says otherwise; the thread at its end issues its receive half again when it
    /// runs.
    #[inline(never)]
    pub(super) fn run_chain(&self, first: Ref<Thread<S::Port>>) {
        let (mut next, mut steps) = (Some(first), 0);
        while let Some(thread) = next.take() {
            let mut sender = None;
            let pending = self.kernel.chains
                && (self.cpu.is_wanted() || self.cpu.is_in_the_way(self.kernel, steps));
            steps += 1;
            self.note(Event::Chain, thread, 0, 0);
            self.note(Event::Preempt, thread, point::CHAIN, u16::from(pending));
            if pending {
                self.again(thread);
            } else {
                let received = match self.receive_alone(thread) {
                    Ok((source, timeout)) => self.receive(thread, source, timeout),
                    Err(error) => {
                        self.note_failure(thread, error, true);
                        self.hold(thread).finish(Status::failed_in_receive(error));
                        Received::Done
                    }
                };
                match received {
                    Received::Blocked => continue,
                    Received::Done => {}
                    Received::From(ready) => sender = Some(ready),
                    Received::Chained(chained) => next = Some(chained),
                }
            }
            self.hold(thread).become_ready();
            for ready in [Some(thread), sender].into_iter().flatten() {
                self.wake_slowly(ready);
            }
        }
    }

    /// The receive half alone of the operation in a thread's context.
    fn receive_alone(
        &self,
        thread: Ref<Thread<S::Port>>,
    ) -> Result<(Source<S::Port>, IpcTimeout), Error> {
        let (number, [slots, _, deadline, ..]) = self.hold(thread).context.call();
        let source = self.source(thread, (slots >> 32) as u32, &mut UnderLocks)?;
        Ok((source, IpcTimeout::of_receive(number, deadline)?))
    }

    /// Ends the wait of a receiver, for an interrupt that goes before what has come for it: it
    /// issues its receive half again when it runs.
    #[cold]
    #[inline(never)]
    pub(super) fn waits_anew(&self, receiver: Ref<Thread<S::Port>>) {
        match self.hold(receiver).wait.get() {
            Wait::Endpoint(endpoint) => self.hold(endpoint).receivers().remove(receiver),
            Wait::Notification(notification) => {
                self.hold(notification).receivers().remove(receiver);
            }
            Wait::Nothing | Wait::Train(_) => {}
        }
        self.receives_again(receiver);
    }

    /// A receiver that waits nowhere any more issues its receive half again when it runs. It is
    /// queued in each kernel, which is code that all share.
    #[cold]
    #[inline(never)]
    pub(super) fn receives_again(&self, receiver: Ref<Thread<S::Port>>) {
        self.again(receiver);
        self.hold(receiver).become_ready();
        if S::Scheduler::TREE {
            self.hold(receiver).begins.set(self.cpu, Begins::Again);
        }
        if !self.hold(receiver).runnable() {
            return;
        }
        if self.is_elsewhere(receiver) {
            return self.wake_remotely(receiver);
        }
        self.note(Event::Wake, receiver, 0, 0);
        S::Scheduler::arrive(self.cpu, receiver);
    }

    /// Makes a thread issue the receive half of its operation when it runs next.
    pub(super) fn again(&self, thread: Ref<Thread<S::Port>>) {
        let body = self.hold(thread);
        let (number, [slots, _, deadline, ..]) = body.context.call();
        let (slot, options) = match number as u8 {
            kind::ANY => ((slots >> 32) as u32, number & (3 << 10)),
            _ => (slots as u32, 0),
        };
        let number = ipc(Timeout::Never, Timeout::Never) | options;
        let deadline = if IpcTimeout::has_instant(number) { deadline } else { 0 };
        body.issue_again(number, [partners(NOTHING, slot), 0, deadline, 0, 0, 0]);
    }
}
