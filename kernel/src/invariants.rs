//! Kernel invariants, for tests: what holds between any two entries.

use crate::access::{Life, Ref, Whole};
use crate::entry::Machine;
use crate::list::{Linked, List};
use crate::object::thread::{State, Wait, Waiting};
use crate::object::{Domain, Endpoint, Object, Thread};
use crate::pool::Pool;
use crate::port::Port;
use abi::object::Resource;
use core::cell::Cell;

/// Checks every invariant and panics with the first that does not hold.
pub fn check<P: Port>(machine: Machine<P>, whole: &Whole<'_>) {
    let checker = Checker { machine, whole };
    checker.threads();
    checker.ready_queue();
    checker.queues();
    checker.quotas();
}

struct Checker<'a, 's, P: Port> {
    machine: Machine<P>,
    whole: &'a Whole<'s>,
}

fn live<T>(pool: &'static Pool<T>) -> impl Iterator<Item = Ref<T>> {
    (0..pool.size())
        .filter_map(|index| pool.get(index))
        .filter(|object| object.life() != Life::Vacant)
}

impl<P: Port> Checker<'_, '_, P> {
    fn threads(&self) {
        for at in live(&self.machine.kernel.threads) {
            let thread = self.whole.open(at);
            if let Some(caller) = thread.caller.get() {
                let caller = self.whole.open(caller);
                assert!(caller.state.get() == State::Calling, "a caller that does not call");
                assert!(caller.server.get() == Some(at), "a caller that has another server");
            }
            if thread.state.get() == State::Calling
                && let Some(server) = thread.server.get()
            {
                let right = self.whole.open(server).caller.get();
                assert!(right == Some(at), "a server without its caller's reply right");
            }
            let waits = Linked::<Waiting>::links(thread).linked();
            match (thread.state.get(), thread.wait.get()) {
                (State::Ready | State::Calling, _) => {
                    assert!(!waits, "a thread that does not wait is in a wait queue");
                }
                (State::Receiving, Wait::Nothing) => assert!(!waits, "a sleeper is in a queue"),
                _ => assert!(waits, "a waiting thread is in no queue"),
            }
            let deadline = thread.has(crate::object::thread::attention::DEADLINE);
            assert!(deadline == thread.place.is_set(), "a deadline and its mark differ");
            assert!(!deadline || thread.state.get() != State::Ready, "a ready thread times out");
        }
    }

    fn ready_queue(&self) {
        let cpu = self.machine.cpu;
        cpu.ready.each(|level, at| {
            let thread = self.whole.open(at);
            assert!(thread.priority.get() == i16::from(level), "queued at another priority");
            assert!(at.life() == Life::Live, "a destroyed thread is queued");
        });
        for at in live(&self.machine.kernel.threads) {
            let thread = self.whole.open(at);
            let accounted = thread.queued() || at == cpu.current.get() || at == cpu.idle;
            assert!(accounted || !thread.runnable(), "a runnable thread is not queued");
        }
    }

    fn queues(&self) {
        for at in live(&self.machine.kernel.endpoints) {
            let endpoint: &Endpoint<P> = self.whole.open(at);
            self.members(&endpoint.senders, State::Sending);
            self.members(&endpoint.receivers, State::Receiving);
            let one = endpoint.senders.is_empty() || endpoint.receivers.is_empty();
            assert!(one, "senders and receivers wait on one endpoint");
        }
        for at in live(&self.machine.kernel.notifications) {
            let notification = self.whole.open(at);
            self.members(&notification.receivers, State::Receiving);
            let idle = notification.bits.get() == 0 || notification.receivers.is_empty();
            assert!(idle, "signals are pending while a receiver waits");
        }
    }

    fn members(&self, list: &List<Thread<P>, Waiting>, state: State) {
        list.each(|member| {
            assert!(self.whole.open(member).state.get() == state, "a member in another state");
        });
    }

    fn quotas(&self) {
        let kernel = self.machine.kernel;
        for at in live(&kernel.domains) {
            let quotas = &self.whole.open(at).quotas;
            for resource in Resource::ALL {
                let fits = quotas.used(resource) <= quotas.limit(resource);
                assert!(fits, "a domain uses more than its quota");
            }
            self.charged(&kernel.endpoints, at);
            self.charged(&kernel.notifications, at);
            self.charged(&kernel.threads, at);
            self.charged(&kernel.mappings, at);
        }
    }

    /// What a domain is charged for is what it owns, plus what it gave to domains inside it.
    fn charged<T: Object<P>>(&self, pool: &'static Pool<T>, domain: Ref<Domain<P>>) {
        let own = |owner: &Cell<Option<Ref<Domain<P>>>>| owner.get() == Some(domain);
        let owned = live(pool).filter(|at| own(self.whole.open(*at).owner())).count() as u32;
        let given: u32 = live(&self.machine.kernel.domains)
            .map(|at| self.whole.open(at))
            .filter(|inner| own(inner.owner()))
            .map(|inner| inner.quotas.limit(T::RESOURCE))
            .sum();
        let used = self.whole.open(domain).quotas.used(T::RESOURCE);
        assert!(used == owned + given, "a charge differs from what is owned");
    }
}
