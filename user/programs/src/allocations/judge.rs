//! The thread that is to run at its instants, which says at the end whether all held.

use super::{Board, Common, KINDS};
use rt::abi::call::Table;
use rt::abi::object::Resource;
use rt::prelude::*;
use rt::{ipc, system};

/// Nanoseconds within which threads come to an end, or to their start.
const PATIENCE: u64 = 200_000_000;
/// Nanoseconds between two looks.
const PAUSE: u64 = 100_000;

/// Capabilities `console`, `system` and `begin`; memory `board`. Arguments: `threads` of the whole
/// storm, `period` in microseconds, `instants` of each phase, `ratio` that the worst response in
/// the storm may have to the worst one before, and `tries`: on a host that does other things, a
/// response may be late without the kernel.
pub fn main(env: &Env) {
    let (console, board) = (env.console(), Board::of(env));
    let threads = env.number("threads", 1);
    let mut failed = 0;
    let mut told = |what: &str, held: bool| {
        failed += u64::from(!held);
        println!(console, "{} {what}", if held { "ok" } else { "FAILED" });
    };
    told("all threads of the storm are there", come(board, threads));
    let before = levels(env);
    let (mut ready, mut good) = (threads, false);
    let mut ended = true;
    for _ in 0..env.number("tries", 1) {
        let quiet = worst(env);
        board.add(Common::Round, 1);
        let begin = Message::short(0, [board.get(Common::Round)]);
        for _ in 0..threads {
            ipc::send(env.cap("begin"), begin, Wait::NEVER).expect("a thread of the storm begins");
        }
        let storm = worst(env);
        board.add(Common::Round, 1);
        ready += threads;
        ended &= come(board, ready);
        good = storm <= quiet * env.number("ratio", 4);
        println!(console, "worst response {quiet} ns, in the storm {storm} ns");
        if good {
            break;
        }
    }
    told("all come to an end", ended);
    told("a thread of high priority runs in time", good);
    let every = |word| (0..KINDS.len()).all(|kind| board.of_kind(word, kind) > 0);
    told("something of each kind was made", every(Common::Made));
    told("and was refused, of each kind", every(Common::Refused));
    told("for the quota alone", board.get(Common::Wrong) == 0);
    told("all pools are at their level again", levels(env) == before);
    for (kind, name) in KINDS.iter().enumerate() {
        let [made, refused] = [Common::Made, Common::Refused].map(|w| board.of_kind(w, kind));
        println!(console, "{name}: {made} made, {refused} refused");
    }
    if board.get(Common::Wrong) > 0 {
        let last = board.get(Common::Last);
        println!(console, "last error {} of kind {}", last as u32, last >> 32);
    }
    println!(console, "{failed} failed");
    system::shutdown(env.cap("system"), u64::from(failed > 0)).expect("the run ends");
}

/// Waits until so many threads are ready, if they come.
fn come(board: Board, threads: u64) -> bool {
    let until = system::clock() + PATIENCE;
    while board.get(Common::Ready) < threads && system::clock() < until {
        system::sleep(PAUSE);
    }
    board.get(Common::Ready) == threads
}

/// How much is in use of each pool of the machine.
fn levels(env: &Env) -> [u64; Resource::COUNT] {
    core::array::from_fn(|resource| {
        let row = system::inspect(env.cap("system"), Table::Pool, resource as u64);
        row.expect("a pool").results[0]
    })
}

/// By how many nanoseconds the thread ran after its instants, at worst.
fn worst(env: &Env) -> u64 {
    let period = env.number("period", 100) * 1_000;
    let mut at = system::clock() + period;
    let mut worst = 0;
    for _ in 0..env.number("instants", 200) {
        system::sleep_until(at);
        worst = worst.max(system::clock() - at);
        at += period;
    }
    worst
}
