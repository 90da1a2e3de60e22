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
use crate::manage::Manager;
use crate::object::waiter::Kind;
use crate::object::{Domain, Thread};
use crate::port::{Context, Port};
use abi::call::{Call, RESTARTED, SEND_TIMEOUT_SHIFT, Timeout};
use abi::futex::{SCOPE_SHIFT, Scope, WAITERS};
use abi::trace::Event;
use abi::{Error, Info, Status};

/// Who calls, from which domain, and in which scope.
pub(super) struct Caller<P: Port> {
    pub thread: Ref<Thread<P>>,
    pub domain: Ref<Domain<P>>,
    pub scope: Scope,
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

impl<P: Port> Manager<'_, P> {
    /// Executes the futex call that `me` has issued, and leaves its results.
    #[inline(never)]
    pub(crate) fn futex_call(&self, me: Ref<Thread<P>>, call: Call) {
        let thread = self.all.open(me);
        let (number, args) = thread.context.call();
        // Destroyed from another CPU, it leaves this one on its way out: its id is that of its
        // slot's next thread by now.
        let is_ending = P::SMP && me.life() == Life::Dying;
        let outcome = match is_ending {
            true => Ok(Outcome::Preempted),
            false => self.futex(me, (call, number), &args),
        };
        let (status, value) = match outcome {
            Ok(Outcome::Done(value)) => (Status::OK, value),
            Ok(Outcome::Woke(owner)) => {
                self.make_ready(owner);
                (Status::OK, 0)
            }
            Ok(Outcome::Blocked) => return self.block(me),
            // The arguments lie in the context still.
            Ok(Outcome::Preempted) => {
                return thread.issue_again(number | RESTARTED, thread.context.call().1);
            }
            Err(error) => {
                self.cpu.note(Event::Fail, me, error as u32, 0);
                (Status::failed(error), 0)
            }
        };
        thread.context.set_results(status, value, Info(0));
    }

    fn futex(
        &self,
        thread: Ref<Thread<P>>,
        (call, number): (Call, u64),
        args: &[u64; 6],
    ) -> Result<Outcome<P>, Error> {
        let shared = number >> SCOPE_SHIFT & 1 != 0;
        let scope = if shared { Scope::Shared } else { Scope::Domain };
        let caller = Caller { thread, domain: self.domain_of(thread), scope };
        match call {
            Call::MutexWake => self.wake_for_mutex(caller, args[0]),
            Call::MutexWait | Call::CondWait => {
                let (kind, deadline) = match call {
                    Call::MutexWait => (Kind::Mutex, args[2]),
                    _ => (Kind::Condition, args[3]),
                };
                let until = until(number, deadline)?;
                self.wait_for(caller, (kind, args[0], args[2]), args[1], until)
            }
            Call::CondRequeue => self.requeue_waiters(caller, args[0], args[1]),
            _ => self.inherit(caller, (call, number), *args),
        }
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
