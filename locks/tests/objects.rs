//! Locks of objects: their order, their release, and that empty ones vanish.
#![cfg(not(feature = "loom"))]
#![forbid(unsafe_code)]

use locks::{
    Big, Elision, Fine, Handoff, Holding, Kind, Line, LockPolicy, MOST, NoTransactions, ObjectLock,
    Ordered, PLANS, Pause, Relax, Unlocked,
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
    type Holding<'k> = Ordered<'k, Spy>;
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
fn locks_are_taken_by_address_once_and_all_released() {
    let locks: Vec<Spy> = (0..4).map(|_| Spy::new()).collect();
    let held = Ordered::new(Kind::Reader);
    // All rows of up to five of four locks.
    for row in 0..4_usize.pow(5) {
        for length in 0..=5 {
            let named: Vec<usize> = (0..length).map(|n| row / 4_usize.pow(n) % 4).collect();
            named.iter().for_each(|&index| held.add(&locks[index]));
            held.take::<Pause>();
            let mut expected: Vec<usize> = named.iter().map(|&at| locks[at].address()).collect();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(taken(), expected, "{named:?}");
            held.let_go();
            assert!(locks.iter().all(is_free), "{named:?}");
        }
    }
}

#[test]
#[should_panic(expected = "a section holds more than 6 objects")]
fn a_section_holds_so_many_objects_and_no_more() {
    let locks: Vec<Spy> = (0..=MOST).map(|_| Spy::new()).collect();
    let held = Ordered::new(Kind::Reader);
    locks.iter().for_each(|lock| held.add(lock));
}

/// Adds the lock that a plan names.
fn add_one_of<'k>(locks: &'k [Spy]) -> impl Fn(&Ordered<'k, Spy>, &usize) {
    |held, plan| held.add(&locks[*plan])
}

/// Plans to hold one of these locks, which changes at each of the first `changes` looks. Returns
/// the plan that held, and how often it was looked.
fn planned(locks: &[Spy], changes: u32) -> (Option<usize>, u32) {
    let (held, looks) = (Ordered::new(Kind::Reader), Cell::new(0));
    let look = || {
        assert!(looks.replace(looks.get() + 1) <= 100, "others keep a section planning for ever");
        Some(looks.get().min(changes + 1) as usize % locks.len())
    };
    let plan = held.take_planned::<Pause, _>(look, add_one_of(locks));
    let expected = |index: usize| plan != Some(index);
    assert!(locks.iter().enumerate().all(|(index, lock)| is_free(lock) == expected(index)));
    held.let_go();
    (plan, looks.get())
}

#[test]
fn what_is_planned_is_held_if_it_stands() {
    let locks: Vec<Spy> = (0..3).map(|_| Spy::new()).collect();
    for changes in 0..PLANS {
        let last = (changes + 1) as usize % locks.len();
        assert_eq!(planned(&locks, changes), (Some(last), changes + 2));
        assert_eq!(taken().len() as u32, changes + 1);
    }
    let nothing = || None::<usize>;
    let held = Ordered::<Spy>::new(Kind::Reader);
    assert_eq!(held.take_planned::<Pause, _>(nothing, |_, _| unreachable!("no plan")), None);
}

#[test]
fn a_plan_that_never_stands_is_given_up() {
    let locks: Vec<Spy> = (0..3).map(|_| Spy::new()).collect();
    for changes in [PLANS, PLANS + 1, u32::MAX - 1] {
        assert_eq!(planned(&locks, changes), (None, PLANS + 1));
        assert_eq!(taken().len() as u32, PLANS);
        assert!(locks.iter().all(is_free));
    }
}

/// An object as a kernel has it.
#[expect(dead_code, reason = "it is measured")]
struct Object<G: LockPolicy> {
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
        assert!(size_of::<<() as ObjectLock>::Holding<'static>>() == 0);
        assert!(size_of::<<Unlocked as LockPolicy>::Shared>() == 0);
        assert!(size_of::<<Unlocked as LockPolicy>::Local>() == 0);
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
