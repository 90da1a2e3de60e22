//! What an entry will touch, found out before it touches it (S1-08, S1-09).
//!
//! Under locks of single objects an entry decodes its operation without holding anything, takes the
//! locks of all that the [decoder](super::decode) has named in the order of their addresses, and
//! decodes again: another CPU may have changed it meanwhile, and then the entry begins anew. Where
//! one lock guards everything all of this vanishes.
//!
//! What an entry looks at before it holds it are fields of the classes
//! [`Peek`](crate::access::Peek) and [`Steady`](crate::access::Steady), and the registers of its
//! own thread. What would touch more than this names, or change what writers
//! alone change, goes on as a writer, with everything held:
//!
//! - messages with a capability, replies through a saved right, faults and their answers;
//! - calls to servers, sends to the queues of endpoints that are served, and what ends these;
//! - chains (a sender that goes on to a receive half of its own), and callers who are abandoned or
//!   cannot take the reply;
//! - timeouts of threads that belong to other CPUs, and threads that are being moved or have not
//!   run since;
//! - receiving where a sender waits and finding the first takes a search (`ipc-scan`).

use super::decode::{Observer, halves};
use super::signal::recipient;
use crate::access::Ref;
use crate::entry::{Entry, Guards};
use crate::object::thread::{Continuation, flag};
use crate::object::{Endpoint, Notification, Thread};
use crate::port::{Context, Port};
use crate::send_queue::SendQueue;
use crate::system::System;
use abi::Info;
use abi::call::{NOTHING, REPLY, Timeout};
use locks::{Holding, LockPolicy, ObjectLock};

/// What a section of the kernel `S` holds.
type Guard<S> = <<Guards<S> as LockPolicy>::Object as ObjectLock>::Holding<'static>;

/// The objects that an entry will touch.
struct LockSet<P: Port> {
    /// The one that asks, its partner in the send half, and the sender it receives from.
    threads: [Option<Ref<Thread<P>>>; 3],
    /// That of the send half and that of the receive half.
    endpoints: [Option<Ref<Endpoint<P>>>; 2],
    /// The one that is received from or signalled.
    notification: Option<Ref<Notification<P>>>,
    /// Whether nothing else will be touched, as far as its decoder can tell.
    suffices: bool,
}

/// A notification and the badge to signal it with.
pub(crate) type Badged<P> = (Ref<Notification<P>>, u64);

impl<P: Port> LockSet<P> {
    const EMPTY: LockSet<P> =
        LockSet { threads: [None; 3], endpoints: [None; 2], notification: None, suffices: true };
}

impl<P: Port> PartialEq for LockSet<P> {
    fn eq(&self, other: &Self) -> bool {
        self.threads == other.threads
            && self.endpoints == other.endpoints
            && self.notification == other.notification
    }
}

/// Collects what the decoder of messages names.
impl<S: System> Observer<S> for LockSet<S::Port> {
    const LOOKS: bool = true;

    #[inline(always)]
    fn sends_to(&mut self, to: Ref<Endpoint<S::Port>>) {
        self.endpoints[0] = Some(to);
        self.threads[1] = to.receivers.head();
    }

    #[inline(always)]
    fn answers(&mut self, caller: Ref<Thread<S::Port>>) {
        self.threads[1] = Some(caller);
    }

    #[inline(always)]
    fn answers_saved(&mut self) {
        self.suffices = false;
    }

    #[inline(always)]
    fn receives_from(&mut self, from: Ref<Endpoint<S::Port>>) {
        self.endpoints[1] = Some(from);
        self.notification = from.attached.get().and_then(|weak| weak.get());
        match S::SendQueue::peek(from) {
            Some(first) => self.threads[2] = first,
            None => self.suffices = false,
        }
    }

    #[inline(always)]
    fn receives_signals(&mut self, from: Ref<Notification<S::Port>>) {
        self.notification = Some(from);
    }
}

impl<S: System> Entry<S> {
    /// Holds what the operation of the current thread will touch.
    #[inline(always)]
    pub(crate) fn hold_for_message<const KIND: u8>(&self) {
        if !self.section.is_exclusive() {
            let me = self.cpu.current.get();
            let look = || self.lock_set_of_message::<KIND>(me);
            self.hold_what(look, |found| self.suffices_for_message::<KIND>(me, found));
        }
    }

    /// Finds the notification to signal, with the badge, and holds what signalling it will touch.
    /// The section may begin anew in between: what counts is found once everything is held.
    #[inline(always)]
    pub(crate) fn hold_for_signal<E>(
        &self,
        find: impl Fn() -> Result<Badged<S::Port>, E>,
    ) -> Result<Badged<S::Port>, E> {
        if !self.section.is_exclusive() {
            let (at, _) = find()?;
            self.hold_what(|| Self::lock_set_of_signal(at), |found| self.partner_is_plain(found));
        }
        find()
    }

    /// Holds what a fast path touches, and says whether its plan still stands.
    #[inline(always)]
    pub(crate) fn hold_for_fast<const N: usize>(
        &self,
        threads: [Ref<Thread<S::Port>>; 2],
        endpoints: [Ref<Endpoint<S::Port>>; N],
        stands: impl Fn() -> bool,
    ) -> bool {
        if Guards::<S>::EXCLUSIVE {
            return true;
        }
        let holding = self.section.holding();
        holding.add(&threads[0].header().lock);
        holding.add(&threads[1].header().lock);
        endpoints.iter().for_each(|at| holding.add(&at.header().lock));
        holding.take::<<Guards<S> as LockPolicy>::Relax>();
        stands()
    }

    /// Holds what `look` finds, or everything if that `suffices` not or others keep changing it.
    fn hold_what(
        &self,
        look: impl Fn() -> Option<LockSet<S::Port>>,
        suffices: impl Fn(&LockSet<S::Port>) -> bool,
    ) {
        let holding = self.section.holding();
        let add = |holding: &Guard<S>, found: &LockSet<S::Port>| {
            found.threads.iter().flatten().for_each(|at| holding.add(&at.header().lock));
            found.endpoints.iter().flatten().for_each(|at| holding.add(&at.header().lock));
            found.notification.iter().for_each(|at| holding.add(&at.header().lock));
        };
        if let Some(found) = holding.take_planned::<<Guards<S> as LockPolicy>::Relax, _>(look, add)
        {
            if suffices(&found) {
                return;
            }
            holding.let_go();
        }
        self.upgrade_if(|| true);
    }

    fn lock_set_of_message<const KIND: u8>(
        &self,
        me: Ref<Thread<S::Port>>,
    ) -> Option<LockSet<S::Port>> {
        let (_, [partners, info, ..]) = self.own(me).context.call();
        if Info(info).from_user().has_capability() {
            return None;
        }
        let mut found = LockSet { threads: [Some(me), None, None], ..LockSet::EMPTY };
        // What is refused here is refused again under the locks: the same words and slots count.
        let (send, receive) = halves::<KIND>(partners);
        let sends = self.target::<KIND, _>(me, send, receive != NOTHING, &mut found);
        if sends.is_ok() && !matches!(receive, NOTHING | REPLY) {
            let _ = self.source(me, receive, &mut found);
        }
        found.suffices.then_some(found)
    }

    /// Whether a message that holds this touches nothing else.
    fn suffices_for_message<const KIND: u8>(
        &self,
        me: Ref<Thread<S::Port>>,
        found: &LockSet<S::Port>,
    ) -> bool {
        let (_, [partners, info, ..]) = self.hold(me).context.call();
        let (send, receive) = halves::<KIND>(partners);
        let [_, partner, sender] = found.threads;
        let abandons = receive == REPLY
            && partner.is_some_and(|partner| {
                let server = self.hold(partner);
                server.caller.get().is_some() || server.has(flag::SERVES)
            });
        let lends = partner.is_none()
            && found.endpoints[0].is_some_and(|to| self.hold(to).served.get() != 0);
        if abandons || lends || !self.partner_is_plain(found) {
            return false;
        }
        // A reply that its caller cannot take ends the call.
        let long = !Info(info).from_user().is_short();
        let no_buffer = |partner: Ref<Thread<S::Port>>| self.hold(partner).buffer_at.get() == 0;
        if send == REPLY && long && partner.is_some_and(no_buffer) {
            return false;
        }
        let replied = send == REPLY;
        sender.is_none_or(|sender| self.sender_is_plain(me, sender, replied))
    }

    /// Whether the partner of a send half, or of a signal, needs nothing unusual.
    fn partner_is_plain(&self, found: &LockSet<S::Port>) -> bool {
        found.threads[1].is_none_or(|partner| {
            let unusual = self.hold(partner).has(flag::FAULT | flag::LENDS);
            !unusual && !self.touches_queues_elsewhere(partner)
        })
    }

    /// Whether `me` can take the message of `sender` without touching anything else.
    fn sender_is_plain(
        &self,
        me: Ref<Thread<S::Port>>,
        sender: Ref<Thread<S::Port>>,
        replied: bool,
    ) -> bool {
        let (thread, from) = (self.hold(me), self.hold(sender));
        let outgoing = from.outgoing.get();
        let info = outgoing.info;
        let fits = info.is_short() || info.is_fault();
        let long = thread.buffer_at.get() != 0 && !info.has_capability();
        let goes_on = match outgoing.then {
            Continuation::Nothing => true,
            Continuation::Receive => false,
            Continuation::Reply => {
                let begins =
                    self.is_elsewhere(sender) && self.reply_timeout(sender).kind == Timeout::At;
                (replied || thread.caller.get().is_none()) && !begins && !thread.has(flag::SERVES)
            }
        };
        (fits || long)
            && goes_on
            && !from.has(flag::LENDS)
            && !self.touches_queues_elsewhere(sender)
    }

    /// Whether waking a thread touches what another CPU has queued.
    fn touches_queues_elsewhere(&self, thread: Ref<Thread<S::Port>>) -> bool {
        let times_out = self.is_elsewhere(thread) && self.hold(thread).has(flag::DEADLINE);
        times_out || self.is_new_there(thread)
    }

    fn lock_set_of_signal(at: Ref<Notification<S::Port>>) -> Option<LockSet<S::Port>> {
        let (endpoint, receiver) = recipient(at);
        let (endpoints, threads) = ([endpoint, None], [None, receiver, None]);
        Some(LockSet { endpoints, threads, notification: Some(at), ..LockSet::EMPTY })
    }
}
