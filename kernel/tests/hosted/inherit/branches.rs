//! Leaves along many branches of waits and calls, where a tree orders threads: all threads follow.

use super::{cond_wait, effective, id, reference, sleep};
use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::host::Host;
use crate::support::scene::{ENDPOINT, LEAF, THREAD, boot, call, receive, system};
use abi::call::Call;
use abi::futex::HELPERS;
use abi::reservation::Inheritance;
use abi::{Error, Info};
use kernel::leaf::LeafRef;
use kernel::object::thread::State;
use kernel::system::Tree;

type Machine = Board<Tree<Host>>;

/// The node of the scene's leaf: behind both roots.
const PAYS: u32 = 2;
const MESSAGE: Info = Info::new(0, 0);
/// The first word that is a condition.
const FIRST: usize = 10;
/// The last waiter, at the end of all chains.
const WAITER: u32 = 1;
const SERVERS: std::ops::RangeInclusive<u32> = 2..=4;
/// Those that call them: the first two while their servers wait, the third one's server works.
const CALLERS: [u32; 3] = [11, 12, 13];
const PRIORITIES_OF_ALL: [u8; 19] =
    [250, 242, 241, 240, 235, 234, 233, 232, 231, 230, 220, 219, 221, 154, 153, 152, 151, 249, 248];

/// 26 edges of conditions and calls lead from one waiter to the threads that work in the end: 1
/// waits for 16 and 17, those for 14 and 15, those for the callers, and the servers of two of these
/// through three conditions more.
struct Branches(Machine);

impl Branches {
    fn new() -> Branches {
        let threads = PRIORITIES_OF_ALL.map(|priority| (1, priority));
        let board: Machine = boot(&threads);
        board.machine.kernel.trees.set_inheritance(Inheritance::Charged);
        Branches(board)
    }

    fn waits(&self, thread: u32, condition: usize, helpers: &[u32], until: Option<u64>) {
        let ids: [u32; HELPERS] =
            std::array::from_fn(|n| helpers.get(n).map_or(0, |at| id(&self.0, *at)));
        self.0.does(thread, cond_wait(FIRST + condition, 0, 0, until, ids));
        assert_eq!(self.0.thread(thread).state.get(), State::Waiting, "{thread}");
    }

    /// The servers receive, and what they are to wait for waits itself.
    fn begin(&self) {
        self.0.does(WAITER, sleep(20 * TICK));
        [18, 19].into_iter().for_each(|thread| self.0.does(thread, sleep(100 * TICK)));
        SERVERS.for_each(|server| self.0.does(server, receive(ENDPOINT)));
        for (thread, condition, helpers) in [
            (5, 8, [18, 19]),
            (6, 8, [18, 19]),
            (7, 7, [5, 6]),
            (8, 7, [5, 6]),
            (9, 6, [7, 8]),
            (10, 6, [7, 8]),
        ] {
            self.waits(thread, condition, &helpers, None);
        }
        self.0.does(CALLERS[2], sleep(10 * TICK));
    }

    /// A caller's server waits.
    fn calls(&self, caller: u32, server: u32) {
        self.0.does(caller, call(ENDPOINT, MESSAGE));
        self.waits(server, 5, &[9, 10], None);
    }

    /// The last waiter is to wait for these.
    fn between(&self) {
        for (thread, condition, helpers) in
            [(14, 3, &CALLERS[..]), (15, 3, &CALLERS), (16, 2, &[14, 15]), (17, 2, &[14, 15])]
        {
            self.waits(thread, condition, helpers, None);
        }
    }
}

#[test]
fn each_branch_follows() {
    let all = Branches::new();
    all.begin();
    [11, 12].into_iter().for_each(|caller| all.calls(caller, caller - 9));
    all.between();
    let board = &all.0;
    board.wait(10 * TICK);
    board.does(CALLERS[2], call(ENDPOINT, MESSAGE));
    assert_eq!(board.running(), Some(4));
    board.wait(10 * TICK);
    all.waits(WAITER, 1, &[16, 17], None);
    assert_eq!(effective(board, 4), 250);
    board.check();
}

/// The same when the wait ends: no thread stays on what is lent no longer.
#[test]
fn each_branch_leaves() {
    let all = Branches::new();
    let board = &all.0;
    board.succeeds(WAITER, system(Call::Reserve, &[THREAD + u64::from(WAITER), LEAF]));
    all.begin();
    board.does(11, sleep(30 * TICK));
    board.does(12, sleep(40 * TICK));
    all.between();
    // Of three servers 2 has waited for longest.
    board.wait(10 * TICK);
    board.does(CALLERS[2], call(ENDPOINT, MESSAGE));
    board.wait(10 * TICK);
    all.waits(WAITER, 1, &[16, 17], Some(60 * TICK));
    let away = board.open(|held| reference(board, 2).away.get(held));
    assert!(away != LeafRef::NONE, "it is lent the first one's");
    board.does(2, sleep(45 * TICK));
    for (caller, server) in [(11, 3), (12, 4)] {
        board.wait(10 * TICK);
        all.calls(caller, server);
    }
    board.wait(5 * TICK);
    assert_eq!(board.running(), Some(2));
    board.host.advance(20 * TICK);
    board.settle();
    let leaf = board.open(|held| reference(board, 2).leaf.get(held));
    assert!(leaf != PAYS, "it stays on the leaf of one that waits no longer");
    board.sees(WAITER, Err(Error::Timeout));
    board.check();
}
