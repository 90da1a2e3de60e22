//! First come first served against the three orders by priority: they differ once a receive finds
//! two or more queued senders of which the first is not the highest, and only then.

use super::runner::{Runner, Told, boot_all, keep_unique, repeatable, without_servers};
use crate::support::board::body;
use crate::support::effort::{INTERPRETED, seeds, steps};
use crate::support::programs::{Action, MANAGE, Mix, TALK};
use crate::support::rng::Rng;
use crate::support::state::Fact;
use crate::support::town::Plan;
use abi::call::Call;
use abi::{Error, Info};
use kernel::object::thread::State;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeSet;

const BY_PRIORITY: [&str; 3] = ["ipc-scan", "ipc-ordered", "ipc-heap"];

/// A queue of senders in the order of arrival, each with its priority.
type Queue = Vec<(u32, i16)>;

/// What a run came across.
#[derive(Debug, Default)]
struct Reach {
    /// Receives from a queue of two or more whose first was the highest.
    agreed: u64,
    /// Runs that ended with a receive from one whose first was not.
    differed: u64,
    /// Queued senders whose deferred deadlines were served behind a message.
    timed_out: u64,
}

/// The queues of a kernel that serves by arrival.
fn queues(fifo: &dyn Runner) -> Vec<Queue> {
    let endpoints = &fifo.machine().kernel.endpoints;
    let queue = |index| {
        let mut queue = Queue::new();
        let endpoint = body(endpoints.get(index).expect("below the size"));
        endpoint.senders().each(|at| queue.push((at.index(), body(at).priority.get())));
        queue
    };
    (0..endpoints.size()).map(queue).collect()
}

/// The threads that wait to send, by endpoint.
fn senders(facts: &[Fact]) -> BTreeSet<(u32, u32)> {
    let senders = facts.iter().filter(|fact| fact.0 == "sender");
    senders.map(|(_, endpoint, thread)| (*endpoint, *thread as u32)).collect()
}

/// What can be observed, the order in which senders will be served aside.
fn unordered(facts: &[Fact]) -> Vec<Fact> {
    facts.iter().filter(|fact| fact.0 != "sender").copied().collect()
}

fn is_message(action: &Action) -> bool {
    match action {
        Action::Call { regs, .. } => {
            let call = Call::from_number(regs.number);
            matches!(call, Some(Call::Ipc | Call::Call | Call::ReplyWait))
        }
        _ => false,
    }
}

/// The same action with a short message, which every receiver can take.
fn short(action: Action) -> Action {
    let Action::Call { writes, mut regs } = action else { return action };
    if is_message(&action) {
        let info = Info(regs.args[1]);
        regs.args[1] = Info::new(info.label(), info.words().min(4)).0;
    }
    Action::Call { writes, regs }
}

/// So many senders, first by arrival, then by priority.
fn firsts(queue: &Queue, count: usize) -> [Vec<u32>; 2] {
    let mut sorted = queue.clone();
    sorted.sort_by_key(|(_, priority)| Reverse(*priority));
    [queue, &sorted].map(|queue| queue[..count].iter().map(|(thread, _)| *thread).collect())
}

/// Those of a queue that are no longer in it.
fn taken(queue: &Queue, endpoint: usize, left: &BTreeSet<(u32, u32)>) -> BTreeSet<u32> {
    let gone = |thread: &u32| !left.contains(&(endpoint as u32, *thread));
    queue.iter().map(|(thread, _)| *thread).filter(gone).collect()
}

/// Of these, the threads whose deadline was deferred and has passed while they were queued.
fn timed_out(runner: &dyn Runner, gone: BTreeSet<u32>) -> BTreeSet<u32> {
    let threads = &runner.machine().kernel.threads;
    let late = |index: &u32| {
        let thread = body(threads.get(*index).expect("below the size"));
        let status = thread.context.regs.get().status();
        let ready = thread.state.get() == State::Ready;
        ready && status.result() == Err(Error::Timeout) && !status.in_receive()
    };
    gone.into_iter().filter(late).collect()
}

/// Judges an action before which a kernel that serves by arrival had these queues, by what it
/// and a kernel that serves by priority came to. False: they differ, as they should.
fn judge(before: &[Queue], action: &Action, runners: [&dyn Runner; 2], reach: &mut Reach) -> bool {
    let outcomes = runners.map(|runner| runner.observe(false));
    let left = outcomes.each_ref().map(|facts| senders(facts));
    let same = left[0] == left[1] && unordered(&outcomes[0]) == unordered(&outcomes[1]);
    if !is_message(action) {
        assert!(same, "the kernels differ though no thread receives");
        return true;
    }
    let (mut may_differ, mut must_differ) = (false, false);
    for (at, queue) in before.iter().enumerate() {
        // A receiver that makes room lets deadlines in that were deferred: after its receive.
        let [(queue, first), (other, highest)] = [0, 1].map(|which| {
            let gone = taken(queue, at, &left[which]);
            let late = timed_out(runners[which], gone.clone());
            reach.timed_out += late.len() as u64;
            let mut queue = queue.clone();
            queue.retain(|(thread, _)| !late.contains(thread));
            (queue, BTreeSet::from_iter(gone.difference(&late).copied()))
        });
        let by_arrival = BTreeSet::from_iter(firsts(&queue, first.len())[0].clone());
        let by_priority = BTreeSet::from_iter(firsts(&other, highest.len())[1].clone());
        assert!(first == by_arrival, "senders are not served in the order of arrival");
        assert!(highest == by_priority, "senders are not served in the order of priority");
        // Only a chain of messages takes several at once.
        let [arrival, priority] = firsts(&queue, first.len());
        may_differ |= arrival != priority;
        must_differ |= first != BTreeSet::from_iter(priority.clone());
        reach.agreed += u64::from(arrival == priority && !first.is_empty() && queue.len() > 1);
    }
    assert!(may_differ || same, "the kernels differ though every first sender was the highest");
    assert!(!must_differ || !same, "the kernels agree though a first sender was not the highest");
    same
}

fn run(other: &str, seed: u64, actions: u64, mix: &Mix, reach: &mut Reach) {
    let told = Told::new(seed);
    let rng = Rng::new(seed);
    let plan = Plan { unique: true, handlers: rng.once_in(2), seed };
    let runners = boot_all(&["direct-lazy", other], &plan, 0);
    for at in 0..actions {
        told.action.set(at);
        let before = queues(runners[0].as_ref());
        let action = short(without_servers(runners[0].choose(&rng, mix)));
        let action = keep_unique(runners[0].machine(), action);
        runners.iter().for_each(|runner| runner.act(&action));
        if runners[0].ended() {
            break;
        }
        let pair = [runners[0].as_ref(), runners[1].as_ref()];
        if !judge(&before, &action, pair, reach) {
            reach.differed += 1;
            break;
        }
        runners.iter().for_each(|runner| runner.check());
    }
}

#[test]
fn they_differ_once_the_first_sender_is_not_the_highest() {
    for other in BY_PRIORITY {
        let mut reach = Reach::default();
        for seed in seeds(0..24) {
            let mix = [TALK, TALK, MANAGE][seed as usize % 3];
            run(other, 0x8600_0000 + seed, steps(1_000), &mix, &mut reach);
        }
        assert!(INTERPRETED || reach.differed > 6 && reach.agreed > 25, "{other}: {reach:?}");
    }
}

proptest! {
    #![proptest_config(repeatable(8))]
    #[test]
    fn any_seed(seed: u64, actions in 1..steps(300), talk: bool) {
        for other in BY_PRIORITY {
            let mix = if talk { &TALK } else { &MANAGE };
            run(other, seed, actions, mix, &mut Reach::default());
        }
    }
}
