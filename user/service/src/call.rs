//! The client's side: a call, and what can go wrong.

use crate::{DONE, Incoming, Outgoing, REFUSED, Returns, Wire};
use core::convert::Infallible;
use core::time::Duration;
use rt::arch::Outcome;
use rt::{Buffer, Error, Inbox, Info, Message, OwnedSlot, Slot, SlotPool, Wait, ipc};

/// Why a call has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError<E = Infallible> {
    /// There is no answer, for this reason. [`Error::NoBuffer`] and [`Error::TooLong`] also if the
    /// arguments need a buffer or are too long, or the answer needs an inbox (`accepting`), so that
    /// nothing was sent.
    Ipc(Error),
    /// The server's method returned this error.
    Server(E),
    /// The two do not agree on what the service is: the server does not know the method, or not
    /// with these arguments, or its answer means nothing here. Also if the server could not send
    /// its answer ([`NOT_SENT`](rt::server::NOT_SENT)).
    Unknown,
}

impl<E> From<Error> for CallError<E> {
    #[inline(always)]
    fn from(error: Error) -> CallError<E> {
        CallError::Ipc(error)
    }
}

/// What a client's method returns: `Result<T, CallError<E>>` for `Result<T, E>`, and
/// `Result<T, CallError>` for any other `T`.
pub type Called<R> = Result<<R as Returns>::Value, CallError<<R as Returns>::Error>>;

/// How long a call may take.
#[derive(Clone, Copy)]
enum Patience {
    Endless,
    Within(Duration),
    Until(Wait),
}

/// What a client calls through.
#[derive(Clone, Copy)]
pub struct Caller {
    slot: Slot,
    patience: Patience,
    buffer: Option<Buffer>,
    inbox: Option<Inbox>,
}

impl Caller {
    /// Calls through this slot, which wait as long as it takes.
    #[inline(always)]
    pub const fn new(slot: Slot) -> Caller {
        Caller { slot, patience: Patience::Endless, buffer: None, inbox: None }
    }

    /// Each call takes so long at most.
    #[inline(always)]
    pub const fn within(self, length: Duration) -> Caller {
        Caller { patience: Patience::Within(length), ..self }
    }

    /// All calls wait so.
    #[inline(always)]
    pub const fn wait(self, wait: Wait) -> Caller {
        Caller { patience: Patience::Until(wait), ..self }
    }

    /// Words beyond the fourth go through this buffer.
    #[inline(always)]
    pub const fn with_buffer(self, buffer: Buffer) -> Caller {
        Caller { buffer: Some(buffer), ..self }
    }

    /// Answers may bring a capability, too.
    #[inline]
    #[track_caller]
    pub fn accepting(self, pool: SlotPool, buffer: Buffer) -> Caller {
        let inbox = Some(Inbox::new(pool, buffer));
        Caller { buffer: Some(buffer), inbox, ..self }
    }

    /// The slot.
    #[inline(always)]
    pub const fn slot(&self) -> Slot {
        self.slot
    }

    /// Begins a request of so many words and capabilities, whose answer has so many.
    #[inline(always)]
    pub fn begin(&self, words: usize, grants: usize, takes: usize) -> Result<Outgoing, Error> {
        let ready = (grants == 0 || self.buffer.is_some()) && (takes == 0 || self.inbox.is_some());
        Outgoing::begin(words, self.buffer).filter(|_| ready).ok_or(Error::NoBuffer)
    }

    /// Sends a request that wants no answer; waits until it is taken.
    #[inline(always)]
    pub fn send(&self, label: u32, words: Outgoing) -> Result<(), CallError> {
        let wait = match self.patience {
            Patience::Endless => Wait::NEVER,
            Patience::Within(length) => Wait::within(length),
            Patience::Until(wait) => wait,
        };
        Ok(ipc::send(self.slot, words.message(label), wait)?)
    }

    /// Sends a request and receives its answer.
    #[inline(always)]
    pub fn call<R: Returns>(&self, label: u32, words: Outgoing) -> Called<R> {
        if let Some(inbox) = self.inbox {
            inbox.open();
        }
        let info = words.info(label);
        let outcome = match self.patience {
            Patience::Endless => self.short(label, words),
            Patience::Within(length) => self.patient(words.message(label), Wait::within(length)),
            Patience::Until(wait) => self.patient(words.message(label), wait),
        };
        let mut capability = self.inbox.and_then(|inbox| inbox.close(outcome.info));
        match self.patience {
            // The barest call leaves no note: it would keep what it is about at hand.
            Patience::Endless => outcome.status.result()?,
            _ => outcome.of_call(self.slot, info)?,
        }
        match self.value(DONE, &outcome, &mut capability) {
            Some(value) => Ok(value),
            None => {
                let error = self.value(REFUSED, &outcome, &mut capability);
                Err(error.map_or(CallError::Unknown, CallError::Server))
            }
        }
    }

    /// The call at its barest: only the words that are sent are loaded.
    #[inline(always)]
    fn short(&self, label: u32, words: Outgoing) -> Outcome {
        let (to, info) = (self.slot, words.info(label));
        match words.registers() {
            (0, _) => ipc::call_short(to, info, []),
            (1, [a, ..]) => ipc::call_short(to, info, [a]),
            (2, [a, b, ..]) => ipc::call_short(to, info, [a, b]),
            (3, [a, b, c, _]) => ipc::call_short(to, info, [a, b, c]),
            (_, all) => ipc::call_short(to, info, all),
        }
    }

    #[inline]
    fn patient(&self, message: Message, wait: Wait) -> Outcome {
        ipc::exchange(self.slot, Slot::REPLY, message, wait)
    }

    /// The value of an answer with this label; none if it has another or another length. What it
    /// takes of the capability is gone, the rest is deleted by the caller.
    #[inline(always)]
    fn value<T: Wire>(
        &self,
        label: u32,
        answer: &Outcome,
        capability: &mut Option<OwnedSlot>,
    ) -> Option<T> {
        let (plain, mut taken) = (Info::new(label, T::WORDS), None);
        if T::CAPABILITIES != 0 && answer.info == plain.with_capability() {
            taken = capability.take();
        } else if answer.info != plain {
            return None;
        }
        T::take(&mut Incoming::new(answer.words, T::WORDS, self.buffer, taken)?)
    }
}
