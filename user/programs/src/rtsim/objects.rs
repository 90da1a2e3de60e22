//! The objects of a task set, in shared memory.

use super::locks::{Condition, Lock};
use abi::rtsim::{MESSAGE_WORDS, MESSAGES, OBJECT_WORDS, OBJECTS};
use rt::Words;

/// Why a job cannot go on.
pub struct Wrong {
    /// The number of the step, from 1.
    pub step: usize,
    /// What is wrong.
    pub what: &'static str,
}

/// All objects: each has a part of the memory, and is what tasks use it as.
pub struct Objects {
    /// None for a task that names no object.
    words: Option<Words>,
    mutexes: [Option<Lock>; OBJECTS],
    inherits: bool,
}

/// Words of a queue that count the messages which came and which went.
const CAME: usize = 0;
const WENT: usize = 1;

impl Objects {
    /// The objects in this memory, if there is one, which was all 0. Whether mutexes and conditions
    /// lend priorities.
    pub fn new(words: Option<Words>, inherits: bool) -> Objects {
        let mutex = |object| words.map(|words| Lock::new(part(words, object), inherits));
        Objects { words, mutexes: core::array::from_fn(mutex), inherits }
    }

    /// The index of the object that an operand tells.
    pub fn index(&self, operand: u64) -> Result<usize, &'static str> {
        let object = (operand / 2) as usize;
        if self.words.is_none() {
            return Err("there are no objects");
        }
        let index = match operand % 2 {
            0 => object,
            // One more than the index, so that a pointer that was not set refers to nothing.
            _ => match self.part(object).get(0) {
                0 => return Err("a pointer is used that refers to nothing"),
                reference => reference as usize - 1,
            },
        };
        if index < OBJECTS { Ok(index) } else { Err("there is no such object") }
    }

    pub fn mutex(&self, object: usize) -> &Lock {
        self.mutexes[object].as_ref().expect("an index is of an object")
    }

    pub fn condition(&self, object: usize) -> Condition {
        Condition::new(self.part(object), self.inherits)
    }

    /// The word of a counter.
    pub fn counter(&self, object: usize) -> u64 {
        self.part(object).get(0)
    }

    pub fn set(&self, object: usize, value: u64) {
        self.part(object).set(0, value);
    }

    /// How many messages are in a queue.
    pub fn messages(&self, queue: usize) -> u64 {
        self.part(queue).get(CAME) - self.part(queue).get(WENT)
    }

    /// Appends a message, which refers to these objects.
    pub fn push(&self, queue: usize, references: [u64; MESSAGE_WORDS]) -> Result<(), &'static str> {
        if self.messages(queue) == MESSAGES as u64 {
            return Err("a queue is full");
        }
        let words = self.part(queue);
        let at = place(words.get(CAME));
        (at..).zip(references).for_each(|(word, reference)| words.set(word, reference));
        words.set(CAME, words.get(CAME) + 1);
        Ok(())
    }

    /// Takes the oldest message.
    pub fn pop(&self, queue: usize) -> Result<[u64; MESSAGE_WORDS], &'static str> {
        if self.messages(queue) == 0 {
            return Err("a message is taken from an empty queue");
        }
        let words = self.part(queue);
        let at = place(words.get(WENT));
        let message = core::array::from_fn(|word| words.get(at + word));
        words.set(WENT, words.get(WENT) + 1);
        Ok(message)
    }

    fn part(&self, object: usize) -> Words {
        part(self.words.expect("an index is of an object"), object)
    }
}

fn part(words: Words, object: usize) -> Words {
    words.part(object * OBJECT_WORDS, OBJECT_WORDS)
}

/// The first word of the message that came or went as this one.
fn place(number: u64) -> usize {
    2 + number as usize % MESSAGES * MESSAGE_WORDS
}
