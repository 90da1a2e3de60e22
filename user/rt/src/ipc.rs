//! Messages: one primitive with a send and a receive half, and the forms that it takes.
//!
//! | form | send half | receive half |
//! |---|---|---|
//! | [`send`] | endpoint or saved reply | |
//! | [`receive`] | | endpoint or notification |
//! | [`call`] | endpoint | the reply |
//! | [`reply`] | the caller | |
//! | [`reply_wait`], [`serve`] | the caller | endpoint or notification |
//! | [`exchange`] | any | any |
//!
//! The forms whose names end in `_short` are the same at their barest, without timeouts: only
//! the words that are sent are loaded, and the outcome comes back undigested.

use crate::Slot;
use crate::arch::{self, ANY, Outcome, word};
use crate::noted;
use crate::system::done;
use crate::time::Instant;
use abi::call::{Call, Timeout, partners};
use abi::message::REGISTER_WORDS;
use abi::uses::About;
use abi::{Error, Info};
use core::time::Duration;

/// A message as its sender sees it; words beyond the fourth are in the message buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Length, label, and whether a capability travels.
    pub info: Info,
    /// The first words.
    pub words: [u64; REGISTER_WORDS],
}

impl Message {
    /// A message that is only a label.
    pub const fn empty(label: u32) -> Message {
        Message { info: Info::new(label, 0), words: [0; REGISTER_WORDS] }
    }

    /// A message of at most four words.
    pub const fn short<const N: usize>(label: u32, values: [u64; N]) -> Message {
        let mut message = Message { info: Info::new(label, N), words: [0; REGISTER_WORDS] };
        let mut i = 0;
        while i < N {
            message.words[i] = values[i];
            i += 1;
        }
        message
    }

    /// A message of `words` words, of which all but the first are in the message buffer.
    pub const fn long(label: u32, words: usize, first: [u64; REGISTER_WORDS]) -> Message {
        Message { info: Info::new(label, words), words: first }
    }

    /// The same message with the capability that the message buffer names.
    pub const fn with_capability(self) -> Message {
        Message { info: self.info.with_capability(), words: self.words }
    }
}

/// A message as its receiver sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The badge of the sender's capability, or the bits of a notification.
    pub badge: u64,
    /// Length, label, and what it is.
    pub info: Info,
    /// The first words; those beyond the length mean nothing.
    pub words: [u64; REGISTER_WORDS],
}

/// What an exchange is about.
#[inline(always)]
fn about(to: Slot, from: Slot, info: Info) -> About {
    [partners(to.0, from.0), info.0, 0]
}

impl Outcome {
    /// Whether a call to this slot, of a message like this, was answered. If not,
    /// [`Env::why`](crate::Env::why) can tell for which right or slot.
    #[inline(always)]
    pub fn of_call(&self, to: Slot, info: Info) -> Result<(), Error> {
        noted::result(self.status, Call::Call, [to.word(), info.0, 0])
    }

    /// The message that arrived.
    #[inline(always)]
    pub fn received(self) -> Result<Received, Error> {
        self.status.result()?;
        Ok(Received { badge: self.badge, info: self.info, words: self.words })
    }
}

/// How long an operation may block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// How long its send half may.
    pub send: Timeout,
    /// How long its receive half may.
    pub receive: Timeout,
    /// The instant that [`Timeout::At`] means, in nanoseconds since boot.
    pub deadline: u64,
}

impl Wait {
    /// As long as it takes.
    pub const NEVER: Wait = Wait { send: Timeout::Never, receive: Timeout::Never, deadline: 0 };
    /// Not at all.
    pub const ZERO: Wait = Wait { send: Timeout::Zero, receive: Timeout::Zero, deadline: 0 };

    /// Until an instant in nanoseconds since boot.
    pub const fn until(deadline: u64) -> Wait {
        Wait { send: Timeout::At, receive: Timeout::At, deadline }
    }

    /// Until an instant.
    pub const fn by(deadline: Instant) -> Wait {
        Wait::until(deadline.as_nanos())
    }

    /// For some time from now on, both halves together: `Wait::within(2.ms())`. One system call.
    pub fn within(length: Duration) -> Wait {
        Wait::by(Instant::now() + length)
    }
}

/// The primitive: sends `message` to `to`, then receives from `from`. Either half may be
/// [`Slot::NONE`] or [`Slot::REPLY`].
pub fn exchange(to: Slot, from: Slot, message: Message, wait: Wait) -> Outcome {
    let number = abi::call::ipc(wait.send, wait.receive);
    let a =
        [word(partners(to.0, from.0)), word(message.info.0), word(wait.deadline), ANY, ANY, ANY];
    arch::syscall(number, a, arch::words(message.words))
}

/// Sends a message and waits until it is taken.
pub fn send(to: Slot, message: Message, wait: Wait) -> Result<(), Error> {
    let outcome = exchange(to, Slot::NONE, message, wait);
    noted::result(outcome.status, Call::Ipc, about(to, Slot::NONE, message.info))
}

/// Receives a message or the bits of a notification.
pub fn receive(from: Slot, wait: Wait) -> Result<Received, Error> {
    let outcome = exchange(Slot::NONE, from, Message::empty(0), wait);
    noted::result(outcome.status, Call::Ipc, about(Slot::NONE, from, Info(0)))?;
    outcome.received()
}

/// Sends a message and receives its reply.
pub fn call(to: Slot, message: Message) -> Result<Received, Error> {
    let outcome = call_short(to, message.info, message.words);
    outcome.of_call(to, message.info)?;
    outcome.received()
}

/// [`call`] with timeouts. When the second one ends it, the callee's reply right is dead.
pub fn call_within(to: Slot, message: Message, wait: Wait) -> Result<Received, Error> {
    let outcome = exchange(to, Slot::REPLY, message, wait);
    outcome.of_call(to, message.info)?;
    outcome.received()
}

/// Answers the caller whose reply right the thread holds.
pub fn reply(message: Message) -> Result<(), Error> {
    send(Slot::REPLY, message, Wait::ZERO)
}

/// Answers the caller and receives the next message.
pub fn reply_wait(from: Slot, message: Message) -> Result<Received, Error> {
    let outcome = reply_wait_short(from, message.info, message.words);
    noted::result(outcome.status, Call::ReplyWait, [from.word(), message.info.0, 0])?;
    outcome.received()
}

/// The calling thread is a server of an endpoint from now on, where it may receive, or no longer.
/// To a server those lend their priorities that wait for it: in the endpoint's queue of senders,
/// and for answers to calls that it has received (S2G-03). An endpoint has at most
/// [`HELPERS`](abi::futex::HELPERS) servers. Where a scheduling tree orders threads, a server runs
/// on its caller's time anyway.
///
/// # Errors
///
/// [`Error::HelpsAlready`], [`Error::NoHelper`]: it is one, or is none; [`Error::TooManyHelpers`];
/// [`Error::WrongState`]: it is inside another domain; [`Error::MissingRight`] and the like.
pub fn set_serving(on: Slot, serves: bool) -> Result<(), Error> {
    done(Call::Serve, [on.word(), serves.into()])
}

/// Serves an endpoint: answers each message, and receives the next, for ever. What a client does
/// (time out, die, lie) fails its own call alone. Returns why no more can be received, or why an
/// answer is no message. [`Server`](crate::Server) also tells signals and faults from requests, and
/// survives answers that are no messages.
pub fn serve(on: Slot, mut answer: impl FnMut(Received) -> Message) -> Error {
    let mut next = receive(on, Wait::NEVER);
    loop {
        next = match next {
            Ok(request) => reply_wait(on, answer(request)),
            Err(error) => return error,
        };
    }
}

/// [`call`] that loads `N` message words.
#[inline(always)]
pub fn call_short<const N: usize>(to: Slot, info: Info, words: [u64; N]) -> Outcome {
    let a = [word(to.word()), word(info.0), ANY, ANY, ANY, ANY];
    arch::syscall(Call::Call as u64, a, arch::words(words))
}

/// [`reply_wait`] that loads `N` message words.
#[inline(always)]
pub fn reply_wait_short<const N: usize>(from: Slot, info: Info, words: [u64; N]) -> Outcome {
    let a = [word(from.word()), word(info.0), ANY, ANY, ANY, ANY];
    arch::syscall(Call::ReplyWait as u64, a, arch::words(words))
}

/// [`send`] that loads `N` message words.
#[inline(always)]
pub fn send_short<const N: usize>(to: Slot, info: Info, words: [u64; N]) -> Outcome {
    let a = [word(partners(to.0, Slot::NONE.0)), word(info.0), ANY, ANY, ANY, ANY];
    arch::syscall(Call::Ipc as u64, a, arch::words(words))
}

/// [`exchange`] that loads `N` message words.
#[inline(always)]
pub fn exchange_short<const N: usize>(
    to: Slot,
    from: Slot,
    info: Info,
    words: [u64; N],
) -> Outcome {
    let a = [word(partners(to.0, from.0)), word(info.0), ANY, ANY, ANY, ANY];
    arch::syscall(Call::Ipc as u64, a, arch::words(words))
}

/// [`receive`] without a timeout.
#[inline(always)]
pub fn receive_short(from: Slot) -> Outcome {
    let a = [word(partners(Slot::NONE.0, from.0)), word(0), ANY, ANY, ANY, ANY];
    arch::syscall(Call::Ipc as u64, a, arch::words([]))
}
