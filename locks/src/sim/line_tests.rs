//! What locks cost in lines moved and accesses made, counted.

use super::{Access, AtomicU32, Event, Hardware, Order, Yield, note, run, section};
use crate::elided::Elided;
use crate::line::Line;
use crate::{Clh, Relax, Ticket};
use core::sync::atomic::Ordering::Relaxed;

/// Lines moved between one release and the next, for each hand-off in which all who are left
/// wait already, and look again before the owner leaves.
fn hand_offs<L: Sync>(
    waiters: usize,
    make: fn() -> L,
    enter: impl Fn(&L, usize, &dyn Fn()) + Sync,
) -> Vec<usize> {
    let (lock, queued) = (make(), Line::new(AtomicU32::new(0)));
    let events = run(waiters + 1, Order::Turns, |cpu| {
        if cpu > 0 {
            queued.store(cpu as u32, Relaxed);
        }
        enter(&lock, cpu, &|| {
            note("entered");
            // The first owner stays until all others wait.
            while cpu == 0 && (queued.load(Relaxed) as usize) < waiters {
                Yield::relax();
            }
            Yield::relax();
            note("leaves");
        });
    });
    let spans = events.split(|event| event.is_note("leaves")).skip(1);
    let hand_offs = spans.filter(|span| span.iter().any(|event| event.is_note("entered")));
    hand_offs.map(|span| span.iter().filter(|event| event.is_transfer()).count()).collect()
}

fn queue_lock(waiters: usize) -> Vec<usize> {
    hand_offs(waiters, Clh::<128>::new, |lock, cpu, inside| {
        let seat = Clh::<128>::seat(cpu);
        lock.acquire::<Yield>(&seat);
        inside();
        lock.release(&seat);
    })
}

fn ticket_lock(waiters: usize) -> Vec<usize> {
    hand_offs(
        waiters,
        || Line::new(Ticket::new()),
        |lock, _, inside| {
            lock.acquire::<Yield>();
            inside();
            lock.release();
        },
    )
}

#[test]
fn a_hand_off_of_the_queue_lock_moves_one_line_however_many_wait() {
    for waiters in [1, 2, 8, 64] {
        assert_eq!(queue_lock(waiters), vec![1; waiters], "{waiters} waiters");
    }
}

#[test]
fn a_release_of_the_ticket_lock_is_seen_by_all_who_wait() {
    // The first owner has lost the line to those who drew their tickets behind it.
    assert_eq!(ticket_lock(8), [9, 7, 6, 5, 4, 3, 2, 1]);
}

/// The kinds of access of one acquisition and release, after `warm` others.
fn accesses(warm: usize, enter: impl Fn() + Sync) -> Vec<Access> {
    let events = run(1, Order::Turns, |_| {
        (0..warm).for_each(|_| enter());
        note("begin");
        enter();
    });
    let begin = events.iter().position(|event| event.is_note("begin")).unwrap();
    let access = |event: &Event| match *event {
        Event::Access(.., access, outcome) => {
            let moved = event.is_transfer();
            assert!(!moved, "a line moves on one CPU: {outcome:?}");
            Some(access)
        }
        Event::Note(..) => None,
    };
    events[begin..].iter().filter_map(access).collect()
}

#[test]
fn an_uncontended_section_is_one_swap_and_three_plain_accesses() {
    use Access::{Load, Store, Swap};
    let lock = Clh::<4>::new();
    let enter = || {
        let seat = Clh::<4>::seat(0);
        lock.acquire::<Yield>(&seat);
        lock.release(&seat);
    };
    assert_eq!(accesses(0, enter), [Store, Swap, Load, Store]);
    let lock = Line::new(Ticket::new());
    let enter = || {
        lock.acquire::<Yield>();
        lock.release();
    };
    assert_eq!(accesses(3, enter), [Swap, Load, Load, Store]);
}

#[test]
fn sections_that_commit_move_nothing_between_cpus() {
    let lock = Elided::<Hardware, 8>::new();
    let events = run(4, Order::Chance(3), |cpu| {
        let (seat, own) =
            (Line::new(Elided::<Hardware, 8>::seat(cpu)), Line::new(AtomicU32::new(0)));
        for _ in 0..5 {
            section(|| {
                lock.begin::<Yield>(&seat);
                own.store(own.load(Relaxed) + 1, Relaxed);
                lock.end(&seat);
            });
        }
        assert_eq!((own.load(Relaxed), seat.counts().commits()), (5, 5));
        assert_eq!(seat.counts().fall_backs(), 0);
    });
    let first = |event: &Event| matches!(event, Event::Access(_, _, Access::Load, _));
    let moved: Vec<_> = events.iter().filter(|event| event.is_transfer()).collect();
    // Each CPU fetches what it reads of the lock once.
    assert!(moved.iter().all(|event| first(event)) && moved.len() <= 3 * 4, "{moved:?}");
}
