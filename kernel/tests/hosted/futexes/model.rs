//! What futex calls do, in plain words: queues are vectors, and all is searched.

use abi::Error;
use abi::futex::{Scope, WAITERS};
use std::collections::BTreeMap;

/// A thread.
pub type Id = u32;

/// A scope: of one domain, or shared by all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Realm {
    Domain(u32),
    Shared,
}

impl Realm {
    pub fn scope(self) -> Scope {
        match self {
            Realm::Domain(_) => Scope::Domain,
            Realm::Shared => Scope::Shared,
        }
    }
}

/// What a thread waits for: a pair of words of a condition, then one of a mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    pub realm: Realm,
    pub condition: Option<usize>,
    pub mutex: usize,
}

/// Threads that wait for one pair of words, which are those of a condition or of a mutex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    pub realm: Realm,
    pub is_condition: bool,
    pub pair: usize,
    pub members: Vec<Id>,
}

/// A call of a thread on pairs of words.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    MutexWait { pair: usize, expected: u32 },
    MutexWake { pair: usize },
    CondWait { pair: usize, expected: u32, mutex: usize },
    CondRequeue { pair: usize, all: bool },
}

/// How a call comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is done; a requeue says whether there was a waiter.
    Done(u64),
    /// It blocks.
    Blocks,
    /// It is done, and this thread goes on.
    Wakes(Id),
    Fails(Error),
}

/// The state of all futexes.
#[derive(Clone, Default)]
pub struct Model {
    /// Both words of each pair.
    pub words: Vec<(u32, u32)>,
    pub queues: Vec<Queue>,
    pub wishes: BTreeMap<Id, Wish>,
    /// Ids of threads in both realms that they are in, and their domains.
    pub ids: BTreeMap<(Realm, u32), Id>,
    pub domains: BTreeMap<Id, u32>,
    /// Domains that may write the pairs.
    pub writers: Vec<u32>,
}

impl Model {
    fn id(&self, realm: Realm, thread: Id) -> u32 {
        let found = self.ids.iter().find(|((of, _), at)| *of == realm && **at == thread);
        found.map(|((_, id), _)| *id).expect("a thread of this realm")
    }

    fn writes(&self, thread: Id) -> bool {
        self.writers.contains(&self.domains[&thread])
    }

    /// The queue that the second word of a pair leads to.
    fn queue(&self, realm: Realm, is_condition: bool, pair: usize) -> Result<Option<usize>, Error> {
        let word = self.words[pair].1;
        if word == 0 {
            return Ok(None);
        }
        let head = self.ids.get(&(realm, word)).ok_or(Error::BrokenQueue)?;
        let meant = |queue: &Queue| {
            let same = (queue.realm, queue.is_condition, queue.pair) == (realm, is_condition, pair);
            same && queue.members[0] == *head && self.writes(*head)
        };
        self.queues.iter().position(meant).map(Some).ok_or(Error::BrokenQueue)
    }

    /// What a call of a thread does. The pairs, if it fails, are as they were.
    pub fn does(&mut self, me: Id, realm: Realm, expired: bool, operation: Operation) -> Outcome {
        let outcome = match operation {
            Operation::MutexWait { pair, expected } => {
                let wish = Wish { realm, condition: None, mutex: pair };
                self.waits(me, wish, expected, expired)
            }
            Operation::CondWait { pair, expected, mutex } => {
                let wish = Wish { realm, condition: Some(pair), mutex };
                self.waits(me, wish, expected, expired)
            }
            Operation::MutexWake { pair } => self.wakes(me, realm, pair),
            Operation::CondRequeue { pair, all } => self.requeues(me, realm, pair, all),
        };
        outcome.unwrap_or_else(Outcome::Fails)
    }

    fn waits(
        &mut self,
        me: Id,
        wish: Wish,
        expected: u32,
        expired: bool,
    ) -> Result<Outcome, Error> {
        let pair = wish.condition.unwrap_or(wish.mutex);
        if !self.writes(me) {
            return Err(Error::BadAddress);
        }
        if wish.condition.is_none() && expected & WAITERS == 0 {
            return Err(Error::InvalidArgument);
        }
        if wish.condition == Some(wish.mutex) {
            return Err(Error::InvalidArgument);
        }
        if self.words[pair].0 != expected {
            return Err(Error::Changed);
        }
        let found = self.queue(wish.realm, wish.condition.is_some(), pair)?;
        if let Some(found) = found
            && self.wishes[&self.queues[found].members[0]].mutex != wish.mutex
        {
            return Err(Error::OtherMutex);
        }
        if expired {
            return Err(Error::Timeout);
        }
        match found {
            Some(found) => self.queues[found].members.push(me),
            None => {
                self.words[pair].1 = self.id(wish.realm, me);
                let is_condition = wish.condition.is_some();
                let (realm, members) = (wish.realm, vec![me]);
                self.queues.push(Queue { realm, is_condition, pair, members });
            }
        }
        self.wishes.insert(me, wish);
        Ok(Outcome::Blocks)
    }

    fn wakes(&mut self, me: Id, realm: Realm, pair: usize) -> Result<Outcome, Error> {
        if !self.writes(me) {
            return Err(Error::BadAddress);
        }
        let Some(found) = self.queue(realm, false, pair)? else {
            self.words[pair].0 = 0;
            return Ok(Outcome::Done(0));
        };
        let owner = self.queues[found].members.remove(0);
        self.wishes.remove(&owner);
        let next = self.queues[found].members.first().copied();
        let waiters = if next.is_some() { WAITERS } else { 0 };
        let second = next.map_or(0, |next| self.id(realm, next));
        self.words[pair] = (self.id(realm, owner) | waiters, second);
        self.drop_empty();
        Ok(Outcome::Wakes(owner))
    }

    fn requeues(&mut self, me: Id, realm: Realm, pair: usize, all: bool) -> Result<Outcome, Error> {
        if !self.writes(me) {
            return Err(Error::BadAddress);
        }
        let Some(found) = self.queue(realm, true, pair)? else { return Ok(Outcome::Done(0)) };
        let mutex = self.wishes[&self.queues[found].members[0]].mutex;
        if self.words[mutex].0 & !WAITERS != self.id(realm, me) {
            return Err(Error::WrongState);
        }
        let to = self.queue(realm, false, mutex)?;
        let members = &mut self.queues[found].members;
        let end = if all { members.len() } else { 1 };
        let moved: Vec<Id> = members.drain(..end).collect();
        let left = members.first().copied();
        self.words[pair].1 = left.map_or(0, |left| self.id(realm, left));
        match to {
            Some(to) => self.queues[to].members.extend(moved),
            None => {
                self.words[mutex].1 = self.id(realm, moved[0]);
                let queue = Queue { realm, is_condition: false, pair: mutex, members: moved };
                self.queues.push(queue);
            }
        }
        self.words[mutex].0 |= WAITERS;
        self.drop_empty();
        Ok(Outcome::Done(1))
    }

    /// A thread stops waiting before its turn, if it waits.
    pub fn leaves(&mut self, thread: Id) {
        if self.wishes.remove(&thread).is_none() {
            return;
        }
        let found = self.queues.iter().position(|queue| queue.members.contains(&thread));
        let found = found.expect("a thread that waits is in a queue");
        let queue = &mut self.queues[found];
        let heads = queue.members[0] == thread;
        queue.members.retain(|member| *member != thread);
        let (queue, next) = (queue.clone(), queue.members.first().copied());
        self.drop_empty();
        let reached = self.writes(thread) || next.is_some_and(|next| self.writes(next));
        if !heads || !reached || self.words[queue.pair].1 != self.id(queue.realm, thread) {
            return;
        }
        self.words[queue.pair].1 = next.map_or(0, |next| self.id(queue.realm, next));
        if next.is_none() && !queue.is_condition {
            self.words[queue.pair].0 &= !WAITERS;
        }
    }

    fn drop_empty(&mut self) {
        self.queues.retain(|queue| !queue.members.is_empty());
    }
}
