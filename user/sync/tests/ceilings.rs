//! What a thread tells the kernel about the ceilings of the mutexes that it owns.

use rt::abi::call::Call;
use rt::abi::futex::NO_CEILING;
use rt::arch::{self, Machine, Outcome};
use rt::futex::Scope;
use rt::{Error, Info, Rights, Status, Words};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use sync::{CeilingGuard, CeilingMutex, Ceilings, ThreadId};

const BASE: u64 = 0x1_0000;
/// The thread's own priority, and the greatest one of its domain.
const OWN: u64 = 10;
const HIGHEST: u64 = 100;

/// Some memory, and a kernel that knows ceilings.
struct Kernel {
    memory: [AtomicU64; 16],
    ceiling: AtomicU64,
}

impl Machine for Kernel {
    fn call(&self, number: u64, a: [u64; 6], _: [u64; 4]) -> Outcome {
        let mut status = Status::OK;
        if number & 0xff == Call::Ceiling as u64 {
            match a[0] == NO_CEILING || a[0] <= HIGHEST {
                true => self.ceiling.store(a[0], Relaxed),
                false => status = Status::failed(Error::PriorityTooHigh),
            }
        }
        Outcome { status, badge: OWN, info: Info(0), words: [1; 4] }
    }

    fn reach(&self, address: u64, _: Rights, _: bool) -> Option<&'static AtomicU64> {
        let machine: &'static Kernel = &KERNEL;
        machine.memory.get((address.checked_sub(BASE)? / 8) as usize)
    }
}

static KERNEL: Kernel =
    Kernel { memory: [const { AtomicU64::new(0) }; 16], ceiling: AtomicU64::new(NO_CEILING) };

fn told() -> u64 {
    KERNEL.ceiling.load(Relaxed)
}

/// Each order of these.
fn orders(of: &[usize]) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let first = |at: usize| {
        let rest: Vec<usize> = of.iter().copied().filter(|other| *other != of[at]).collect();
        orders(&rest).into_iter().map(move |tail| [vec![of[at]], tail].concat())
    };
    (0..of.len()).flat_map(first).collect()
}

/// Locks mutexes of these ceilings, and unlocks them in this order. Each time the kernel goes by
/// the highest of those that are owned.
fn plays(ceilings: &Ceilings, heights: &[u64], unlocked: &[usize]) {
    let words: Words = arch::buffer(BASE).0;
    let place = |at: usize| words.part(at, 1);
    let mutexes: Vec<CeilingMutex> = (0..heights.len())
        .map(|at| CeilingMutex::new(place(at), heights[at] as u8, Scope::Domain))
        .collect();
    let mut guards: Vec<Option<CeilingGuard>> = Vec::new();
    let held = |guards: &[Option<CeilingGuard>]| {
        let of = |(at, guard): (usize, &Option<CeilingGuard>)| guard.as_ref().map(|_| heights[at]);
        guards.iter().enumerate().filter_map(of).max().unwrap_or(NO_CEILING)
    };
    for mutex in &mutexes {
        guards.push(Some(mutex.lock(ceilings).expect("it is free")));
        assert_eq!(told(), held(&guards), "{heights:?} are locked");
    }
    for at in unlocked {
        guards[*at] = None;
        assert_eq!(told(), held(&guards), "of {heights:?} {unlocked:?} are unlocked");
    }
    drop(guards);
    assert_eq!(told(), NO_CEILING);
}

/// One test, since there is one kernel.
#[test]
fn the_highest_that_is_owned_counts() {
    arch::install(Some(&KERNEL));
    let ceilings = Ceilings::of(ThreadId::current());
    // Heights in each order of locking, equals among them, and each order of unlocking.
    for order in orders(&[0, 1, 2, 3]) {
        for unlocked in orders(&[0, 1, 2, 3]) {
            for heights in [[20, 30, 40, 50], [20, 20, 30, 30]] {
                plays(
                    &ceilings,
                    &order.iter().map(|at| heights[*at]).collect::<Vec<_>>(),
                    &unlocked,
                );
            }
        }
    }
    // As many as there may be: the highest one at each place, and the lowest one.
    let most = Ceilings::MOST;
    for place in 0..most {
        for other in [15, 90] {
            let mut heights: Vec<u64> = (0..most as u64).map(|at| 20 + at).collect();
            heights[place] = other;
            let forwards: Vec<usize> = (0..most).collect();
            plays(&ceilings, &heights, &forwards);
            plays(&ceilings, &heights, &forwards.iter().rev().copied().collect::<Vec<_>>());
        }
    }
    // What is refused changes nothing, whatever is owned.
    let words: Words = arch::buffer(BASE).0;
    let of = |at: usize, height: u8| CeilingMutex::new(words.part(at, 1), height, Scope::Domain);
    let (one, low, high) = (of(0, 40), of(1, OWN as u8 - 1), of(2, HIGHEST as u8 + 1));
    for owned in [false, true] {
        let guard = owned.then(|| one.lock(&ceilings).expect("it is free"));
        let before = told();
        assert_eq!(before, if owned { 40 } else { NO_CEILING });
        for refused in [&low, &high] {
            let error = refused.lock(&ceilings).map(drop).expect_err("a ceiling that does not fit");
            assert_eq!((error, told()), (Error::PriorityTooHigh, before), "{owned}");
        }
        drop(guard);
    }
    assert!(KERNEL.memory.iter().all(|word| word.load(Relaxed) == 0), "all are free");
    arch::install(None);
}
