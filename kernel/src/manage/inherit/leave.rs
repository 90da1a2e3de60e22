//! Leaving the waiters of an inheriting mutex or condition before its turn, on timeout,
//! cancellation, and the end of the thread; and the end of a wait in a message.
//! It always succeeds. O(1), and what follows is O(1) for each link of a chain, in steps.

use super::chain::Ends;
use super::follow::to_do;
use crate::access::Ref;
use crate::manage::Manager;
use crate::manage::futex::words::Words;
use crate::object::Thread;
use crate::object::inherit::Kind;
use crate::port::Port;
use abi::futex::{HELPERS, WAITERS};

impl<P: Port> Manager<'_, P> {
    /// A thread waits no longer, and those that it has lent its priority to lose that.
    pub(crate) fn leave_inheriting(&self, thread: Ref<Thread<P>>, at: Ref<Thread<P>>) {
        let turnstile = self.turnstile(at);
        let most = self.waiters().first(&turnstile.waiters);
        let most = most.map_or(0, |first| self.waiters().key(first));
        self.leave_turnstile(thread, at, self.words_that_name(at));
        // The thread is to run, which is enough for one section.
        if !self.kernel.variant.tree && turnstile.branches() && turnstile.waiters.get().is_some() {
            self.looks_again(at);
            return self.follow_later(at, to_do::ORDER, most);
        }
        let ends = self.settle(at);
        match self.kernel.trees.may_lend() && turnstile.has_words() {
            true => self.follow_all(ends, most),
            false => self.propagate_to(ends),
        }
    }

    /// A thread is no waiter any more. The turnstile and its words say so, unless a program has
    /// changed these, but what it lends is as before.
    pub(super) fn leave_turnstile(
        &self,
        thread: Ref<Thread<P>>,
        at: Ref<Thread<P>>,
        words: Option<Words>,
    ) {
        let turnstile = self.turnstile(at);
        self.kernel.waits.change();
        self.waiters().remove(&turnstile.waiters, thread);
        self.all.open(thread).inherit.waits.set(None);
        self.take_along(thread, at);
        let next = turnstile.waiters.get();
        if turnstile.named.get() != Some(thread) {
            return;
        }
        turnstile.named.set(next);
        if let Some(words) = words {
            words.set_queue(self.id_of(next));
            if next.is_none() && !turnstile.is_condition() {
                words.set_first(words.first() & !WAITERS);
            }
        }
    }

    /// A waiter has left a turnstile, which lends what the others lend; without any it describes
    /// nothing. Who is to follow that.
    pub(super) fn settle(&self, at: Ref<Thread<P>>) -> Ends<P> {
        let turnstile = self.turnstile(at);
        if turnstile.waiters.get().is_some() {
            if turnstile.is_condition() {
                self.looks_again(at);
            }
            return self.reorder(at);
        }
        let mut ends = [None; HELPERS];
        for (which, _) in turnstile.leads() {
            ends[which.index()] = self.lead_off(at, which);
        }
        self.leave_visit(at);
        if let Kind::Endpoint(endpoint) = turnstile.kind.replace(Kind::Mutex) {
            self.all.open(endpoint).turnstile.set(None);
        }
        ends
    }
}
