//! What holds of the queues of mutexes and conditions, whatever programs have written there.

use super::live;
use crate::access::{Exclusive, Ref};
use crate::events::Machine;
use crate::hidden::Key;
use crate::list::{Linked, Ring};
use crate::manage::futex::identity;
use crate::object::Thread;
use crate::object::thread::{State, Waiting};
use crate::object::waiter::{Kind, Target};
use crate::port::Port;
use abi::futex::Scope;

/// Each thread that waits for a mutex is in one ring; each ring has one head, the mark of which
/// says what all members wait for.
pub(super) fn check<P: Port>(machine: Machine<P>, all: &Exclusive<'_>) {
    let threads = &machine.kernel.threads;
    let (mut waiting, mut found) = (0, 0);
    for at in live(threads) {
        let thread = all.open(at);
        let inherits = thread.inherit.waits.get().is_some();
        let kept = thread.inside.get().is_some() && thread.futex.key.get() != Key::NONE;
        assert!(!kept, "an id is kept for the next visit");
        let waits_here = thread.state.get() == State::Waiting;
        let waits = waits_here && !inherits;
        waiting += u32::from(waits);
        let has_id = |at: Ref<Thread<P>>, scope| {
            let number = identity::where_it_is(machine.kernel, all, at);
            let id = identity::id(machine.kernel, scope, at.domain.get(), number);
            let same = all.open(at).futex.id.get() == id;
            assert!(same, "a waiter has the id of another scope or visit");
        };
        // Senders wait in a turnstile, too, and no word names them.
        if waits_here && inherits {
            has_id(at, Scope::Domain);
        }
        let Some(kind) = thread.futex.heads.get() else { continue };
        assert!(waits, "a thread that waits for no mutex heads a queue");
        let (own, domain) = (thread.futex.target.get(), thread.domain.get());
        Ring::<Thread<P>, Waiting>::each(at, |member| {
            found += 1;
            assert!(found <= threads.size(), "a ring of waiters does not come back to its head");
            let body = all.open(member);
            let target = body.futex.target.get();
            assert!(body.state.get() == State::Waiting, "a ready thread is in a ring of waiters");
            let head = body.futex.heads.get().is_some();
            assert!(head == (member == at), "a ring of waiters has two heads");
            assert!(target.scope == own.scope, "waiters of two scopes in one ring");
            let inside = own.scope == Scope::Shared || body.domain.get() == domain;
            assert!(inside, "waiters of two domains in a ring of one");
            let key = |target: &Target, kind| target.place(kind).map(|place| place.key);
            let same = key(&target, kind).is_some() && key(&target, kind) == key(&own, kind);
            assert!(same, "waiters for different words in one ring");
            let mutex = kind == Kind::Mutex || target.mutex.key == own.mutex.key;
            assert!(mutex, "waiters of a condition for different mutexes");
            let links = <Thread<P> as Linked<Waiting>>::links(body);
            assert!(links.linked(), "a waiter is in no ring");
            has_id(member, own.scope);
        });
    }
    assert!(found == waiting, "a waiter is in no ring that has a head");
    let vacant = (0..threads.size()).filter_map(|index| threads.get(index));
    for at in vacant.filter(|at| at.life() == crate::access::Life::Vacant) {
        assert!(all.open(at).futex.heads.get().is_none(), "a destroyed thread heads a queue");
    }
}
