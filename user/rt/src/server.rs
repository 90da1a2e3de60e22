//! A loop that answers requests, which no client can end.
//!
//! ```no_run
//! use rt::prelude::*;
//! # use rt::println;
//!
//! const ADD: u32 = 1;
//! const WRONG: u32 = 2;
//!
//! fn adder(env: &Env) {
//!     let why = Server::new(env.cap("adder")).run(|request| {
//!         match (request.label(), request.words()) {
//!             (ADD, &[a, b]) => Message::short(ADD, [a.wrapping_add(b)]),
//!             _ => Message::empty(WRONG),
//!         }
//!     });
//!     println!(env.console(), "no more requests: {why:?}");
//! }
//! ```

use crate::build::Build;
use crate::ipc::{self, Message, Received};
use crate::request::{Fault, FaultReply, Request};
use crate::{Buffer, Inbox, Slot, SlotPool};
use abi::message::REGISTER_WORDS;
use abi::{Error, Info, Status};

pub use abi::answer::NOT_SENT;

/// What a server does with a request.
pub trait Answer {
    /// The answer; with none, the caller goes on waiting.
    fn message(self) -> Option<Message>;
}

impl Answer for Message {
    #[inline(always)]
    fn message(self) -> Option<Message> {
        Some(self)
    }
}

impl Answer for Option<Message> {
    /// `None` leaves the caller waiting: for servers that have moved its reply right into a slot
    /// ([`cap::save_reply`](crate::cap::save_reply)) and answer later. Where it was not moved, the
    /// caller is answered with [`NOT_SENT`].
    #[inline(always)]
    fn message(self) -> Option<Message> {
        self
    }
}

impl Answer for Result<Message, Error> {
    /// An error is answered with [`NOT_SENT`].
    #[inline]
    fn message(self) -> Option<Message> {
        Some(self.unwrap_or(Message::empty(NOT_SENT)))
    }
}

impl Answer for Build {
    /// What cannot be built is answered with [`NOT_SENT`].
    #[inline]
    fn message(self) -> Option<Message> {
        self.finish().message()
    }
}

/// A server on an endpoint, and what it does with signals and faults.
///
/// What comes is sorted by marks that the kernel alone sets:
///
/// | what comes | who gets it | without a handler |
/// |---|---|---|
/// | a call, or a send that wants no answer | the closure of [`Server::run`] | |
/// | bits of the notification that is attached to the endpoint | [`Server::on_signal`] | ignored |
/// | a fault of a thread whose handler is the endpoint | [`Server::on_fault`] | it is suspended |
///
/// What goes wrong with an answer never ends the loop, nor loses what arrives:
///
/// | what is wrong | what happens |
/// |---|---|
/// | the caller has timed out, was cancelled or destroyed; it only sent | the answer is dropped |
/// | the caller cannot take it (no buffer, no slot) | its call ends with that error |
/// | it is too long, lacks a buffer, or its capability may not go | the caller gets [`NOT_SENT`] |
///
/// A message costs two instructions more than a loop over [`ipc::reply_wait`] by hand that does not
/// ask what came.
pub struct Server<S = fn(u64), F = fn(&Fault) -> FaultReply> {
    endpoint: Slot,
    buffer: Option<Buffer>,
    inbox: Option<Inbox>,
    on_signal: S,
    on_fault: F,
}

impl Server {
    /// A server on an endpoint (right `receive`) or a notification.
    #[inline(always)]
    pub fn new(endpoint: Slot) -> Server {
        Server {
            endpoint,
            buffer: None,
            inbox: None,
            on_signal: |_| (),
            on_fault: |_| FaultReply::Suspend,
        }
    }
}

impl<S: FnMut(u64), F: FnMut(&Fault) -> FaultReply> Server<S, F> {
    /// Shows requests the words beyond the fourth. `buffer` is that of the thread that will run the
    /// server: `env.buffer(0)` for the first one.
    #[inline(always)]
    pub fn with_buffer(self, buffer: Buffer) -> Server<S, F> {
        Server { buffer: Some(buffer), ..self }
    }

    /// [`Server::with_buffer`], and lets requests bring a capability, into a slot of the pool:
    /// [`Request::take_capability`] takes it, and what is not taken is deleted. While a request is
    /// served the thread receives no other capability, but by a client that accepts some itself.
    ///
    /// # Panics
    ///
    /// If the pool is full.
    #[inline]
    #[track_caller]
    pub fn accepting(self, pool: SlotPool, buffer: Buffer) -> Server<S, F> {
        Server { buffer: Some(buffer), inbox: Some(Inbox::new(pool, buffer)), ..self }
    }

    /// Gives signals to a handler: the bits that were set since the last ones.
    #[inline(always)]
    pub fn on_signal<N: FnMut(u64)>(self, handler: N) -> Server<N, F> {
        let Server { endpoint, buffer, inbox, on_fault, .. } = self;
        Server { endpoint, buffer, inbox, on_signal: handler, on_fault }
    }

    /// Gives faults to a handler, which says how the thread goes on.
    #[inline(always)]
    pub fn on_fault<N: FnMut(&Fault) -> FaultReply>(self, handler: N) -> Server<S, N> {
        let Server { endpoint, buffer, inbox, on_signal, .. } = self;
        Server { endpoint, buffer, inbox, on_signal, on_fault: handler }
    }

    /// Answers each request with what the closure makes of it, and receives the next. It may answer
    /// with a [`Message`], a [`Build`], a result, or an option for answers that come later. It may
    /// call other servers; if it receives a call by itself, the caller of its own request gets
    /// [`Error::Abandoned`], and the answer goes to the later one.
    ///
    /// Returns only the reason for which no more can be received: the endpoint was destroyed
    /// ([`Error::Destroyed`], [`Error::Stale`]), the slot names none ([`Error::NoCapability`],
    /// [`Error::WrongKind`], [`Error::MissingRight`]), or another thread has cancelled the wait
    /// ([`Error::Cancelled`]). No caller is left without an answer, but the last one's may be
    /// [`NOT_SENT`].
    #[inline(always)]
    pub fn run<A: Answer>(mut self, mut answer: impl FnMut(&Request) -> A) -> Error {
        let (endpoint, buffer, inbox) = (self.endpoint, self.buffer, self.inbox);
        'receive: loop {
            if let Some(inbox) = inbox {
                inbox.open();
            }
            let mut next = ipc::receive_short(endpoint);
            while next.status == Status::OK {
                if next.info.is_from_kernel() {
                    self.special(next.badge, next.info, next.words);
                    continue 'receive;
                }
                let received = Received { badge: next.badge, info: next.info, words: next.words };
                let capability = inbox.and_then(|inbox| inbox.close(next.info));
                let request = Request::new(received, buffer).with_capability(capability);
                let message = answer(&request).message();
                drop(request);
                if let Some(inbox) = inbox {
                    inbox.open();
                }
                let Some(Message { info, words }) = message else {
                    give_up_reply();
                    continue 'receive;
                };
                next = ipc::reply_wait_short(endpoint, info, words);
                if next.status != Status::OK && unsent(next.status) {
                    continue 'receive;
                }
            }
            if let Some(inbox) = inbox {
                inbox.close(next.info);
            }
            return next.status.result().err().unwrap_or(Error::UnknownCall);
        }
    }

    /// Handles what is no request.
    #[cold]
    fn special(&mut self, badge: u64, info: Info, words: [u64; REGISTER_WORDS]) {
        match Fault::from_received(Received { badge, info, words }) {
            Some(fault) => {
                // The thread may have been destroyed meanwhile.
                let _ = ipc::reply((self.on_fault)(&fault).message());
            }
            None => (self.on_signal)(badge),
        }
    }
}

/// Whether an answer was not sent, because it is no message or because there is nothing to receive
/// from, which the next receive shows. The caller is told then. The answer itself is not at hand
/// any more: keeping it would cost every message some instructions.
#[cold]
#[inline(never)]
fn unsent(status: Status) -> bool {
    if !status.in_receive() {
        give_up_reply();
    }
    !status.in_receive()
}

/// Tells the caller that it gets no answer. A reply right that stayed would let the answer to a
/// later request go to this caller.
#[cold]
#[inline(never)]
fn give_up_reply() {
    // There may be no caller.
    let _ = ipc::reply(Message::empty(NOT_SENT));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Outcome;
    use crate::machine::{self, BASE, arrives, ends};
    use abi::call::{Call, REPLY, fault, partners};
    use abi::message::FaultKind;
    use core::cell::RefCell;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    const DOOR: Slot = Slot(5);
    const LABEL: u32 = 3;

    /// What comes to the server.
    #[derive(Clone, Debug)]
    enum Event {
        Request { label: u32, words: u8, value: u64, badge: u64 },
        Signal(u64),
        Fault(u32),
    }

    /// What becomes of the answer before: it is sent; it is not; nor can the caller be told.
    #[derive(Clone, Copy, Debug)]
    enum Fate {
        Sent,
        NoMessage,
        Refused,
    }

    impl Event {
        fn outcome(&self) -> Outcome {
            match *self {
                Event::Request { label, words, value, badge } => {
                    arrives(badge, Info::new(label, words.into()), [value; 4])
                }
                Event::Signal(bits) => arrives(bits, Info(Info::NOTIFICATION), [0; 4]),
                Event::Fault(kind) => arrives(8, Info(Info::new(kind, 4).0 | Info::FAULT), [7; 4]),
            }
        }
    }

    fn ended(result: Result<(), Error>) -> Outcome {
        ends(result.map_or_else(Status::failed, |()| Status::OK))
    }

    fn event() -> impl Strategy<Value = (Fate, Event)> {
        let request = (any::<u32>(), any::<u8>(), any::<u64>(), any::<u64>());
        let request = request.prop_map(|(label, words, value, badge)| Event::Request {
            label,
            words,
            value,
            badge,
        });
        let fate =
            prop::sample::select(vec![Fate::Sent, Fate::Sent, Fate::NoMessage, Fate::Refused]);
        let signal = any::<u64>().prop_map(Event::Signal);
        (fate, prop_oneof![3 => request, 1 => signal, 1 => any::<u32>().prop_map(Event::Fault)])
    }

    proptest! {
        #[test]
        fn nothing_but_the_receive_half_ends_it_and_nothing_is_lost(
            events in prop::collection::vec(event(), 0..30),
            error in prop::sample::select(&Error::ALL[..]),
            halves: bool,
        ) {
            let machine = machine::install(1);
            let mut answered = false;
            for (fate, event) in &events {
                let before = match (answered, fate) {
                    (false, _) | (_, Fate::Sent) => vec![],
                    (_, Fate::NoMessage) => vec![Err(Error::TooLong), Ok(())],
                    (_, Fate::Refused) => vec![Err(Error::NoBuffer), Err(Error::NoReply)],
                };
                machine.answer(before.into_iter().map(ended));
                machine.answer([event.outcome()]);
                answered = matches!(event, Event::Request { .. });
                if let Event::Fault(kind) = event {
                    let gone = if kind % 2 == 0 { Ok(()) } else { Err(Error::NoReply) };
                    machine.answer([ended(gone)]);
                }
            }
            // The last receive fails behind an answer, or by itself.
            if answered && halves {
                machine.answer([ends(Status::failed_in_receive(error))]);
            } else if answered {
                machine.answer([Err(error), Ok(()), Err(error)].map(ended));
            } else {
                machine.answer([ends(Status::failed(error))]);
            }
            let seen = RefCell::new(Vec::new());
            let why = Server::new(DOOR)
                .with_buffer(Buffer::at(BASE))
                .on_signal(|bits| seen.borrow_mut().push((0, bits, 0)))
                .on_fault(|fault| {
                    seen.borrow_mut().push((1, fault.address(), fault.badge()));
                    FaultReply::Retry
                })
                .run(|request| {
                    let value = request.words().first().copied().unwrap_or(0);
                    assert_eq!(request.words().len(), request.len().min(4));
                    assert_eq!(request.all().count(), request.len().min(128));
                    let label = u64::from(request.label());
                    seen.borrow_mut().push((2 + label, value, request.badge()));
                    Message::short(LABEL, [value])
                });
            prop_assert_eq!(why, error);
            let expected = events.iter().map(|(_, event)| match *event {
                Event::Signal(bits) => (0, bits, 0),
                Event::Fault(_) => (1, 7, 8),
                Event::Request { label, words, value, badge } => {
                    (2 + u64::from(label), if words > 0 { value } else { 0 }, badge)
                }
            });
            prop_assert_eq!(seen.into_inner(), expected.collect::<Vec<_>>());
        }
    }

    /// The calls that a server makes, as number and the first two arguments, for these outcomes.
    fn calls(answer: impl Answer + Copy, outcomes: Vec<Outcome>) -> Vec<(u8, u64, u64)> {
        let machine = machine::install(1);
        machine.answer([arrives(0, Info::new(1, 0), [0; 4])]);
        machine.answer(outcomes);
        machine.answer([ends(Status::failed_in_receive(Error::Destroyed))]);
        assert_eq!(Server::new(DOOR).run(|_| answer), Error::Destroyed);
        machine.made().into_iter().skip(1).map(|(call, a, _)| (call as u8, a[0], a[1])).collect()
    }

    const WAIT: (u8, u64) = (Call::ReplyWait as u8, DOOR.0 as u64);
    const SEND: (u8, u64) = (Call::Ipc as u8, partners(REPLY, 0));
    const RECEIVE: (u8, u64) = (Call::Ipc as u8, partners(0, DOOR.0));

    #[test]
    fn each_caller_gets_what_can_be_sent() {
        let (good, bad) = (Message::short(LABEL, [1]), Message::long(LABEL, 200, [0; 4]));
        let failed = |error| ends(Status::failed(error));
        assert_eq!(calls(good, vec![]), [(WAIT.0, WAIT.1, good.info.0)]);
        let unsent = Info::new(NOT_SENT, 0).0;
        for told in [ends(Status::OK), failed(Error::NoReply)] {
            let made = calls(bad, vec![failed(Error::TooLong), told]);
            let sent = made.iter().map(|(call, a, info)| ((*call, *a), *info));
            let expected = [(WAIT, bad.info.0), (SEND, unsent), (RECEIVE, 0)];
            assert_eq!(sent.collect::<Vec<_>>(), expected);
        }
        // A right that was moved is no longer there to be answered.
        for told in [ends(Status::OK), failed(Error::NoReply)] {
            let made = calls(None, vec![told]);
            assert_eq!(made, [(SEND.0, SEND.1, unsent), (RECEIVE.0, RECEIVE.1, 0)]);
        }
        assert_eq!(calls(Message::build(LABEL).words(&[0; 5]), vec![])[0].2, unsent);
    }

    #[test]
    fn faults_suspend_and_signals_are_ignored_by_default() {
        let machine = machine::install(1);
        let fault = Info(Info::new(FaultKind::Memory as u32, 4).0 | Info::FAULT);
        let signal = arrives(3, Info(Info::NOTIFICATION), [0; 4]);
        machine.answer([signal, arrives(9, fault, [1, 2, 3, 4])]);
        machine.answer([ends(Status::OK), ends(Status::failed_in_receive(Error::Cancelled))]);
        let why = Server::new(DOOR).run(|_| -> Message { panic!("that is no request") });
        assert_eq!(why, Error::Cancelled);
        let made = machine.made();
        let [.., (_, reply, _), (_, last, _)] = &made[..] else { panic!("{made:?}") };
        assert_eq!((reply[0], Info(reply[1])), (SEND.1, Info::new(fault::SUSPEND, 0)));
        assert_eq!(last[0], RECEIVE.1);
    }
}
