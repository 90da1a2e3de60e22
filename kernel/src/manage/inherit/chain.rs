//! Effective priorities along chains of waits. At most [`LINKS`] links, O(1) each.

use super::LINKS;
use crate::access::Ref;
use crate::manage::Manager;
use crate::object::Thread;
use crate::port::Port;
use abi::Error;

impl<P: Port> Manager<'_, P> {
    /// The effective priority that a thread is to have: the greatest of its own, of its
    /// ceiling, and of those that wait for what it owns. Where a tree orders threads, it orders mutexes' waiters alone.
    pub(crate) fn urgency(&self, at: Ref<Thread<P>>) -> i16 {
        let thread = self.all.open(at);
        let own = thread.base_priority.get().max(thread.inherit.ceiling.get());
        match self.mutexes().first(&thread.inherit.owned) {
            Some(mutex) => own.max(self.mutexes().key(mutex).into()),
            None => own,
        }
    }

    /// That as a key.
    pub(super) fn key_of(&self, at: Ref<Thread<P>>) -> u8 {
        self.urgency(at).clamp(0, u8::MAX.into()) as u8
    }

    /// The thread that owns what another one waits for.
    fn awaited(&self, at: Ref<Thread<P>>) -> Option<Ref<Thread<P>>> {
        self.turnstile(self.all.open(at).inherit.waits.get()?).owner.get()
    }

    /// Checks that `me` may wait for what `owner` owns.
    ///
    /// # Errors
    ///
    /// [`Error::SelfSend`]: `owner` waits, through others, for `me`. [`Error::TooDeep`]: a chain
    /// would have more than [`LINKS`] links.
    pub(super) fn may_wait(&self, me: Ref<Thread<P>>, owner: Ref<Thread<P>>) -> Result<(), Error> {
        let mut height = self.height(me);
        let (mut at, mut deep) = (Some(owner), false);
        // Those that wait already are at most so many in a row.
        while let Some(here) = at {
            if here == me {
                return Err(Error::SelfSend);
            }
            height = self.height(here).max(height + 1);
            deep |= height > LINKS;
            at = self.awaited(here);
        }
        if deep { Err(Error::TooDeep) } else { Ok(()) }
    }

    /// The length of the longest chain of waits that ends in one for this thread.
    pub(super) fn height(&self, at: Ref<Thread<P>>) -> u8 {
        self.all.open(at).inherit.behind.top()
    }

    /// The height of a thread among a mutex's waiters changes, and so may those along the chain;
    /// with `None` it is none of them.
    pub(super) fn change_height(
        &self,
        mutex: Ref<Thread<P>>,
        mut from: Option<u8>,
        mut to: Option<u8>,
    ) {
        let mut at = mutex;
        loop {
            let turnstile = self.turnstile(at);
            turnstile.heights.change(from, to);
            let Some(owner) = turnstile.owner.get() else { return };
            let inherit = &self.all.open(owner).inherit;
            let before = inherit.behind.top();
            inherit.behind.change(from, to);
            let after = inherit.behind.top();
            let Some(next) = inherit.waits.get().filter(|_| before != after) else { return };
            (at, from, to) = (next, Some(before), Some(after));
        }
    }

    /// Gives a thread the effective priority that it is to have, and each behind it in its chain.
    pub(crate) fn propagate(&self, from: Ref<Thread<P>>) {
        let mut at = from;
        loop {
            self.apply_priority(at, self.urgency(at));
            let Some(mutex) = self.all.open(at).inherit.waits.get() else { return };
            let (key, turnstile) = (self.key_of(at), self.turnstile(mutex));
            if self.waiters().key(at) == key {
                return;
            }
            self.waiters().remove(&turnstile.waiters, at);
            self.waiters().insert(&turnstile.waiters, at, key);
            match self.reorder(mutex) {
                Some(owner) => at = owner,
                None => return,
            }
        }
    }

    /// The waiters of a mutex have changed. If their first one has another priority than the one
    /// before, the owner's is to follow.
    pub(super) fn reorder(&self, mutex: Ref<Thread<P>>) -> Option<Ref<Thread<P>>> {
        let turnstile = self.turnstile(mutex);
        let owner = turnstile.owner.get()?;
        let first = self.waiters().first(&turnstile.waiters)?;
        let key = self.waiters().key(first);
        if self.mutexes().key(mutex) == key {
            return None;
        }
        self.disown(mutex, owner);
        self.own(mutex, owner, key);
        Some(owner)
    }

    /// A thread owns a mutex, whose first waiter has this key.
    pub(super) fn own(&self, mutex: Ref<Thread<P>>, owner: Ref<Thread<P>>, key: u8) {
        let turnstile = self.turnstile(mutex);
        turnstile.owner.set(Some(owner));
        self.mutexes().insert(&self.all.open(owner).inherit.owned, mutex, key);
        let waiter = turnstile.waiters.get();
        let visit = waiter.and_then(|waiter| self.visit_to(owner, self.domain_of(waiter)));
        turnstile.visit.set(visit);
        if let Some(visit) = visit {
            self.all.open(visit).owned.push_back(mutex);
        }
    }

    /// A thread does not own a mutex any more.
    pub(super) fn disown(&self, mutex: Ref<Thread<P>>, owner: Ref<Thread<P>>) {
        let turnstile = self.turnstile(mutex);
        turnstile.owner.set(None);
        self.mutexes().remove(&self.all.open(owner).inherit.owned, mutex);
        if let Some(visit) = turnstile.visit.take() {
            self.all.open(visit).owned.remove(mutex);
        }
    }
}
