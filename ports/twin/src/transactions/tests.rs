//! CPUs under the elided lock, with nothing but cells.

use super::Refused;
use crate::cpus;
use crate::hardware::Hardware;
use crate::locking::ElidedLock;
use crate::run::{End, Options};
use cells::{Cell, Watcher};
use kernel::locks::{ATTEMPTS, Cause, Kind, LockPolicy};
use std::cell::RefCell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

const ROUNDS: u64 = 200;

/// What is left of a run.
struct Ran {
    cells: [u64; 2],
    hardware: &'static Hardware,
    commits: u64,
    fall_backs: u64,
    aborts: u64,
}

/// Lets two CPUs do sections, by seed.
fn run(seed: u64, work: impl Fn(&Hardware, &[Cell<u64>; 2]) + Copy + 'static) -> Ran {
    // Which cells share a line decides who undoes whom: always the same ones.
    #[repr(align(4096))]
    struct State {
        lock: <ElidedLock as LockPolicy>::Shared,
        cells: [Cell<u64>; 2],
        seats: [<ElidedLock as LockPolicy>::Local; 2],
    }
    let locking = Some(ElidedLock::NAME.to_string());
    let options = Options { locking, seed, chaos: 3, ..Options::default() };
    let hardware: &'static Hardware =
        Box::leak(Box::new(Hardware::new(&options, 2, &[], None, None)));
    let (lock, cells) = (ElidedLock::shared(2), Default::default());
    let state = State { lock, cells, seats: [0, 1].map(ElidedLock::local) };
    let State { lock, cells, seats } = Box::leak(Box::new(state));
    let (lock, cells, seats) = (&*lock, &*cells, &*seats);
    Hardware::install(Some(hardware));
    cells::watch(Some(hardware as &'static dyn Watcher));
    let cpu = |seat: usize| {
        move || {
            for _ in 0..ROUNDS {
                hardware.here().inside.set(true);
                cpus::section(hardware, || {
                    ElidedLock::begin(lock, &seats[seat], Kind::Reader);
                    work(hardware, cells);
                    ElidedLock::end(lock, &seats[seat], Kind::Reader);
                });
                hardware.here().inside.set(false);
                hardware.turn();
            }
            hardware.here().inside.set(false);
            // The first to arrive waits for the other, which ends the run.
            match hardware.entries.replace(hardware.entries.get() + 1) {
                0 => loop {
                    hardware.stand(crate::order::NEVER, crate::processor::Stance::Free);
                },
                _ => End::Done(0),
            }
        }
    };
    assert_eq!(cpus::run(hardware, [0, 1].map(cpu).into_iter()), End::Done(0));
    cells::watch(None);
    Hardware::install(None);
    let counts = seats.each_ref().map(|seat| seat.counts());
    Ran {
        cells: cells.each_ref().map(Cell::get),
        hardware,
        commits: counts.iter().map(|counts| counts.commits()).sum(),
        fall_backs: counts.iter().map(|counts| counts.fall_backs()).sum(),
        aborts: counts.iter().flat_map(|counts| Cause::ALL.map(|cause| counts.aborts(cause))).sum(),
    }
}

/// The CPUs as they take turns in the first sections.
fn turns(seed: u64) -> Vec<u32> {
    let turns: &'static RefCell<Vec<u32>> = Box::leak(Box::default());
    run(seed, move |hardware, [first, second]| {
        turns.borrow_mut().push(hardware.here().number);
        first.set(first.get() + 1);
        second.set(second.get() + 1);
    });
    turns.take()
}

#[test]
fn a_seed_gives_one_order_of_cpus_and_another_seed_another() {
    let first = turns(1);
    assert!(first.len() as u64 >= 2 * ROUNDS);
    assert_eq!(first, turns(1));
    for seed in 2..6 {
        assert_ne!(first, turns(seed), "seed {seed}");
    }
}

#[test]
fn sections_that_meet_are_undone() {
    for seed in 1..20 {
        let ran = run(seed, |_, [first, second]| {
            first.set(first.get() + 1);
            second.set(second.get() + 1);
        });
        assert_eq!(ran.cells, [2 * ROUNDS; 2], "seed {seed}");
        assert!(ran.commits > 0, "seed {seed}: no transaction commits");
        assert_eq!(ran.commits + ran.fall_backs, 2 * ROUNDS, "seed {seed}");
    }
}

#[test]
fn what_is_no_memory_ends_a_transaction() {
    let ran = run(1, |hardware, [first, _]| {
        first.set(first.get() + 1);
        hardware.refuse(Refused::Arm);
    });
    assert_eq!(ran.cells[0], 2 * ROUNDS, "each section took the lock in the end");
    assert_eq!((ran.commits, ran.fall_backs), (0, 2 * ROUNDS));
    // Each attempt counts once, though a section that begins anew goes through all of them.
    assert_eq!(ran.aborts, 2 * ROUNDS * u64::from(ATTEMPTS));
    assert!(ran.hardware.refused[Refused::Arm as usize].get() >= 2 * ROUNDS);
}

#[test]
fn words_of_the_trace_are_undone() {
    let mut aborts = 0;
    for seed in 1..20 {
        let word: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
        let ran = run(seed, move |hardware, [first, second]| {
            first.set(first.get() + 1);
            hardware.remember(word);
            word.store(word.load(Relaxed) + 1, Relaxed);
            second.set(second.get() + 1);
        });
        assert_eq!(word.load(Relaxed), 2 * ROUNDS, "seed {seed}");
        aborts += ran.aborts;
    }
    assert!(aborts > 0, "no transaction was undone");
}
