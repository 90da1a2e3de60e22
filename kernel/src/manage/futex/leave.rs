//! Leaving a queue before its turn: `DEQUEUE` on timeout, cancellation, and the end of a thread or
//! of its domain (S2H-17). O(1), and it always succeeds, whatever has become of the words.

use super::WAITERS;
use super::queue::Queue;
use super::words::Words;
use crate::access::Ref;
use crate::manage::Manager;
use crate::object::Thread;
use crate::object::waiter::Kind;
use crate::port::Port;

impl<P: Port> Manager<'_, P> {
    /// A thread that waits for a mutex or condition leaves the queue. If it heads it, the next one
    /// does so from now on. The words are set only where they name the thread that leaves: else a
    /// program has changed them, and they may belong to another queue.
    pub(crate) fn leave_queue(&self, thread: Ref<Thread<P>>) {
        let next = Queue::leave(thread);
        let Some(kind) = self.all.open(thread).futex.heads.get() else { return };
        self.succeed(thread, next, kind);
        let words = self.words_of(thread, kind);
        let Some(words) = words.or_else(|| self.words_of(next?, kind)) else { return };
        if words.queue() != self.id_of(Some(thread)) {
            return;
        }
        words.set_queue(self.id_of(next));
        let state = words.first();
        if next.is_none() && kind == Kind::Mutex && state & WAITERS != 0 {
            words.set_first(state & !WAITERS);
        }
    }

    /// The words of the queue that a thread is in, if its domain still has them.
    fn words_of(&self, at: Ref<Thread<P>>, kind: Kind) -> Option<Words> {
        let thread = self.all.open(at);
        let target = thread.futex.target.get();
        self.find_again(thread.domain.get(), target.scope, target.place(kind)?)
    }
}
