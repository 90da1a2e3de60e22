//! The ceiling of a thread: the priority that it has at least while it owns mutexes with ceilings
//! (priority ceiling protocol, immediate form). The mutexes are plain ones; what counts here is
//! the greatest ceiling of those that the thread owns, which it says itself.

use crate::manage::Manager;
use crate::manage::create::checked_priority;
use crate::manage::futex::{Caller, Outcome};
use crate::object::inherit::NO_CEILING;
use crate::port::Port;
use abi::Error;
use abi::futex;

impl<P: Port> Manager<'_, P> {
    /// The calling thread has at least this priority from now on. It waits for nothing, so no other
    /// thread's priority follows: O(1). The result is its own priority: a thread above a mutex's
    /// ceiling must not use that.
    ///
    /// # Errors
    ///
    /// [`Error::WrongState`]: the thread is inside another domain, whose code has no say in this.
    /// [`Error::PriorityTooHigh`]: its domain may not have this priority.
    /// [`Error::OnReservation`]: it would have a higher ceiling, and has a reservation of its own,
    /// also one that is gone: no priority says when it runs. A lower one is no error: what the
    /// thread owns it had before it came there. On a caller's reservation a ceiling is kept, and
    /// counts behind the answer: no caller decides which mutexes a server gets.
    pub(super) fn set_ceiling(&self, caller: Caller<P>, word: u64) -> Result<Outcome<P>, Error> {
        let me = caller.thread;
        let thread = self.all.open(me);
        if self.home_of(me) != caller.domain {
            return Err(Error::WrongState);
        }
        let ceiling = match word {
            futex::NO_CEILING => NO_CEILING,
            _ => checked_priority(word, self.all.open(caller.domain).max_priority.get())?.into(),
        };
        let before = thread.inherit.ceiling.get();
        let reserved = self.kernel.variant.tree && !thread.reservation.get(&self.all).is_none();
        if ceiling > before && reserved {
            return Err(Error::OnReservation);
        }
        if before != ceiling {
            if self.makes_room() {
                return Ok(Outcome::Preempted);
            }
            thread.inherit.ceiling.set(ceiling);
            self.know_own_priority(me);
            match self.kernel.variant.tree {
                true => self.move_donation(me),
                false => _ = self.apply_priority(me, self.urgency(me)),
            }
        }
        Ok(Outcome::Done(u64::from(thread.base_priority.get().max(0).unsigned_abs())))
    }
}
