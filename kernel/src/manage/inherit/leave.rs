//! Leaving the waiters of an inheriting mutex before its turn: on timeout, cancellation, and the
//! end of the thread. O([`LINKS`](super::LINKS)), and it always succeeds.

use crate::access::Ref;
use crate::manage::Manager;
use crate::object::Thread;
use crate::port::Port;
use abi::futex::WAITERS;

impl<P: Port> Manager<'_, P> {
    /// A thread waits no longer, and its owner loses what it has inherited from it.
    pub(crate) fn leave_inheriting(&self, at: Ref<Thread<P>>, mutex: Ref<Thread<P>>) {
        let turnstile = self.turnstile(mutex);
        let words = self.words_that_name(mutex);
        self.change_height(mutex, Some(self.height(at)), None);
        self.waiters().remove(&turnstile.waiters, at);
        self.all.open(at).inherit.waits.set(None);
        self.take_along(at, mutex);
        let owner = turnstile.owner.get();
        let next = turnstile.waiters.get();
        if turnstile.named.get() == Some(at) {
            turnstile.named.set(next);
            if let Some(words) = words {
                words.set_queue(self.id_of(next));
                if next.is_none() {
                    words.set_first(words.first() & !WAITERS);
                }
            }
        }
        let Some(owner) = owner else { return };
        if next.is_none() {
            self.disown(mutex, owner);
        } else {
            self.reorder(mutex);
        }
        self.propagate(owner);
    }
}
