//! A sum by remote procedure call as systems without trains make it (S4-E05): the question is
//! marshalled as Sun RPC does it, copied into a queue, and taken out by a server that is scheduled
//! for itself; so is the answer.

use super::sums::sum_of;
use rt::prelude::*;
use rt::{Wait, Words};
use sync::{Queue, Scope, ThreadId};

/// Words of a marshalled question and of an answer.
const QUESTION: usize = 9;
const ANSWER: usize = 4;
/// Where queues and messages are in the shared memory.
const QUESTIONS: usize = 0;
const ANSWERS: usize = 16;
const MESSAGES: usize = 32;
/// Messages that a queue holds, and words of each.
const PLACES: usize = 4;
const PLACE: usize = 16;
/// What a call names: version of the protocol, program, its version, procedure.
const CALL: [u32; 4] = [2, 0x2000_0001, 1, 1];

/// Bytes in the order of the network.
struct Bytes<const WORDS: usize> {
    words: [[u8; 8]; WORDS],
    at: usize,
}

impl<const WORDS: usize> Bytes<WORDS> {
    fn new() -> Self {
        Bytes { words: [[0; 8]; WORDS], at: 0 }
    }

    fn put(&mut self, number: u32) {
        let bytes = self.words.as_flattened_mut();
        bytes[self.at..self.at + 4].copy_from_slice(&number.to_be_bytes());
        self.at += 4;
    }

    fn put_long(&mut self, number: u64) {
        self.put((number >> 32) as u32);
        self.put(number as u32);
    }

    fn take(&mut self) -> u32 {
        let bytes = &self.words.as_flattened()[self.at..self.at + 4];
        self.at += 4;
        bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
    }

    fn take_long(&mut self) -> u64 {
        u64::from(self.take()) << 32 | u64::from(self.take())
    }
}

/// One direction: messages, and a queue of their places.
struct Way {
    queue: Queue,
    messages: Words,
    me: ThreadId,
}

impl Way {
    fn new(shared: Words, queue: usize, messages: usize) -> Way {
        let own = shared.part(queue, Queue::WORDS + PLACES);
        let messages = shared.part(messages, PLACES * PLACE);
        Way { queue: Queue::new(own, Scope::Shared), messages, me: ThreadId::current() }
    }

    fn send<const N: usize>(&self, at: usize, message: &Bytes<N>) -> Result<(), Error> {
        for (n, word) in message.words.iter().enumerate() {
            self.messages.set(PLACE * at + n, u64::from_le_bytes(*word));
        }
        self.queue.push(self.me, at as u64, Wait::NEVER)
    }

    fn receive<const N: usize>(&self) -> Result<(usize, Bytes<N>), Error> {
        let at = self.queue.pop(self.me, Wait::NEVER)? as usize % PLACES;
        let word = |n| self.messages.get(PLACE * at + n).to_le_bytes();
        Ok((at, Bytes { words: core::array::from_fn(word), at: 0 }))
    }
}

/// Both directions, of either side.
pub struct Queues {
    questions: Way,
    answers: Way,
}

impl Queues {
    /// In this memory.
    pub fn new(shared: Words) -> Queues {
        let questions = Way::new(shared, QUESTIONS, MESSAGES);
        Queues { questions, answers: Way::new(shared, ANSWERS, MESSAGES + PLACES * PLACE) }
    }

    /// Asks for a sum.
    ///
    /// # Errors
    /// Those of the queues; [`Error::InvalidArgument`]: it is the answer to another question.
    pub fn ask(&self, number: u32, numbers: [u64; 4]) -> Result<u64, Error> {
        let mut question = Bytes::<QUESTION>::new();
        // The number of the call, and that it is one; no credentials and no verifier.
        let head = [number, 0].into_iter().chain(CALL).chain([0; 4]);
        head.for_each(|word| question.put(word));
        numbers.into_iter().for_each(|number| question.put_long(number));
        self.questions.send(number as usize % PLACES, &question)?;
        let (_, mut answer) = self.answers.receive::<ANSWER>()?;
        // An accepted answer without a verifier that has succeeded.
        let is_right = [number, 1, 0, 0, 0, 0].into_iter().all(|word| answer.take() == word);
        if is_right { Ok(answer.take_long()) } else { Err(Error::InvalidArgument) }
    }
}

/// The server: memory `queues`.
pub fn server(env: &Env) {
    let queues = Queues::new(env.mem("queues"));
    loop {
        let (at, mut question) = queues.questions.receive::<QUESTION>().expect("a question");
        let number = question.take();
        let is_right = [0].into_iter().chain(CALL).all(|word| question.take() == word);
        (0..4).for_each(|_| _ = question.take());
        let numbers = core::array::from_fn(|_| question.take_long());
        let mut answer = Bytes::<ANSWER>::new();
        let status = if is_right { 0 } else { 1 };
        [number, 1, 0, 0, 0, status].into_iter().for_each(|word| answer.put(word));
        answer.put_long(sum_of(numbers));
        queues.answers.send(at, &answer).expect("there is room");
    }
}
