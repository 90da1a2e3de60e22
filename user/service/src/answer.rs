//! The server's side: what it answers.

use crate::{Outgoing, Returns, Wire};
use rt::abi::message::REGISTER_WORDS;
use rt::server::NOT_SENT;
use rt::{Buffer, Error, Message, Request, Server, Slot};

pub use rt::abi::answer::{DONE, REFUSED, UNKNOWN};

/// The badge of the capability that a client used: an argument which tells the server who asks. No
/// client passes it, nor can it choose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Badge(pub u64);

/// The answer of a method that has returned.
#[inline(always)]
pub fn answer<R: Returns>(returned: R, buffer: Option<Buffer>) -> Message {
    match returned.result() {
        Ok(value) => message(DONE, value, buffer),
        Err(error) => {
            // Without this both answers are made, and one is chosen.
            core::hint::cold_path();
            message(REFUSED, error, buffer)
        }
    }
}

#[inline(always)]
fn message<T: Wire>(label: u32, value: T, buffer: Option<Buffer>) -> Message {
    let begun = Outgoing::begin(T::WORDS, buffer);
    let Some(mut words) = begun.filter(|_| T::CAPABILITIES == 0 || buffer.is_some()) else {
        return Message::empty(NOT_SENT);
    };
    value.put(&mut words);
    words.message(label)
}

/// The answer to what is no call.
#[inline(always)]
pub const fn unknown() -> Message {
    Message::empty(UNKNOWN)
}

/// Answers requests until none can be received; for services whose messages fit into registers.
#[inline(always)]
pub fn serve<const LONGEST: usize, const CAPABILITIES: usize>(
    endpoint: Slot,
    dispatch: impl FnMut(&Request) -> Message,
) -> Error {
    const {
        assert!(
            CAPABILITIES == 0,
            "this service has messages with capabilities, which need a buffer and slots: \
             use `Server::new(endpoint).accepting(pool, buffer)` \
             and `.run(|request| it.dispatch(request))`"
        );
        assert!(
            LONGEST <= REGISTER_WORDS,
            "this service has messages of more than four words, which need a buffer: \
             use `Server::new(endpoint).with_buffer(buffer).run(|request| it.dispatch(request))`"
        );
    }
    Server::new(endpoint).run(dispatch)
}

/// The largest of some lengths.
pub const fn longest(lengths: &[usize]) -> usize {
    match lengths {
        [] => 0,
        [first, rest @ ..] => {
            let rest = longest(rest);
            if *first > rest { *first } else { rest }
        }
    }
}
