//! What has run out of time runs on in the background.

use super::reservations::{Tested, limit, reserve, set, set_share};
use crate::support::host::Host;
use crate::support::scene::{
    ATTACHED, FREE, LEAF, NOTIFICATION, ROOT, THREAD, begin_job, boot, receive, system,
};
use abi::call::{Call, Setting};
use abi::reservation::{Share, Timing};
use abi::{Error, Rights};
use kernel::system::Tree;

const MS: u64 = 1_000_000;
const TASK: u32 = 1;
const OWNER: u32 = 2;
const OTHER: u32 = 3;

fn background(slot: u64, [overrun, miss]: [u64; 2]) -> crate::support::context::Regs {
    system(Call::ReservationSet, &[slot, Setting::Background as u64])
        .with_words([overrun, miss, 0, 0])
}

/// The first thread runs on the leaf, and the third one on the lowest priority but one. The second
/// one has made that so.
fn falls(reactions: [u64; 2]) -> Tested {
    let board: Tested = boot::<Tree<Host>>(&[(1, 50), (1, 200), (1, 1)]);
    board.succeeds(OWNER, set_share(LEAF, Share::Priority(60)));
    board.succeeds(OWNER, background(LEAF, reactions));
    board.succeeds(OWNER, reserve(THREAD + u64::from(TASK), LEAF));
    board
}

#[test]
fn without_budget_it_runs_where_the_cpu_would_idle() {
    let board = falls([1, 0]);
    board.succeeds(OWNER, limit(LEAF, 2 * MS, 10 * MS));
    board.does(OWNER, receive(NOTIFICATION));
    assert_eq!(board.running(), Some(TASK));
    board.wait(2 * MS + MS / 10);
    assert_eq!(board.running(), Some(OTHER), "the lowest thread is above it");
    board.does(OTHER, receive(NOTIFICATION + 1));
    assert_eq!(board.running(), Some(TASK), "in the background");
    board.wait(MS);
    // A thread that becomes ready takes the CPU at once, whatever the class of what runs.
    board.does(TASK, system(Call::Signal, &[NOTIFICATION + 1]));
    board.sees(OTHER, Ok(()));
    board.succeeds(OTHER, system(Call::ReservationInspect, &[LEAF]));
    assert!(board.regs.get().badge() > 3 * MS, "it is counted");
    board.wait(7 * MS);
    assert_eq!(board.running(), Some(TASK), "its next budget is whole");
    board.wait(MS + MS / 2);
    assert_eq!(board.running(), Some(TASK));
    board.wait(MS);
    assert_eq!(board.running(), Some(OTHER));
}

#[test]
fn a_late_job_is_below_all_until_it_ends() {
    let board = falls([0, 1]);
    let timing = Timing { deadline: 5 * MS, period: 10 * MS };
    board.succeeds(OWNER, set(LEAF, Setting::Timing, Timing::encode(Some(timing))));
    board.does(OWNER, receive(NOTIFICATION));
    board.does(TASK, begin_job());
    board.wait(4 * MS);
    assert_eq!(board.running(), Some(TASK));
    board.wait(MS + MS / 10);
    assert_eq!(board.running(), Some(OTHER), "no monitor asks, and it is seen at the deadline");
    board.wait(20 * MS);
    board.does(OTHER, receive(NOTIFICATION + 1));
    assert_eq!(board.running(), Some(TASK));
    // Its job ends, and the next one is in time.
    board.does(TASK, receive(ATTACHED));
    assert_eq!(board.running(), None);
}

#[test]
fn a_job_ends_with_its_thread() {
    let board = falls([0, 1]);
    let timing = Timing { deadline: 5 * MS, period: 10 * MS };
    board.succeeds(OWNER, set(LEAF, Setting::Timing, Timing::encode(Some(timing))));
    board.does(OWNER, receive(NOTIFICATION));
    board.does(TASK, begin_job());
    board.wait(6 * MS);
    board.does(OTHER, receive(NOTIFICATION + 1));
    assert_eq!(board.running(), Some(TASK), "late, in the background");
    board.does(TASK, system(Call::Signal, &[NOTIFICATION]));
    board.succeeds(OWNER, system(Call::Destroy, &[THREAD + u64::from(TASK)]));
    board.succeeds(OWNER, system(Call::ReservationInspect, &[LEAF]));
    let [ended, missed, ..] = board.regs.get().words;
    assert_eq!((ended, missed), (1, 1));
    // What runs there next is in time: the owner is above the lowest thread again.
    board.succeeds(OWNER, reserve(THREAD + u64::from(OTHER), LEAF));
    board.succeeds(OWNER, system(Call::Signal, &[NOTIFICATION + 1]));
    board.does(OWNER, receive(NOTIFICATION));
    board.sees(OTHER, Ok(()));
    board.succeeds(OTHER, system(Call::ReservationInspect, &[LEAF]));
    assert_eq!(board.regs.get().words[1], 1, "its job is not late");
}

#[test]
fn its_owner_alone_decides() {
    let board = falls([1, 1]);
    board.fails(OWNER, background(LEAF, [2, 0]), Error::InvalidArgument);
    board.fails(OWNER, background(LEAF, [0, 2]), Error::InvalidArgument);
    board.fails(OWNER, background(ROOT, [1, 0]), Error::WrongState);
    let blind = [LEAF, FREE, u64::from(Rights::RESERVE.0), 0];
    board.succeeds(OWNER, system(Call::CapCopy, &blind));
    board.fails(OWNER, background(FREE, [1, 0]), Error::MissingRight);
}
