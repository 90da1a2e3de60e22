//! Messages of any length, without offsets by hand.
//!
//! The first four words of a message travel in registers, the others lie in the sender's and then
//! in the receiver's message buffer. [`Build`] puts them there, [`Received::all`] takes them out.

use crate::ipc::{Message, Received};
use crate::{Buffer, Slot};
use abi::message::{MAX_WORDS, REGISTER_WORDS};
use abi::{Error, Info, Rights};

/// A message under construction; [`Message::build`] begins one.
///
/// ```no_run
/// use rt::prelude::*;
///
/// # fn example(env: &Env, door: Slot) -> Result<(), Error> {
/// let buffer = env.buffer(0);
/// let request = Message::build(7).with_buffer(buffer).words(&[1, 2, 3, 4, 5, 6]).finish()?;
/// let answer = rt::ipc::call(door, request)?;
/// let sum: u64 = answer.all(buffer).sum();
/// # Ok(())
/// # }
/// ```
///
/// What does not fit is remembered, and [`Build::finish`] says so. The words beyond the fourth
/// stand in the buffer from then on: send the message before the thread receives or builds another.
#[derive(Clone, Copy)]
pub struct Build {
    label: u32,
    length: usize,
    first: [u64; REGISTER_WORDS],
    buffer: Option<Buffer>,
    capability: bool,
    error: Option<Error>,
}

impl Message {
    /// Begins a message with a label, without words.
    pub const fn build(label: u32) -> Build {
        Build {
            label,
            length: 0,
            first: [0; REGISTER_WORDS],
            buffer: None,
            capability: false,
            error: None,
        }
    }
}

impl Build {
    /// The message buffer of the thread that will send the message, for the words beyond the
    /// fourth and for a capability. It has to be named before these.
    pub const fn with_buffer(mut self, buffer: Buffer) -> Build {
        self.buffer = Some(buffer);
        self
    }

    /// Appends a word.
    #[inline]
    pub fn word(mut self, value: u64) -> Build {
        match (self.length, self.buffer) {
            (at @ 0..REGISTER_WORDS, _) => self.first[at] = value,
            (MAX_WORDS.., _) => return self.wrong(Error::TooLong),
            (_, None) => return self.wrong(Error::NoBuffer),
            (at, Some(buffer)) => buffer.0.set(at, value),
        }
        self.length += 1;
        self
    }

    /// Appends words.
    #[inline]
    pub fn words(self, values: &[u64]) -> Build {
        values.iter().fold(self, |message, value| message.word(*value))
    }

    /// Lets a capability travel with the message; the receiver gets these rights at most.
    pub fn capability(mut self, slot: Slot, rights: Rights) -> Build {
        let Some(buffer) = self.buffer else { return self.wrong(Error::NoBuffer) };
        buffer.offer(slot, rights);
        self.capability = true;
        self
    }

    /// The message.
    ///
    /// # Errors
    ///
    /// The first of these that went wrong: [`Error::NoBuffer`]: more than four words or a
    /// capability, and no buffer was named before; [`Error::TooLong`]: more than
    /// [`MAX_WORDS`] words.
    pub fn finish(self) -> Result<Message, Error> {
        let info = Info::new(self.label, self.length);
        let info = if self.capability { info.with_capability() } else { info };
        match self.error {
            None => Ok(Message { info, words: self.first }),
            Some(error) => Err(error),
        }
    }

    fn wrong(mut self, error: Error) -> Build {
        self.error = self.error.or(Some(error));
        self
    }
}

impl Received {
    /// The words of the message that came in registers: exactly as many as were sent, four at most.
    #[inline(always)]
    pub fn registers(&self) -> &[u64] {
        &self.words[..self.info.words().min(REGISTER_WORDS)]
    }

    /// A word of the message; none beyond its length. `buffer` is the receiving thread's; without
    /// one there are the first four words at most.
    #[inline]
    pub fn word(&self, index: usize, buffer: Option<Buffer>) -> Option<u64> {
        match index {
            0..REGISTER_WORDS => self.registers().get(index).copied(),
            _ if index < self.info.words().min(MAX_WORDS) => Some(buffer?.0.get(index)),
            _ => None,
        }
    }

    /// All words of the message, exactly as many as were sent. `buffer` is the receiving thread's;
    /// what it holds stays until the thread receives or builds another message.
    pub fn all(&self, buffer: Buffer) -> impl Iterator<Item = u64> + use<> {
        let received = *self;
        (0..MAX_WORDS).map_while(move |index| received.word(index, Some(buffer)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{self, BASE};
    use proptest::prelude::*;
    use std::vec::Vec;

    fn received(message: Message) -> Received {
        Received { badge: 0, info: message.info, words: message.words }
    }

    proptest! {
        #[test]
        fn what_is_built_is_read_back(words in prop::collection::vec(any::<u64>(), 0..=MAX_WORDS)) {
            let _machine = machine::install(1);
            let buffer = Buffer::at(BASE);
            let message = Message::build(9).with_buffer(buffer).words(&words).finish().unwrap();
            prop_assert_eq!((message.info.label(), message.info.words()), (9, words.len()));
            let got = received(message);
            prop_assert_eq!(got.all(buffer).collect::<Vec<_>>(), words.clone());
            prop_assert_eq!(got.registers(), &words[..words.len().min(4)]);
            prop_assert_eq!(got.word(words.len(), Some(buffer)), None);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let _machine = machine::install(1);
        let buffer = Buffer::at(BASE);
        let long = Message::build(0).with_buffer(buffer).words(&[0; MAX_WORDS + 1]);
        assert_eq!(long.finish(), Err(Error::TooLong));
        assert_eq!(Message::build(0).words(&[0; 5]).finish(), Err(Error::NoBuffer));
        assert_eq!(
            Message::build(0).capability(Slot(1), Rights::ALL).finish(),
            Err(Error::NoBuffer)
        );
        let short = Message::build(3).words(&[1, 2]).finish();
        assert_eq!(short, Ok(Message::short(3, [1, 2])));
        let grant = Message::build(3).with_buffer(buffer).capability(Slot(8), Rights::SEND);
        assert!(grant.finish().unwrap().info.has_capability());
        assert_eq!([128, 129].map(|at| buffer.0.get(at)), [8, 1]);
    }

    #[test]
    fn lengths_that_no_message_has_end_at_the_buffer() {
        let _machine = machine::install(1);
        let got = Received { badge: 0, info: Info(0xff), words: [1, 2, 3, 4] };
        assert_eq!(got.all(Buffer::at(BASE)).count(), MAX_WORDS);
        assert_eq!((got.word(4, None), got.word(3, None)), (None, Some(4)));
    }
}
