//! Queue, ticket and big-reader locks on simulated CPUs: order, and that nothing is lost.

use super::{Access, AtomicU32, Event, Order, Yield, lines::Outcome, note, run};
use crate::line::Line;
use crate::{BigReader, Clh, Relax, Ticket};
use core::sync::atomic::Ordering::Relaxed;

const SEEDS: u64 = 60;

fn add(data: &AtomicU32) {
    let before = data.load(Relaxed);
    data.store(before + 1, Relaxed);
}

/// The line that CPUs queue up at is the only one that they swap.
fn arrivals(events: &[Event]) -> Vec<usize> {
    let arrival = |event: &Event| match *event {
        Event::Access(cpu, _, Access::Swap, _) => Some(cpu),
        _ => None,
    };
    events.iter().filter_map(arrival).collect()
}

fn entries(events: &[Event]) -> Vec<usize> {
    let entry = |event: &Event| match *event {
        Event::Note(cpu, "entered") => Some(cpu),
        _ => None,
    };
    events.iter().filter_map(entry).collect()
}

#[test]
fn the_queue_lock_is_exclusive_and_first_in_first_out() {
    for seed in 0..SEEDS {
        let (lock, data) = (Clh::<8>::new(), Line::new(AtomicU32::new(0)));
        let events = run(5, Order::Chance(seed), |cpu| {
            let seat = Clh::<8>::seat(cpu);
            for _ in 0..4 {
                lock.acquire::<Yield>(&seat);
                note("entered");
                add(&data);
                lock.release(&seat);
            }
        });
        assert_eq!(data.load(Relaxed), 20, "seed {seed}");
        assert_eq!(entries(&events).len(), 20);
        assert_eq!(entries(&events), arrivals(&events), "seed {seed}");
        assert!(!lock.is_held());
    }
}

#[test]
fn the_queue_lock_tells_from_whom_it_comes() {
    for seed in 0..SEEDS {
        let (lock, last) = (Clh::<4>::new(), Line::new(AtomicU32::new(99)));
        run(3, Order::Chance(seed), |cpu| {
            let seat = Clh::<4>::seat(cpu);
            for _ in 0..4 {
                let handoff = lock.acquire::<Yield>(&seat);
                let expected = last.load(Relaxed) as usize;
                assert_eq!(handoff.last_owner().unwrap_or(99), expected, "seed {seed}");
                assert_eq!(handoff.is_from(cpu), expected == cpu);
                last.store(cpu as u32, Relaxed);
                lock.release(&seat);
            }
        });
    }
}

#[test]
fn the_ticket_lock_is_exclusive_and_first_in_first_out() {
    for seed in 0..SEEDS {
        let (lock, data) = (Line::new(Ticket::new()), Line::new(AtomicU32::new(0)));
        let events = run(5, Order::Chance(seed), |_| {
            for _ in 0..4 {
                lock.acquire::<Yield>();
                note("entered");
                add(&data);
                lock.release();
            }
        });
        assert_eq!(data.load(Relaxed), 20, "seed {seed}");
        assert_eq!(entries(&events), arrivals(&events), "seed {seed}");
        assert!(!lock.is_held());
    }
}

#[test]
fn tickets_wrap() {
    let lock = Ticket::nearly_worn_out();
    let data = Line::new(AtomicU32::new(0));
    run(3, Order::Chance(1), |_| {
        for _ in 0..3 {
            lock.acquire::<Yield>();
            add(&data);
            lock.release();
        }
    });
    assert_eq!(data.load(Relaxed), 9);
}

#[test]
fn a_writer_excludes_everybody() {
    for seed in 0..SEEDS {
        let lock = BigReader::<4>::new(4);
        let [a, b] = [0; 2].map(|value| Line::new(AtomicU32::new(value)));
        run(4, Order::Chance(seed), |cpu| {
            for round in 0..4 {
                if (cpu + round) % 3 == 0 {
                    lock.write::<Yield>();
                    add(&a);
                    add(&b);
                    lock.write_end();
                } else {
                    lock.read::<Yield>(cpu);
                    assert_eq!(a.load(Relaxed), b.load(Relaxed), "seed {seed}");
                    lock.read_end(cpu);
                }
            }
        });
        let writes = (0..16).filter(|index| (index / 4 + index % 4) % 3 == 0).count();
        assert_eq!((a.load(Relaxed), b.load(Relaxed)), (writes as u32, writes as u32));
    }
}

#[test]
fn readers_run_together() {
    let (lock, inside) = (BigReader::<2>::new(2), Line::new(AtomicU32::new(0)));
    run(2, Order::Turns, |cpu| {
        lock.read::<Yield>(cpu);
        add(&inside);
        while inside.load(Relaxed) < 2 {
            Yield::relax();
        }
        lock.read_end(cpu);
    });
}

#[test]
fn a_reader_touches_nothing_but_its_own_line() {
    let lock = BigReader::<4>::new(4);
    let events = run(4, Order::Chance(5), |cpu| {
        for _ in 0..3 {
            lock.read::<Yield>(cpu);
            lock.read_end(cpu);
        }
    });
    let lines = |cpu: usize| {
        let line = move |event: &Event| match *event {
            Event::Access(by, line, ..) if by == cpu => Some(line),
            _ => None,
        };
        let mut lines: Vec<_> = events.iter().filter_map(line).collect();
        lines.dedup();
        lines
    };
    let all: Vec<_> = (0..4).map(lines).collect();
    assert!(all.iter().all(|lines| lines.len() == 1), "{all:?}");
    let mut different = all.concat();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 4);
    let moves = |event: &Event| matches!(event, Event::Access(.., Outcome::Transfer));
    assert!(!events.iter().any(moves));
}
