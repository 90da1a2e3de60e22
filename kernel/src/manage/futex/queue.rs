//! Queues: a ring of threads for each mutex or condition, which the one that has waited longest
//! heads.
//!
//! The head alone carries the mark that says of which [`Kind`] its ring is. A ring of a condition
//! becomes part of its mutex's ring as a whole: no member but the heads is touched, and so a
//! member that waits for a condition may be in either.

use super::Caller;
use super::identity;
use super::words::Words;
use crate::access::Ref;
use crate::hidden::Key;
use crate::list::Ring;
use crate::manage::Manager;
use crate::object::Thread;
use crate::object::thread::{State, Waiting};
use crate::object::waiter::{Kind, Place, Target};
use crate::port::Port;
use abi::Error;
use abi::futex::Scope;

/// The rings.
pub(super) type Queue<P> = Ring<Thread<P>, Waiting>;

impl<P: Port> Manager<'_, P> {
    /// The id of the calling thread in its scope.
    #[inline(always)]
    pub(super) fn own_id(&self, caller: Caller<P>) -> u32 {
        self.id_now(caller.thread, caller.key)
    }

    /// The id of a thread in the scope with this key, in which it waits next, if it does: at home
    /// as it was made before, if that was for the same scope.
    #[inline(always)]
    fn id_now(&self, thread: Ref<Thread<P>>, key: Key) -> u32 {
        let waiter = &self.all.open(thread).futex;
        if waiter.key.get() != key {
            self.make_id(thread, key);
        }
        waiter.id.get()
    }

    #[cold]
    #[inline(never)]
    fn make_id(&self, thread: Ref<Thread<P>>, key: Key) {
        let body = self.all.open(thread);
        let number = identity::where_it_is(self.kernel, &self.all, thread);
        body.futex.id.set(identity::hidden(key, number));
        // The next visit has another one with the same key.
        if body.inside.get().is_none() {
            body.futex.key.set(key);
        }
    }

    /// A thread is going to wait in its own domain's scope, by its id in that.
    pub(in crate::manage) fn make_local_id(&self, thread: Ref<Thread<P>>) {
        self.id_now(thread, self.domain_of(thread).key.get());
    }

    /// The id of a thread that waits, in the scope in which it does; without one 0.
    pub(in crate::manage) fn id_of(&self, thread: Option<Ref<Thread<P>>>) -> u32 {
        thread.map_or(0, |thread| self.all.open(thread).futex.id.get())
    }

    /// The head of the queue of this kind at a place, by what the words say.
    ///
    /// # Errors
    ///
    /// [`Error::BrokenQueue`]: they name a thread that does not head that queue, or none.
    #[inline(always)]
    pub(super) fn head(
        &self,
        caller: Caller<P>,
        kind: Kind,
        (key, words): (u64, Words),
    ) -> Result<Option<Ref<Thread<P>>>, Error> {
        let id = words.queue();
        if id == 0 {
            return Ok(None);
        }
        match self.headed(caller, kind, (key, id)) {
            Some(head) => Ok(Some(head)),
            None => Err(Error::BrokenQueue),
        }
    }

    /// The thread with this id, if it heads the queue of this kind with this key. In shared memory
    /// its own domain must have the words still: their frame may have become another memory's.
    #[inline(always)]
    fn headed(
        &self,
        caller: Caller<P>,
        kind: Kind,
        (key, id): (u64, u32),
    ) -> Option<Ref<Thread<P>>> {
        let at = self.waiter(caller.key, id)?;
        let thread = self.all.open(at);
        if thread.futex.heads.get() != Some(kind) {
            return None;
        }
        let target = thread.futex.target.get();
        let place = target.place(kind).filter(|place| place.key == key)?;
        if target.scope != caller.scope {
            return None;
        }
        match caller.scope {
            Scope::Domain => (thread.domain.get() == caller.domain).then_some(at),
            Scope::Shared => self.has_still(at, place).then_some(at),
        }
    }

    /// Whether the domain of a thread that waits in shared memory has the words still.
    #[inline(never)]
    fn has_still(&self, thread: Ref<Thread<P>>, place: Place) -> bool {
        self.find_again(thread.domain.get(), Scope::Shared, place).is_some()
    }

    /// The mark of a head goes to `next`, if there is one.
    pub(super) fn succeed(&self, head: Ref<Thread<P>>, next: Option<Ref<Thread<P>>>, kind: Kind) {
        self.all.open(head).futex.heads.set(None);
        if let Some(next) = next {
            self.all.open(next).futex.heads.set(Some(kind));
        }
    }

    /// The calling thread joins the queue of this kind behind its head, or begins one, and blocks.
    #[inline(always)]
    pub(super) fn join(
        &self,
        caller: Caller<P>,
        (kind, target): (Kind, Target),
        head: Option<Ref<Thread<P>>>,
        words: Words,
    ) {
        let me = caller.thread;
        let thread = self.all.open(me);
        thread.futex.target.set(target);
        let id = self.own_id(caller);
        Queue::form(me);
        match head {
            Some(head) => Queue::splice(head, me),
            None => {
                thread.futex.heads.set(Some(kind));
                words.set_queue(id);
            }
        }
        thread.wait_in(State::Waiting);
    }
}
