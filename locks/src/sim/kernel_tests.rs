//! The toy kernel on simulated CPUs, under every lock policy and many interleavings.

use super::{AtomicU64, Hardware, Order, Yield, run, section};
use crate::lock_policy::Unlocked;
use crate::lock_policy::{Big, Elision, Fine, LockPolicy, Never};
use crate::toy::{Step, Toy, Word, reference};
use crate::{Cause, NoTransactions, Relax};
use core::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64 as Plain, Ordering::SeqCst};

impl Word for AtomicU64 {
    fn new(value: u64) -> AtomicU64 {
        AtomicU64::new(value)
    }
    fn get(&self) -> u64 {
        self.load(Relaxed)
    }
    fn set(&self, value: u64) {
        self.store(value, Relaxed);
    }
}

const SEEDS: u64 = 60;

/// Some steps of a CPU, different for each.
fn plan(cpu: usize, steps: usize) -> Vec<Step> {
    let step = |index: usize| match (cpu + index) % 7 {
        3 => Step::Manage,
        _ => Step::Send { from: (cpu * 3 + index) % 4, endpoint: (cpu + index / 2) % 2 },
    };
    (0..steps).map(step).collect()
}

fn check<G: LockPolicy>(cpus: usize, look: impl Fn(&G::Local) + Sync)
where
    G::Shared: Send,
{
    let plans: Vec<_> = (0..cpus).map(|cpu| plan(cpu, 6)).collect();
    for seed in 0..SEEDS {
        let toy = Toy::<G, AtomicU64>::new(cpus);
        run(cpus, Order::Chance(seed), |cpu| {
            let local = G::local(cpu);
            for &step in &plans[cpu] {
                section(|| toy.step(&local, step));
            }
            look(&local);
        });
        assert_eq!(toy.shown(), reference(plans.iter().flatten()), "seed {seed}");
    }
}

#[test]
fn one_cpu_needs_no_locks() {
    check::<Unlocked>(1, |()| ());
}

#[test]
#[should_panic(expected = "a kernel without locks cannot have 2 CPUs")]
fn two_cpus_need_locks() {
    Toy::<Unlocked, AtomicU64>::new(2);
}

#[test]
#[should_panic(expected = "one CPU waits for itself")]
fn a_lone_cpu_never_waits() {
    Never::relax();
}

/// A lock policy that guards nothing: the tests must notice.
struct Nothing;

impl LockPolicy for Nothing {
    const NAME: &'static str = "nothing";
    const EXCLUSIVE: bool = true;
    const SPECULATIVE: bool = false;
    type Relax = Yield;
    type Shared = ();
    type Local = ();
    type Object = ();
    type CachePadding = ();
    fn shared(_: usize) {}
    fn local(_: usize) {}
    fn is_waited_for(_: &(), _: &()) -> bool {
        false
    }
    fn begin(_: &(), _: &(), _: crate::Kind) -> crate::Handoff {
        crate::Handoff::NONE
    }
    fn end(_: &(), _: &(), _: crate::Kind) {}
}

#[test]
#[should_panic(expected = "two CPUs are at one object")]
fn the_toy_notices_a_missing_lock() {
    check::<Nothing>(2, |()| ());
}

#[test]
fn the_big_lock_makes_sections_exclusive() {
    check::<Big<Yield, 4>>(3, |_| ());
}

#[test]
fn fine_locks_make_messages_and_management_safe() {
    check::<Fine<Yield, 4>>(3, |_| ());
}

#[test]
fn transactions_and_the_lock_never_overlap() {
    let [commits, locked] = [const { Plain::new(0) }; 2];
    check::<Elision<Hardware, Yield, 4>>(3, |seat| {
        commits.fetch_add(seat.counts().commits(), SeqCst);
        locked.fetch_add(seat.counts().fall_backs(), SeqCst);
    });
    assert!(commits.into_inner() > SEEDS * 4, "transactions hardly ever commit");
    assert!(locked.into_inner() > 0, "no section ever fell back: the test does not reach it");
}

#[test]
fn without_transactions_elision_is_the_big_lock() {
    const { assert!(!Elision::<NoTransactions, Yield, 4>::SPECULATIVE) };
    check::<Elision<NoTransactions, Yield, 4>>(3, |seat| {
        let counts = seat.counts();
        let aborts: u64 = Cause::ALL.iter().map(|&cause| counts.aborts(cause)).sum();
        assert_eq!((counts.commits(), counts.fall_backs(), aborts), (0, 0, 0));
    });
}
