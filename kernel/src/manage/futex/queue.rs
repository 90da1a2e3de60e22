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
use crate::list::Ring;
use crate::manage::Manager;
use crate::object::Thread;
use crate::object::thread::{State, Waiting};
use crate::object::waiter::{Kind, Target};
use crate::port::Port;
use abi::Error;
use abi::futex::Scope;

/// The rings.
pub(super) type Queue<P> = Ring<Thread<P>, Waiting>;

impl<P: Port> Manager<'_, P> {
    /// The id of the calling thread in its scope.
    pub(super) fn own_id(&self, caller: Caller<P>) -> u32 {
        identity::id(self.kernel, caller.scope, caller.domain, caller.thread)
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
    #[inline(never)]
    pub(super) fn head(
        &self,
        caller: Caller<P>,
        kind: Kind,
        (key, words): (u64, Words),
    ) -> Result<Option<Ref<Thread<P>>>, Error> {
        match words.queue() {
            0 => Ok(None),
            id => identity::thread(self.kernel, caller.scope, caller.domain, id)
                .filter(|at| self.is_head(caller.scope, *at, kind, key))
                .map(Some)
                .ok_or(Error::BrokenQueue),
        }
    }

    /// Whether a thread heads the queue of this kind with this key. In shared memory its own domain
    /// must have the words still: their frame may have become another memory's.
    fn is_head(&self, scope: Scope, at: Ref<Thread<P>>, kind: Kind, key: u64) -> bool {
        let thread = self.all.open(at);
        let target = thread.futex.target.get();
        if thread.futex.heads.get() != Some(kind) || target.scope != scope {
            return false;
        }
        let Some(place) = target.place(kind).filter(|place| place.key == key) else { return false };
        scope == Scope::Domain || self.find_again(thread.domain.get(), scope, place).is_some()
    }

    /// The mark of a head goes to `next`, if there is one.
    pub(super) fn succeed(&self, head: Ref<Thread<P>>, next: Option<Ref<Thread<P>>>, kind: Kind) {
        self.all.open(head).futex.heads.set(None);
        if let Some(next) = next {
            self.all.open(next).futex.heads.set(Some(kind));
        }
    }

    /// The calling thread joins the queue of this kind behind its head, or begins one, and blocks.
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
        thread.futex.id.set(self.own_id(caller));
        Queue::form(me);
        match head {
            Some(head) => Queue::splice(head, me),
            None => {
                thread.futex.heads.set(Some(kind));
                words.set_queue(thread.futex.id.get());
            }
        }
        thread.wait_in(State::Waiting);
    }
}
