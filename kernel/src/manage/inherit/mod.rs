//! Priority inheritance along waits for mutexes and conditions (S2G-01 to S2G-04).
//!
//! A thread's effective priority is the greatest of its own and of the effective priorities of all
//! threads that wait for a mutex that it owns, or for a condition that it helps. Mutexes and
//! conditions of this kind belong to one domain, and what a program says of owners and helpers is
//! believed of threads of that domain alone, once: from the first waiter on the kernel knows them.
//! Across domains threads lend their priorities by messages alone: to threads that serve the
//! endpoint that they send to, and to the one that has received their call.
//!
//! Chains are of any length. A change is followed link by link, and where an interrupt is pending,
//! or another CPU waits, in steps (`follow.rs`) that are taken before the next decision: also that
//! by a timeout, which no program asks for and which could not be asked for again.

mod ceiling;
mod chain;
mod condition;
mod follow;
mod help;
mod leave;
mod lent;
mod message;
mod requeue;
mod search;
mod serve;
mod wait;
mod wake;

pub(crate) use follow::to_do;

use super::Manager;
use super::futex::{Caller, Outcome, identity, until};
use crate::access::Ref;
use crate::object::Thread;
use crate::object::inherit::{ByEdge, ByWaiter, Turnstile};
use crate::order::Order;
use crate::port::Port;
use abi::Error;
use abi::call::Call;
use abi::futex::{Scope, helpers_in};

impl<P: Port> Manager<'_, P> {
    /// Executes a call on an inheriting mutex or condition, or of a server.
    #[inline(never)]
    pub(super) fn inherit(
        &self,
        caller: Caller<P>,
        (call, number): (Call, u64),
        args: [u64; 6],
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
            Call::InheritCondWait => {
                let until = until(number, args[3])?;
                let help = helpers_in([args[4], args[5]]);
                self.wait_for_condition(caller, (args[0], args[2]), (args[1], help), until)
            }
            Call::InheritRequeue => self.requeue_inheriting(caller, args[0], args[1]),
            Call::InheritHelp => self.change_helpers(caller, (args[0], args[1], args[2])),
            Call::Ceiling => self.set_ceiling(caller, args[0]),
            Call::Serve => self.serve(caller, (args[0], args[1])),
            _ => Err(Error::UnknownCall),
        }
    }

    /// Sets of waiters.
    fn waiters(&self) -> Order<'_, Thread<P>, ByWaiter> {
        Order::of(&self.all, ByWaiter)
    }

    /// Sets of turnstiles that lead to a thread by this edge.
    fn lenders(&self, which: ByEdge) -> Order<'_, Thread<P>, ByEdge> {
        Order::of(&self.all, which)
    }

    /// The turnstile in a slot.
    pub(super) fn turnstile(&self, at: Ref<Thread<P>>) -> &Turnstile<P> {
        &self.all.open(at).inherit.turnstile
    }

    /// The id of a thread where it is, in mutexes of that domain.
    fn local_id(&self, thread: Ref<Thread<P>>) -> u32 {
        let number = identity::where_it_is(self.kernel, &self.all, thread);
        identity::id(self.kernel, Scope::Domain, self.domain_of(thread), number)
    }
}
