//! Deterministic futexes (S2H): queues of threads that wait for a mutex or a condition in user
//! memory.
//!
//! The words (`words.rs`) belong to programs. The second one names the first waiter; all waiters
//! of a mutex or condition form a ring (`queue.rs`) through links in the threads themselves. A
//! call takes what the words say as a hint, checks it against what the thread that is named waits
//! for, and only then stores. So a program that writes anything there at any time misleads its
//! own threads alone, and every operation is O(1): nothing is searched, counted or allocated.
//!
//! The whole kernel is open in all of this, so no lock guards a queue, and plain stores suffice:
//! programs change the first word of a mutex only while its bit [`WAITERS`] is clear.

pub mod identity;
mod leave;
pub mod queue;
mod requeue;
mod wait;
mod wake;
pub(in crate::manage) mod words;

use crate::access::{Life, Ref};
use crate::hidden::Key;
use crate::manage::Manager;
use crate::object::waiter::Kind;
use crate::object::{Domain, Thread};
use crate::port::{Context, Port};
use abi::call::{Call, RESTARTED, SEND_TIMEOUT_SHIFT, Timeout};
use abi::futex::{SCOPE_SHIFT, Scope, WAITERS};
use abi::trace::Event;
use abi::{Error, Info, Status};

/// Who calls, from which domain, in which scope, and what ids of that are made with.
pub(super) struct Caller<P: Port> {
    pub thread: Ref<Thread<P>>,
    pub domain: Ref<Domain<P>>,
    pub scope: Scope,
    pub key: Key,
}

impl<P: Port> Clone for Caller<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Port> Copy for Caller<P> {}

/// How long a call may block: `None` for ever, else until an instant. 0 is not at all.
pub(super) type Until = Option<u64>;

/// How a call came out.
pub(super) enum Outcome<P: Port> {
    /// As asked, with this result.
    Done(u64),
    /// The calling thread has blocked; the call is done when it goes on.
    Blocked,
    /// As asked, and this thread became ready.
    Woke(Ref<Thread<P>>),
    /// Not yet: an interrupt is pending, and the thread is to issue the call again.
    Preempted,
}

/// What follows from a call for the scheduler.
pub(crate) enum Follows<P: Port> {
    /// The calling thread goes on.
    Nothing,
    /// It has blocked.
    Block,
    /// This thread became ready.
    Wake(Ref<Thread<P>>),
}

/// A call's number and its arguments, as the thread's registers have them.
type Issued = (u64, [u64; 6]);

impl<P: Port> Manager<'_, P> {
    /// Executes the futex call that `me` has issued, and leaves its results.
    #[inline(never)]
    pub(crate) fn futex_call(&self, me: Ref<Thread<P>>, call: Call) -> Follows<P> {
        // Destroyed from another CPU, it leaves this one on its way out: its id is that of its
        // slot's next thread by now.
        if P::SMP && me.life() == Life::Dying {
            return self.restart(me);
        }
        match call {
            Call::MutexWait => self.mutex_wait(me),
            Call::MutexWake => self.mutex_wake(me),
            Call::CondWait => self.condition_wait(me),
            Call::CondRequeue => self.condition_requeue(me),
            _ => self.inherit_call(me, call),
        }
    }

    #[inline(never)]
    fn mutex_wait(&self, me: Ref<Thread<P>>) -> Follows<P> {
        let (caller, (number, args)) = self.issued(me);
        self.settled(me, || {
            let until = until(number, args[2])?;
            self.wait_for(caller, (Kind::Mutex, args[0], 0), args[1], until)
        })
    }

    #[inline(never)]
    fn mutex_wake(&self, me: Ref<Thread<P>>) -> Follows<P> {
        let (caller, (_, args)) = self.issued(me);
        self.settled(me, || self.wake_for_mutex(caller, args[0]))
    }

    #[inline(never)]
    fn condition_wait(&self, me: Ref<Thread<P>>) -> Follows<P> {
        let (caller, (number, args)) = self.issued(me);
        self.settled(me, || {
            let until = until(number, args[3])?;
            self.wait_for(caller, (Kind::Condition, args[0], args[2]), args[1], until)
        })
    }

    #[inline(never)]
    fn condition_requeue(&self, me: Ref<Thread<P>>) -> Follows<P> {
        let (caller, (_, args)) = self.issued(me);
        self.settled(me, || self.requeue_waiters(caller, args[0], args[1]))
    }

    #[inline(never)]
    fn inherit_call(&self, me: Ref<Thread<P>>, call: Call) -> Follows<P> {
        let (caller, (number, args)) = self.issued(me);
        self.settled(me, || self.inherit(caller, (call, number), args))
    }

    /// Who calls, and what.
    #[inline(always)]
    fn issued(&self, me: Ref<Thread<P>>) -> (Caller<P>, Issued) {
        let issued = self.all.open(me).context.call();
        let shared = issued.0 >> SCOPE_SHIFT & 1 != 0;
        let scope = if shared { Scope::Shared } else { Scope::Domain };
        let domain = self.domain_of(me);
        let key = identity::key_of(self.kernel, scope, domain);
        (Caller { thread: me, domain, scope, key }, issued)
    }

    /// Makes the call of `me`, and leaves its results.
    #[inline(always)]
    fn settled(
        &self,
        me: Ref<Thread<P>>,
        call: impl FnOnce() -> Result<Outcome<P>, Error>,
    ) -> Follows<P> {
        let (value, follows) = match call() {
            Ok(Outcome::Done(value)) => (value, Follows::Nothing),
            Ok(Outcome::Woke(owner)) => (0, Follows::Wake(owner)),
            Ok(Outcome::Blocked) => return Follows::Block,
            Ok(Outcome::Preempted) => return self.restart(me),
            Err(error) => return self.refuse(me, error),
        };
        self.all.open(me).context.set_results(Status::OK, value, Info(0));
        follows
    }

    /// The call is restarted: its arguments lie in the context still.
    #[cold]
    #[inline(never)]
    fn restart(&self, me: Ref<Thread<P>>) -> Follows<P> {
        let thread = self.all.open(me);
        let (number, args) = thread.context.call();
        thread.issue_again(number | RESTARTED, args);
        Follows::Nothing
    }

    #[cold]
    #[inline(never)]
    fn refuse(&self, me: Ref<Thread<P>>, error: Error) -> Follows<P> {
        self.cpu.note(Event::Fail, me, error as u32, 0);
        self.all.open(me).context.set_results(Status::failed(error), 0, Info(0));
        Follows::Nothing
    }
}

/// How long a call with this number word and this deadline may block.
pub(in crate::manage) fn until(number: u64, deadline: u64) -> Result<Until, Error> {
    match number >> SEND_TIMEOUT_SHIFT & 3 {
        kind if kind == Timeout::Never as u64 => Ok(None),
        kind if kind == Timeout::Zero as u64 => Ok(Some(0)),
        kind if kind == Timeout::At as u64 => Ok(Some(deadline)),
        _ => Err(Error::InvalidArgument),
    }
}
