//! Locks of objects: their order, their release, and that empty ones vanish.
#![cfg(not(loom))]
#![forbid(unsafe_code)]

use locks::{
    Big, Elision, Fine, Guarding, Handoff, Kind, Line, NoTransactions, ObjectLock, Ordered, Pause,
    Relax, Ticket, Unlocked, settled,
};
use std::cell::{Cell, RefCell};
use std::mem::{replace, size_of};
use std::sync::Mutex;

thread_local! {
    static TAKEN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// A lock that writes down when it is taken.
struct Spy(Mutex<bool>);

impl Spy {
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl ObjectLock for Spy {
    const EMPTY: bool = false;
    fn new() -> Spy {
        Spy(Mutex::new(false))
    }
    fn acquire<R: Relax>(&self) -> Handoff {
        assert!(!replace(&mut *self.0.lock().unwrap(), true), "taken twice");
        TAKEN.with_borrow_mut(|taken| taken.push(self.address()));
        Handoff::NONE
    }
    fn release(&self) {
        assert!(replace(&mut *self.0.lock().unwrap(), false), "released twice");
    }
}

fn taken() -> Vec<usize> {
    TAKEN.take()
}

fn is_free(lock: &Spy) -> bool {
    !*lock.0.lock().unwrap()
}

#[test]
fn locks_are_taken_by_address_and_all_released() {
    let locks = [Spy::new(), Spy::new(), Spy::new()];
    let addresses = [0, 1, 2].map(|index| locks[index].address());
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in orders {
        let held = Ordered::acquire::<Pause>(order.map(|index| &locks[index]));
        assert_eq!(taken(), addresses, "{order:?}");
        drop(held);
        assert!(locks.iter().all(is_free), "{order:?}");
    }
    for [a, b] in [[0, 2], [2, 0]] {
        drop(Ordered::acquire::<Pause>([&locks[a], &locks[b]]));
        assert_eq!(taken(), [addresses[0], addresses[2]]);
    }
    drop(Ordered::acquire::<Pause>([&locks[1]]));
    assert_eq!(taken(), [addresses[1]]);
    for [a, b] in [[1, 2], [2, 1]] {
        drop(Ordered::above::<Pause>(&locks[0], &locks[a], &locks[b]));
        assert_eq!(taken(), addresses);
    }
    assert!(locks.iter().all(is_free));
}

#[test]
#[should_panic(expected = "objects are locked twice, or out of order")]
fn an_object_is_not_locked_twice() {
    let locks = [Spy::new(), Spy::new()];
    drop(Ordered::acquire::<Pause>([&locks[1], &locks[0], &locks[1]]));
}

#[test]
#[should_panic(expected = "objects are locked twice, or out of order")]
fn what_lies_below_must_do_so() {
    let locks = [Spy::new(), Spy::new(), Spy::new()];
    drop(Ordered::above::<Pause>(&locks[1], &locks[0], &locks[2]));
}

#[test]
fn a_plan_that_changes_is_made_again_with_nothing_held() {
    type Kernel = Fine<Pause, 1>;
    let (locks, target) = ([Spy::new(), Spy::new()], Cell::new(0));
    let plans = Cell::new(0);
    let plan = || {
        plans.set(plans.get() + 1);
        target.get()
    };
    let hold = |&index: &usize| {
        assert!(locks.iter().all(is_free), "locks of the old plan are still held");
        let held = Ordered::acquire::<Pause>([&locks[index]]);
        // Another CPU was quicker, once.
        target.set(1);
        held
    };
    let (planned, held) = settled::<Kernel, _, _>(plan, hold);
    assert_eq!((planned, plans.get()), (1, 3));
    assert!(is_free(&locks[0]) && !is_free(&locks[1]));
    drop(held);
}

#[test]
fn an_exclusive_section_plans_once() {
    let plans = Cell::new(0);
    let plan = || plans.replace(plans.get() + 1);
    let (planned, _) = settled::<Unlocked, _, _>(plan, |_| ());
    assert_eq!((planned, plans.get()), (0, 1));
}

/// An object as a kernel has it.
#[expect(dead_code, reason = "it is measured")]
struct Object<G: Guarding> {
    lock: G::Object,
    body: u32,
}

#[test]
fn empty_locks_vanish() {
    const {
        assert!(size_of::<Object<Unlocked>>() == 4);
        assert!(size_of::<Object<Big<Pause, 8>>>() == 4);
        assert!(size_of::<Object<Elision<NoTransactions, Pause, 8>>>() == 4);
        assert!(size_of::<Object<Fine<Pause, 8>>>() == 12);
        assert!(<() as ObjectLock>::EMPTY && !Ticket::EMPTY);
        assert!(size_of::<<Unlocked as Guarding>::Shared>() == 0);
        assert!(size_of::<<Unlocked as Guarding>::Local>() == 0);
    }
    let ((), ()) = (Unlocked::shared(1), Unlocked::local(0));
    let handoff = Unlocked::begin(&(), &(), Kind::Writer);
    assert_eq!((handoff, handoff.last_owner(), handoff.waited()), (Handoff::NONE, None, false));
    Unlocked::end(&(), &(), Kind::Writer);
}

#[test]
fn a_line_is_a_line() {
    let lines = [Line::new(1_u8), Line::new(2)];
    let at = |index: usize| std::ptr::from_ref(&*lines[index]).addr();
    assert_eq!((at(0) % 64, at(1) - at(0)), (0, 64));
}

#[test]
#[should_panic(expected = "has no place for CPU 7")]
fn a_queue_lock_has_as_many_seats_as_nodes_but_one() {
    Big::<Pause, 8>::local(7);
}
