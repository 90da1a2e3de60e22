//! The decoder: which objects do the halves of an operation name?
//!
//! It is written once. Under the locks it is the first part of the plan, and checks rights. Where
//! objects are locked singly it runs before that too, without holding anything, and an observer
//! collects what it names: the lock set. Rights need no look then, since the plan checks them.

use super::kind;
use crate::access::Ref;
use crate::cost::CostEvent;
use crate::entry::Entry;
use crate::object::capability::{Cap, Capability};
use crate::object::thread::State;
use crate::object::{Endpoint, Notification, Thread};
use crate::port::Port;
use crate::system::System;
use abi::call::{NOTHING, REPLY};
use abi::{Error, Rights};

/// What is told the objects that an operation names.
pub(super) trait Observer<S: System> {
    /// Whether nothing is held: objects are named and no more.
    const LOOKS: bool;
    /// The send half goes to the first receiver of an endpoint.
    fn sends_to(&mut self, _to: Ref<Endpoint<S::Port>>) {}
    /// The send half answers this caller.
    fn answers(&mut self, _caller: Ref<Thread<S::Port>>) {}
    /// The send half uses a saved reply right.
    fn answers_saved(&mut self) {}
    /// The receive half takes from an endpoint.
    fn receives_from(&mut self, _from: Ref<Endpoint<S::Port>>) {}
    /// The receive half takes from a notification.
    fn receives_signals(&mut self, _from: Ref<Notification<S::Port>>) {}
}

/// The observer of a plan: what it is told is held.
pub(super) struct UnderLocks;

impl<S: System> Observer<S> for UnderLocks {
    const LOOKS: bool = false;
}

/// Where the send half goes.
pub(super) enum Target<P: Port> {
    /// There is no send half.
    Nothing,
    /// To the first receiver of an endpoint.
    Endpoint(Cap<Endpoint<P>>),
    /// To the thread whose call is answered.
    Reply(Ref<Thread<P>>),
    /// A reply goes to no thread, in front of a receive half: a client cannot make its server fail.
    Dropped(Unanswered<P>),
}

/// Why a reply is dropped.
pub(super) enum Unanswered<P: Port> {
    /// There is no caller: it has timed out, or is gone.
    Gone,
    /// The saved reply right that is named is for a call that has ended.
    Saved,
    /// The caller cannot take such a message, and gets this error.
    Unfit(Ref<Thread<P>>, Error),
}

/// What the receive half takes from.
pub(super) enum Source<P: Port> {
    /// There is no receive half.
    Nothing,
    /// The reply to the call that the send half makes.
    Reply,
    /// From nothing: it waits for the deadline.
    Sleep,
    /// From the first sender of an endpoint.
    Endpoint(Ref<Endpoint<P>>),
    /// From a notification.
    Notification(Ref<Notification<P>>),
}

impl<P: Port> Target<P> {
    /// Whether capabilities may be sent there.
    pub(super) fn grants(&self) -> Result<(), Error> {
        match self {
            Target::Endpoint(cap) => cap.check(Rights::GRANT).map(|_| ()),
            Target::Nothing | Target::Reply(_) | Target::Dropped(_) => Ok(()),
        }
    }
}

/// The slots that the send half and the receive half name.
#[inline(always)]
pub(super) fn halves<const KIND: u8>(partners: u64) -> (u32, u32) {
    match KIND {
        kind::CALL => (partners as u32, REPLY),
        kind::REPLY_WAIT => (REPLY, partners as u32),
        _ => (partners as u32, (partners >> 32) as u32),
    }
}

/// A capability that is used for something, checked unless this is but a look.
#[inline(always)]
fn checked<S: System, O: Observer<S>, T>(cap: Cap<T>, rights: Rights) -> Result<Cap<T>, Error> {
    if O::LOOKS { Ok(cap) } else { cap.check(rights) }
}

impl<S: System> Entry<S> {
    /// Where a send half of `me` goes that names this slot. A reply without a caller is dropped if
    /// the operation `receives` too, and fails if not.
    #[inline(always)]
    pub(super) fn target<const KIND: u8, O: Observer<S>>(
        &self,
        me: Ref<Thread<S::Port>>,
        slot: u32,
        receives: bool,
        observer: &mut O,
    ) -> Result<Target<S::Port>, Error> {
        match slot {
            NOTHING if KIND == kind::ANY => Ok(Target::Nothing),
            REPLY if KIND != kind::CALL => match me.caller.get() {
                Some(caller) => {
                    observer.answers(caller);
                    Ok(Target::Reply(caller))
                }
                None if KIND == kind::REPLY_WAIT || receives => {
                    Ok(Target::Dropped(Unanswered::Gone))
                }
                None => Err(Error::NoReply),
            },
            slot => match self.resolve::<O>(me, slot)? {
                Capability::Endpoint(cap) => {
                    let cap = checked::<S, O, _>(cap, Rights::SEND)?;
                    observer.sends_to(cap.at);
                    Ok(Target::Endpoint(cap))
                }
                Capability::Reply(cap) if KIND == kind::ANY => {
                    observer.answers_saved();
                    let caller = if O::LOOKS { None } else { self.saved_reply(cap) };
                    match caller {
                        Some(caller) => Ok(Target::Reply(caller)),
                        None if receives => Ok(Target::Dropped(Unanswered::Saved)),
                        None => Err(Error::NoReply),
                    }
                }
                _ => Err(Error::WrongKind),
            },
        }
    }

    /// The object that a receive half names.
    #[inline(always)]
    pub(super) fn source<O: Observer<S>>(
        &self,
        me: Ref<Thread<S::Port>>,
        slot: u32,
        observer: &mut O,
    ) -> Result<Source<S::Port>, Error> {
        match self.resolve::<O>(me, slot)? {
            Capability::Endpoint(cap) => {
                let from = checked::<S, O, _>(cap, Rights::RECEIVE)?.at;
                observer.receives_from(from);
                Ok(Source::Endpoint(from))
            }
            Capability::Notification(cap) => {
                let from = checked::<S, O, _>(cap, Rights::RECEIVE)?.at;
                observer.receives_signals(from);
                Ok(Source::Notification(from))
            }
            _ => Err(Error::WrongKind),
        }
    }

    /// What a slot of a thread's domain holds.
    #[inline(always)]
    fn resolve<O: Observer<S>>(
        &self,
        me: Ref<Thread<S::Port>>,
        slot: u32,
    ) -> Result<Capability<S::Port>, Error> {
        if !O::LOOKS {
            S::Port::cost(CostEvent::Resolve);
        }
        me.domain.get().slot(slot)
    }

    /// The caller that a reply right in a slot is for, if it still waits.
    fn saved_reply(&self, cap: Cap<Thread<S::Port>>) -> Option<Ref<Thread<S::Port>>> {
        let caller = self.hold(cap.at);
        let waits = caller.state.get() == State::Calling && caller.server.get().is_none();
        (waits && caller.calls.get() == cap.badge).then_some(cap.at)
    }
}
