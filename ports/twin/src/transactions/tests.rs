//! CPUs under the elided lock, with nothing but cells.

use super::Refused;
use crate::cpus;
use crate::hardware::Hardware;
use crate::locking::ElidedLock;
use crate::run::{End, Options};
use cells::{Cell, Watcher};
use kernel::locks::{Guarding, Kind};

const ROUNDS: u64 = 200;

/// Lets two CPUs do sections, by seed; how many committed as transactions and how many did not.
fn run(seed: u64, work: fn(&Hardware, &[Cell<u64>; 2])) -> ([u64; 2], &'static Hardware, u64) {
    type State = (<ElidedLock as Guarding>::Shared, [Cell<u64>; 2]);
    let locking = Some(ElidedLock::NAME.to_string());
    let options = Options { locking, seed, chaos: 3, ..Options::default() };
    let hardware: &'static Hardware = Box::leak(Box::new(Hardware::new(&options, 2, &[])));
    let state: &'static State = Box::leak(Box::new((ElidedLock::shared(2), Default::default())));
    let seats: &'static [_; 2] = Box::leak(Box::new([0, 1].map(ElidedLock::local)));
    Hardware::install(Some(hardware));
    cells::watch(Some(hardware as &'static dyn Watcher));
    let cpu = |seat: usize| {
        move || {
            let (lock, cells) = state;
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
    let commits = counts.iter().map(|counts| counts.commits()).sum();
    (state.1.each_ref().map(Cell::get), hardware, commits)
}

#[test]
fn sections_that_meet_are_undone() {
    for seed in 1..20 {
        let (cells, _, commits) = run(seed, |_, [first, second]| {
            first.set(first.get() + 1);
            second.set(second.get() + 1);
        });
        assert_eq!(cells, [2 * ROUNDS; 2], "seed {seed}");
        assert!(commits > 0, "seed {seed}: no transaction commits");
    }
}

#[test]
fn what_is_no_memory_ends_a_transaction() {
    let (cells, hardware, commits) = run(1, |hardware, [first, _]| {
        first.set(first.get() + 1);
        hardware.refuse(Refused::Arm);
    });
    assert_eq!(cells[0], 2 * ROUNDS, "each section took the lock in the end");
    assert_eq!(commits, 0);
    assert!(hardware.refused[Refused::Arm as usize].get() >= 2 * ROUNDS);
}
