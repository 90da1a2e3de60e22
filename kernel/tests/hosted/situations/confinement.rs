//! What holders of rights to reservations cannot do to others.

use super::reservations::{Tested, create, limit, reserve, set, set_share};
use crate::support::host::Host;
use crate::support::scene::{
    DOMAIN, ENDPOINT, FREE, LEAF, NOTIFICATION, ROOT, THREAD, TIMER, boot, receive, system, timed,
};
use abi::call::{Call, NOTHING, Setting, Timeout};
use abi::reservation::{Budget, Policy, Server, Share, Timing};
use abi::{Error, Info, Rights};
use kernel::port::Port;
use kernel::system::Tree;

const MS: u64 = 1_000_000;

/// A job that begins below what runs is looked at when its deadline is over.
#[test]
fn a_miss_below_what_runs_is_told_in_time() {
    for low in [60, 150] {
        let board: Tested = boot::<Tree<Host>>(&[(1, 50), (1, 200), (1, 100)]);
        board.succeeds(2, set_share(LEAF, Share::Priority(low)));
        let timing = Timing { deadline: 5 * MS, period: 10 * MS };
        board.succeeds(2, set(LEAF, Setting::Timing, Timing::encode(Some(timing))));
        board.succeeds(2, reserve(THREAD + 1, LEAF));
        let monitor = [LEAF, Setting::Monitor as u64, NOTIFICATION + 1];
        let monitor = system(Call::ReservationSet, &monitor).with_words([1, 1, 0, 0]);
        board.succeeds(2, monitor);
        let begin = board.host.now();
        board.succeeds(2, system(Call::TimerSet, &[TIMER, begin + 10 * MS]));
        board.does(2, receive(NOTIFICATION + 1));
        let (nothing, until) = (u64::from(NOTHING), begin + 2 * MS);
        let sleep = timed(nothing, ENDPOINT + 2, Info::new(0, 0), Timeout::At, until);
        let task = receive(NOTIFICATION);
        let calls = if board.running() == Some(3) {
            [(3, sleep), (1, task)]
        } else {
            [(1, task), (3, sleep)]
        };
        calls.into_iter().for_each(|(thread, call)| board.does(thread, call));
        while board.running() != Some(2) && board.host.now() < begin + 100 * MS {
            board.wait(MS / 10);
        }
        let told = board.host.now() - begin;
        assert!((15 * MS..16 * MS).contains(&told), "{low}: told after {told} ns");
    }
}

/// Who is below what runs and watches is told behind it.
#[test]
fn a_miss_waits_for_what_is_above_who_watches() {
    let board: Tested = boot::<Tree<Host>>(&[(1, 50), (1, 200)]);
    board.succeeds(2, create(FREE, ROOT, None, Share::Priority(60)));
    let timing = Timing { deadline: MS, period: 10 * MS };
    board.succeeds(2, set(FREE, Setting::Timing, Timing::encode(Some(timing))));
    board.succeeds(2, reserve(THREAD + 1, FREE));
    board.does(2, receive(NOTIFICATION));
    let monitor = [FREE, Setting::Monitor as u64, NOTIFICATION];
    let monitor = system(Call::ReservationSet, &monitor).with_words([1, 1, 0, 0]);
    board.succeeds(1, monitor);
    assert_eq!(board.running(), Some(1));
    let begin = board.host.now();
    board.succeeds(1, system(Call::TimerSet, &[TIMER, begin + MS / 2]));
    board.wait(MS / 2);
    assert_eq!(board.running(), Some(2));
    for _ in 0..50 {
        board.wait(MS / 10);
    }
    let interrupts = (board.running(), board.host.armed());
    assert_eq!(interrupts, (Some(2), None), "nothing interrupts what is above");
}

/// A leaf in the place of another one has time slices of its own.
#[test]
fn a_leaf_inherits_no_time_slice() {
    let board: Tested = boot::<Tree<Host>>(&[(1, 200), (1, 10), (1, 10)]);
    for round in 0..2 {
        board.succeeds(1, create(FREE, ROOT, None, Share::Priority(100)));
        board.succeeds(1, reserve(THREAD + 3, FREE));
        board.succeeds(1, reserve(THREAD + 2, FREE));
        let end = board.host.now() + 300 * MS;
        board.succeeds(1, system(Call::TimerSet, &[TIMER, end]));
        board.does(1, receive(NOTIFICATION));
        let mut ran = [0_u32; 4];
        while let Some(thread) = board.running().filter(|thread| *thread != 1) {
            ran[thread as usize] += 1;
            board.wait(MS / 10);
        }
        assert!(ran[2].abs_diff(ran[3]) <= 110, "{round}: {ran:?}");
        board.succeeds(1, system(Call::Destroy, &[FREE]));
    }
}

/// Classes of time partitions are limited by the quota of reservations alone.
#[test]
fn classes_of_partitions_take_nothing_from_others() {
    let board: Tested = boot::<Tree<Host>>(&[(1, 200), (2, 210)]);
    let class = |slot| create(slot, ROOT, Some(Policy::Partitions), Share::Priority(1));
    (0..16).for_each(|number| board.succeeds(2, class(FREE + number)));
    board.does(2, receive(NOTIFICATION));
    board.succeeds(1, class(FREE));
}

/// A partition that its holder controls takes no windows, and goes before no other one.
#[test]
fn control_gives_no_windows() {
    let board: Tested = boot::<Tree<Host>>(&[(1, 200), (2, 10)]);
    board.succeeds(1, create(FREE, ROOT, Some(Policy::Partitions), Share::Priority(100)));
    let share = |number, priority| Share::Partition { number, priority };
    board.succeeds(1, create(FREE + 1, FREE, None, share(2, 5)));
    let control = u64::from(Rights::CONTROL.0);
    board.succeeds(1, system(Call::DomainGrant, &[DOMAIN + 1, FREE + 1, FREE, control]));
    board.does(1, receive(NOTIFICATION));
    for taken in [share(1, 5), share(0, 5), share(2, 6)] {
        board.fails(2, set_share(FREE, taken), Error::MissingRight);
    }
    board.succeeds(2, set_share(FREE, share(2, 4)));
}

/// Deadlines and budgets that a holder sets for its own leaf take nothing from its siblings.
#[test]
fn control_gives_no_time_of_siblings() {
    let constant =
        |budget, period| Budget::encode(Some(Budget::new(Server::Constant, budget, period)));
    for attack in [Setting::Timing, Setting::Budget] {
        let board: Tested = boot::<Tree<Host>>(&[(1, 200), (2, 10), (1, 10)]);
        let class = create(FREE, ROOT, Some(Policy::EarliestDeadline), Share::Priority(100));
        board.succeeds(1, class);
        board.succeeds(1, create(FREE + 1, FREE, None, Share::Deadline));
        board.succeeds(1, set(FREE + 1, Setting::Budget, constant(80 * MS, 100 * MS)));
        board.succeeds(1, create(FREE + 2, FREE, None, Share::Deadline));
        if matches!(attack, Setting::Budget) {
            board.succeeds(1, set(FREE + 2, Setting::Budget, constant(MS, 10 * MS)));
        }
        board.succeeds(1, reserve(THREAD + 3, FREE + 1));
        let control = u64::from(Rights::CONTROL.0);
        board.succeeds(1, system(Call::DomainGrant, &[DOMAIN + 1, FREE + 2, FREE, control]));
        board.succeeds(1, reserve(THREAD + 2, FREE + 2));
        board.does(1, receive(NOTIFICATION));
        let mut victim = 0;
        for _ in 0..10_000 {
            match board.running() {
                Some(2) => {
                    let timing = Timing { deadline: MS / 10, period: MS / 10 };
                    let call = match attack {
                        Setting::Timing => set(FREE, attack, Timing::encode(Some(timing))),
                        _ => set(FREE, attack, constant(MS, 10 * MS)),
                    };
                    board.does(2, call);
                }
                running => victim += u32::from(running == Some(3)),
            }
            board.wait(MS / 10);
        }
        assert!(victim >= 7_900, "the victim ran in {victim} of 10,000 steps");
    }
}

/// A domain that has made others is not confined any more, and the root of a CPU not destroyed.
#[test]
fn what_is_out_cannot_be_confined_and_roots_stay() {
    let board: Tested = boot::<Tree<Host>>(&[(1, 200)]);
    let quotas = [0x0001_0000, 0, 0x0028_0000_0000, 0];
    board.succeeds(1, limit(LEAF, MS, 100 * MS));
    board.succeeds(1, system(Call::DomainCreate, &[FREE, 20, 250]).with_words(quotas));
    board.succeeds(1, reserve(FREE, LEAF));
    board.fails(1, system(Call::Destroy, &[ROOT]), Error::WrongKind);
}
