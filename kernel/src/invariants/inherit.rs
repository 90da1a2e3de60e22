//! What holds of inheriting mutexes, whatever programs have written there: each thread's effective
//! priority is what follows from who waits for it, and turnstiles are neither lost nor shared.

use super::live;
use crate::access::{Exclusive, Life, Ref};
use crate::events::Machine;
use crate::manage::inherit::LINKS;
use crate::object::inherit::{ByMutex, ByWaiter};
use crate::object::thread::State;
use crate::object::{Activation, Domain, Thread};
use crate::order::Order;
use crate::port::Port;

/// What was counted.
#[derive(Default)]
struct Found {
    waiters: u32,
    turnstiles: u32,
}

pub(super) fn check<P: Port>(machine: Machine<P>, all: &Exclusive<'_>) {
    let threads = &machine.kernel.threads;
    let mut found = Found::default();
    let mut waiting = 0;
    for at in (0..threads.size()).filter_map(|index| threads.get(index)) {
        let thread = all.open(at);
        let waits = thread.inherit.waits.get();
        waiting += u32::from(waits.is_some());
        found.turnstiles += u32::from(waits.is_none());
        if at.life() == Life::Vacant {
            let bare = waits.is_none() && thread.inherit.owned.get().is_none();
            assert!(bare, "a destroyed thread waits for a mutex or owns one");
        }
        if waits.is_none()
            && let Some(spare) = thread.inherit.brings.get()
        {
            let turnstile = &all.open(spare).inherit.turnstile;
            let free = turnstile.owner.get().is_none() && turnstile.waiters.get().is_none();
            assert!(free, "a thread brings a turnstile that is in use");
        }
    }
    for at in live(threads) {
        thread(machine, all, at, &mut found);
    }
    assert!(found.waiters == waiting, "a waiter is in no mutex's set that has an owner");
    assert!(found.turnstiles == threads.size(), "a turnstile is lost, or there twice");
}

fn thread<P: Port>(
    machine: Machine<P>,
    all: &Exclusive<'_>,
    at: Ref<Thread<P>>,
    found: &mut Found,
) {
    let thread = all.open(at);
    let own = thread.base_priority.get().max(thread.inherit.ceiling.get());
    let (mut urgency, height) = (own, thread.inherit.behind.top());
    let mut highest = 0;
    assert!(height <= LINKS, "a chain of waits is too long");
    Order::<_, ByMutex>::of(all).each(&thread.inherit.owned, &mut |mutex: Ref<Thread<P>>| {
        let turnstile = &all.open(mutex).inherit.turnstile;
        assert!(turnstile.owner.get() == Some(at), "a mutex has another owner");
        let mut visits = 0;
        if let Some(visit) = turnstile.visit.get() {
            assert!(all.open(visit).thread.get() == Some(at), "a mutex of another thread's visit");
            all.open(visit).owned.each(|other| visits += u32::from(other == mutex));
        }
        assert!((visits > 0) == turnstile.visit.get().is_some(), "a visit does not know its mutex");
        let mut named = false;
        let (mut greatest, mut count) = (0, 0);
        let waiters = Order::<_, ByWaiter>::of(all);
        waiters.each(&turnstile.waiters, &mut |waiter: Ref<Thread<P>>| {
            let body = all.open(waiter);
            let key = i16::from(waiters.key(waiter));
            count += 1;
            named |= turnstile.named.get() == Some(waiter);
            greatest = key.max(greatest);
            assert!(body.state.get() == State::Waiting, "a ready thread waits for a mutex");
            assert!(body.inherit.waits.get() == Some(mutex), "a waiter of another mutex");
            let visit = visit_to(all, at, body.domain.get());
            let visit = visit.expect("the owner of a mutex has left its domain");
            assert!(visit == turnstile.visit.get(), "a mutex of another visit");
            highest = highest.max(body.inherit.behind.top() + 1);
            let listed = machine.kernel.variant.tree || key == body.priority.get();
            assert!(listed, "a waiter is listed by another priority than it has");
        });
        assert!(named, "a mutex's words were to name a thread that does not wait for it");
        let first = waiters.first(&turnstile.waiters).map(|first| waiters.key(first));
        assert!(first.map(i16::from) == Some(greatest), "a waiter goes before a more urgent one");
        let listed = i16::from(Order::<_, ByMutex>::of(all).key(mutex));
        assert!(
            listed == greatest,
            "a mutex is listed by another priority than its first waiter's"
        );
        urgency = urgency.max(greatest);
        found.waiters += count;
        let mut spare = turnstile.spare.get();
        found.turnstiles += 1;
        while let Some(next) = spare {
            found.turnstiles += 1;
            count -= 1;
            assert!(count > 0, "more spare turnstiles than waiters");
            spare = all.open(next).inherit.turnstile.spare.get();
        }
    });
    assert!(highest == height, "a chain has another length than it says");
    if let Some(mutex) = thread.inherit.waits.get() {
        let key = i16::from(Order::<_, ByWaiter>::of(all).key(at));
        assert!(key == urgency, "a waiter is listed by what it should not have");
        assert!(all.open(mutex).inherit.turnstile.owner.get().is_some(), "a mutex without owner");
    }
    let effective = thread.priority.get() == urgency;
    assert!(effective || machine.kernel.variant.tree, "a thread has not what it inherits");
}

/// The visit on which a thread is in a domain, or comes back to it; the inner none: it is at home
/// there. `None`: neither.
fn visit_to<P: Port>(
    all: &Exclusive<'_>,
    at: Ref<Thread<P>>,
    domain: Ref<Domain<P>>,
) -> Option<Option<Ref<Activation<P>>>> {
    let thread = all.open(at);
    let (mut here, mut inside, mut found) = (thread.domain.get(), thread.inside.get(), None);
    while let Some(visit) = inside {
        if here == domain {
            found = Some(Some(visit));
        }
        here = all.open(visit).from.get()?;
        inside = all.open(visit).outer.get();
    }
    if here == domain { Some(None) } else { found }
}
