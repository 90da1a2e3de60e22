//! Calls from thread to thread of one domain, whose server has its clients' priority (S2G-07).

use crate::{InheritCondition, InheritGuard, InheritMutex, ThreadId, Value};
use core::marker::PhantomData;
use rt::{Error, Wait, Words};

/// Calls of clients to servers, all threads of one domain: a question, and its answer. While
/// clients wait, each server has the highest of their priorities, as the helper of each
/// client's condition for its answer. Questions are served in the order in which they were asked.
///
/// If a thread ends while it changes the words, the next thread that uses them is told, and so are
/// all that wait: until then they wait.
pub struct InheritCalls<Q, A> {
    mutex: InheritMutex,
    words: Words,
    clients: usize,
    of: PhantomData<fn(Q) -> A>,
}

/// Where the condition of the questions is in the words, and which question is the first, how many
/// there are, and whose they are, behind the mutex.
const ASKED: usize = InheritMutex::WORDS;
const FIRST: usize = InheritCondition::WORDS;
const LENGTH: usize = FIRST + 1;
const QUESTIONS: usize = LENGTH + 1;
/// What a client has: the condition of its answer, whether it has asked, question and answer.
const STATE: usize = InheritCondition::WORDS;
const QUESTION: usize = STATE + 1;

/// [`STATE`]: the client may ask; it waits; its answer is there.
const FREE: u64 = 0;
const WAITS: u64 = 1;
const ANSWERED: u64 = 2;

impl<Q: Value, A: Value> InheritCalls<Q, A> {
    /// Words that they take for so many clients.
    pub const fn words(clients: usize) -> usize {
        InheritMutex::WORDS + QUESTIONS + clients * (1 + InheritCalls::<Q, A>::OWN)
    }

    /// Words that a client has.
    const OWN: usize = QUESTION + Q::WORDS + A::WORDS;

    /// The calls in these words, which are 0 at first.
    ///
    /// # Panics
    ///
    /// If there are not [so many](InheritCalls::words) words, or no client.
    pub fn new(words: Words, clients: usize) -> InheritCalls<Q, A> {
        let needed = InheritCalls::<Q, A>::words(clients);
        assert!(
            clients > 0 && words.len() >= needed,
            "calls of {clients} clients take {needed} words"
        );
        InheritCalls { mutex: InheritMutex::new(words), words, clients, of: PhantomData }
    }

    /// Calls the servers as client `number`, and waits for the answer. One thread at a time is a
    /// client of this number.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`]: there is no such client; [`Error::WrongState`]: it waits
    /// already, or a thread has ended while it changed the words, and they are lost; and those of
    /// [`InheritMutex::lock`].
    pub fn call(&self, me: ThreadId, number: usize, question: Q) -> Result<A, Error> {
        if number >= self.clients {
            return Err(Error::InvalidArgument);
        }
        let own = self.own(number);
        let mut guard = self.enter(me)?;
        if own.get(STATE) != FREE {
            return Err(Error::WrongState);
        }
        question.store(own.part(QUESTION, Q::WORDS));
        own.set(STATE, WAITS);
        let length = guard.get(LENGTH);
        guard.set(self.question(guard.get(FIRST) + length), number as u64);
        guard.set(LENGTH, length + 1);
        self.asked().notify_one(&guard)?;
        self.wait(&mut guard, &self.answered(number), |_| own.get(STATE) == WAITS)?;
        let answer = A::load(own.part(QUESTION + Q::WORDS, A::WORDS));
        own.set(STATE, FREE);
        guard.unlock().map(|()| answer)
    }

    /// The calling thread serves the calls from now on: it helps all clients, until it ends.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyHelpers`]: [`InheritCondition::HELPERS`] threads do already;
    /// [`Error::HelpsAlready`]; and those of [`InheritMutex::lock`].
    pub fn server(&self, me: ThreadId) -> Result<Server<'_, Q, A>, Error> {
        let guard = self.enter(me)?;
        for number in 0..self.clients {
            self.answered(number).helpers_add(&guard, me.helper())?;
        }
        guard.unlock()?;
        Ok(Server { calls: self, me })
    }

    fn enter(&self, me: ThreadId) -> Result<InheritGuard<'_>, Error> {
        let guard = self.mutex.lock(me)?;
        self.is_whole(&guard)?;
        Ok(guard)
    }

    /// Refuses words whose owner has ended: all that wait are woken, to be told so as well.
    fn is_whole(&self, guard: &InheritGuard<'_>) -> Result<(), Error> {
        if !guard.owner_died() {
            return Ok(());
        }
        self.asked().notify_all(guard)?;
        for number in 0..self.clients {
            self.answered(number).notify_all(guard)?;
        }
        Err(Error::WrongState)
    }

    fn wait(
        &self,
        guard: &mut InheritGuard<'_>,
        changes: &InheritCondition,
        so: impl Fn(&Words) -> bool,
    ) -> Result<(), Error> {
        // What is cancelled is a wait, not a call.
        let ended = loop {
            match changes.wait_while(guard, Wait::NEVER, &so) {
                Err(Error::Cancelled) => {}
                ended => break ended,
            }
        };
        if ended == Err(Error::WrongState) {
            self.is_whole(guard)?;
        }
        ended
    }

    /// The condition that a question is there.
    fn asked(&self) -> InheritCondition {
        InheritCondition::new(self.words, ASKED)
    }

    /// The condition that the answer of a client is there.
    fn answered(&self, number: usize) -> InheritCondition {
        InheritCondition::new(self.own(number), 0)
    }

    /// The words of a client.
    fn own(&self, number: usize) -> Words {
        let first = InheritMutex::WORDS + QUESTIONS + self.clients;
        self.words.part(first + number * Self::OWN, Self::OWN)
    }

    /// Where it is written whose a question is, behind the mutex.
    fn question(&self, at: u64) -> usize {
        QUESTIONS + at as usize % self.clients
    }
}

/// A thread that answers calls.
pub struct Server<'c, Q, A> {
    calls: &'c InheritCalls<Q, A>,
    me: ThreadId,
}

impl<Q: Value, A: Value> Server<'_, Q, A> {
    /// Waits for a question, and answers it. Other threads ask, and other servers answer, while
    /// the answer is found.
    ///
    /// # Errors
    ///
    /// [`Error::WrongState`]: a thread has ended while it changed the words, which are lost; and
    /// those of [`InheritMutex::lock`].
    pub fn serve(&self, answer: impl FnOnce(Q) -> A) -> Result<(), Error> {
        let calls = self.calls;
        let mut guard = calls.enter(self.me)?;
        calls.wait(&mut guard, &calls.asked(), |words| words.get(LENGTH) == 0)?;
        let at = guard.get(FIRST);
        let number = guard.get(calls.question(at)) as usize % calls.clients;
        guard.set(FIRST, (at + 1) % calls.clients as u64);
        guard.set(LENGTH, guard.get(LENGTH) - 1);
        let own = calls.own(number);
        let question = Q::load(own.part(QUESTION, Q::WORDS));
        guard.unlock()?;
        let answer = answer(question);
        let guard = calls.enter(self.me)?;
        answer.store(own.part(QUESTION + Q::WORDS, A::WORDS));
        own.set(STATE, ANSWERED);
        calls.answered(number).notify_one(&guard)?;
        guard.unlock()
    }
}
