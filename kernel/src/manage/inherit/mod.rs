//! Priority inheritance along waits for mutexes (S2G-01, S2G-03, S2G-04).
//!
//! A thread's effective priority is the greatest of its own and of the effective priorities of all
//! threads that wait for a mutex that it owns. Mutexes of this kind belong to one domain, so chains
//! stay within one, and what the words say of an owner is believed of threads of that domain alone,
//! once: from the first waiter on the kernel knows the owner.
//!
//! A chain has at most [`LINKS`] links, so each change is followed to its end at once: also that by
//! a timeout, which no program asks for and which could not be asked for again.

mod ceiling;
mod chain;
mod leave;
mod wait;
mod wake;

use super::Manager;
use super::futex::{Caller, Outcome, identity, until};
use crate::access::Ref;
use crate::object::Thread;
use crate::object::inherit::{ByMutex, ByWaiter, Turnstile};
use crate::order::Order;
use crate::port::Port;
use abi::Error;
use abi::call::Call;
use abi::futex::Scope;

pub use crate::object::inherit::LINKS;

impl<P: Port> Manager<'_, P> {
    /// Executes a call on an inheriting mutex.
    #[inline(never)]
    pub(super) fn inherit(
        &self,
        caller: Caller<P>,
        (call, number): (Call, u64),
        args: [u64; 3],
    ) -> Result<Outcome<P>, Error> {
        if caller.scope != Scope::Domain {
            return Err(Error::InvalidArgument);
        }
        match call {
            Call::InheritWait => {
                let until = until(number, args[2])?;
                self.wait_inheriting(caller, args[0], args[1], until)
            }
            Call::InheritWake => self.wake_inheriting(caller, args[0]),
            Call::Ceiling => self.set_ceiling(caller, args[0]),
            _ => Err(Error::UnknownCall),
        }
    }

    /// Sets of waiters.
    fn waiters(&self) -> Order<'_, Thread<P>, ByWaiter> {
        Order::of(&self.all)
    }

    /// Sets of mutexes.
    fn mutexes(&self) -> Order<'_, Thread<P>, ByMutex> {
        Order::of(&self.all)
    }

    /// The turnstile in a slot.
    fn turnstile(&self, at: Ref<Thread<P>>) -> &Turnstile<P> {
        &self.all.open(at).inherit.turnstile
    }

    /// The id of a thread in mutexes of its domain.
    fn local_id(&self, thread: Ref<Thread<P>>) -> u32 {
        identity::id(self.kernel, Scope::Domain, self.domain_of(thread), thread)
    }
}
