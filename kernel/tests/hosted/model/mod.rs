//! Messages, signals, time and priorities against a plain model, on the kernel without a fast
//! path.

mod plain;

use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::effort::{cases, steps};
use crate::support::host::Host;
use crate::support::rng::Rng;
use crate::support::scene::{ATTACHED, ENDPOINT, FREE, NOTIFICATION, THREAD, boot, system};
use abi::Info;
use abi::call::{Call, NOTHING, REPLY, Timeout, ipc, partners};
use kernel::access::Ref;
use kernel::list::{Linked, List};
use kernel::object::Thread;
use kernel::object::thread::{State, Wait, flag};
use kernel::port::Port;
use kernel::system::DirectLazy;
use plain::{Doing, From, Id, Limit, Model, Operation, Place, Tick, To};
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

const THREADS: usize = 9;
/// Endpoints in use; a notification is attached to the last.
const ENDPOINTS: usize = 4;
/// By so much a tick may be early or late.
const NEAR: u64 = 1_000;
/// The badge of the copies of endpoint capabilities, from slot [`FREE`] on, less the endpoint.
const BADGE: u64 = 100;

struct Pair {
    board: Board<DirectLazy<Host>>,
    model: Model,
}

/// A random operation, as the kernel and as the model see it.
fn operation(rng: &Rng, now: u64) -> (Regs, Operation) {
    let endpoint = |rng: &Rng| rng.below(ENDPOINTS as u64);
    let (at, copy) = (endpoint(rng), rng.once_in(2));
    let (send, to) = match rng.below(4) {
        0 => (NOTHING, To::Nothing),
        1 => (REPLY, To::Caller),
        _ if copy => ((FREE + at) as u32, To::Endpoint(at as usize, BADGE + at)),
        _ => ((ENDPOINT + at) as u32, To::Endpoint(at as usize, 0)),
    };
    let place = match rng.below(6) {
        0 => Place::Notification(rng.below(2) as usize),
        _ => Place::Endpoint(endpoint(rng) as usize),
    };
    let slot = match place {
        Place::Notification(at) => NOTIFICATION + at as u64,
        Place::Endpoint(at) => ENDPOINT + at as u64,
        Place::Nowhere => 0,
    };
    let (receive, from) = match (rng.below(3), to) {
        (0, To::Endpoint(..)) => (REPLY, From::Reply),
        (1, To::Endpoint(..) | To::Caller) => (NOTHING, From::Nothing),
        _ => (slot as u32, From::Place(place)),
    };
    let kinds = [Timeout::Never, Timeout::Never, Timeout::Zero, Timeout::At];
    let (first, second) = (rng.pick(&kinds), rng.pick(&kinds));
    let until = (now + rng.below(3 * TICK)).saturating_sub(TICK / 2);
    let info = Info::new(rng.below(100) as u32, rng.below(5) as usize);
    let words = [rng.next(), rng.next(), rng.next(), rng.next()];
    let limit = |timeout| Limit { timeout, until };
    // Sleeping is an operation without partners.
    if to == To::Nothing && rng.once_in(4) {
        let regs = Regs::call(
            ipc(Timeout::Never, Timeout::At),
            &[partners(NOTHING, NOTHING), info.0, until],
        );
        let from = From::Place(Place::Nowhere);
        let limits = [limit(Timeout::Never), limit(Timeout::At)];
        return (regs.with_words(words), Operation { to, from, info, words, limits });
    }
    let mut limits = [limit(first), limit(second)];
    let regs = match (to, from) {
        (To::Endpoint(..), From::Reply) if rng.once_in(2) => {
            limits = [limit(Timeout::Never); 2];
            system(Call::Call, &[send.into(), info.0])
        }
        (To::Caller, From::Place(_)) if rng.once_in(2) => {
            limits = [limit(Timeout::Never); 2];
            system(Call::ReplyWait, &[receive.into(), info.0])
        }
        _ => Regs::call(ipc(first, second), &[partners(send, receive), info.0, until]),
    };
    (regs.with_words(words), Operation { to, from, info, words, limits })
}

impl Pair {
    fn new(priorities: &[u8]) -> Pair {
        let threads: Vec<(u32, u8)> = priorities.iter().map(|priority| (1, *priority)).collect();
        let board: Board<DirectLazy<Host>> = boot(&threads);
        for at in 0..ENDPOINTS as u64 {
            let args = [ENDPOINT + at, FREE + at, 63, BADGE + at];
            board.call(system(Call::CapCopy, &args));
        }
        let attached = (ATTACHED - ENDPOINT) as usize;
        let model = Model::new(priorities, ENDPOINTS, vec![None, Some(attached)]);
        let pair = Pair { board, model };
        assert!(pair.model.candidates().contains(&pair.running().expect("somebody runs")));
        pair
    }

    fn running(&self) -> Option<Id> {
        self.board.running().map(|index| index as usize - 1)
    }

    fn step(&mut self, rng: &Rng, priorities: &[u8]) {
        let now = self.board.host.now();
        let Some(me) = self.running().filter(|_| !rng.once_in(12)) else {
            return self.wait(rng);
        };
        let whom = rng.below(THREADS as u64);
        let (slot, id) = (THREAD + 1 + whom, whom as usize);
        let (regs, expected) = match rng.below(20) {
            0 => {
                self.model.suspend(me, id, true);
                (system(Call::ThreadSuspend, &[slot]), None)
            }
            1..4 => {
                self.model.suspend(me, id, false);
                (system(Call::ThreadResume, &[slot]), None)
            }
            4 => {
                // Priorities stay unique where they were: threads only take each other's.
                let priority = priorities[rng.below(priorities.len() as u64) as usize];
                let taken = self.model.threads.iter().any(|t| t.priority == priority.into());
                let unique = BTreeSet::from_iter(priorities).len() == priorities.len();
                let priority =
                    if taken && unique { self.model.threads[id].priority as u8 } else { priority };
                self.model.set_priority(me, id, priority);
                (system(Call::ThreadPriority, &[slot, priority.into()]), None)
            }
            5 => {
                self.model.switch_to(me, id);
                (system(Call::Yield, &[slot]), None)
            }
            6 => {
                let expected = self.model.make_room(me);
                (system(Call::Yield, &[0]), Some(expected))
            }
            7..9 => {
                let at = rng.below(2);
                self.model.signal(me, at as usize, 1);
                (system(Call::Signal, &[NOTIFICATION + at]), None)
            }
            _ => {
                let (regs, operation) = operation(rng, now);
                self.model.operate(me, operation);
                (regs, None)
            }
        };
        self.board.call(regs);
        if (0..THREADS).any(|id| self.issues_again(id)) {
            // The model knows no preempted operations.
            assert!(self.board.host.waiting().is_some(), "preempted without an interrupt");
            return self.revive();
        }
        self.expect_deferred_to_wait((Tick::No, false));
        let mut expected = expected.unwrap_or_else(|| self.model.candidates());
        let left = self.board.host.waiting().is_some() && self.model.leaves_decision();
        if left && self.running().is_none_or(|id| id == me) {
            expected = self.running().into_iter().collect();
        }
        self.agree(&expected);
        if self.board.host.waiting().is_some() {
            // A tick was late for the sake of a deadline, which the call has ended; or what was
            // deferred is urgent now.
            let deferred = self.model.due().next().is_some();
            assert!(deferred || tick(now, now) == Tick::Perhaps, "an interrupt out of nothing");
            self.interrupts(now, self.running());
        }
    }

    /// Whether an interrupt has gone before an operation of a thread.
    fn issues_again(&self, id: Id) -> bool {
        match self.running() == Some(id) {
            true => self.board.regs.get().again,
            false => self.board.thread(id as u32 + 1).context.regs.get().again,
        }
    }

    fn wait(&mut self, rng: &Rng) {
        let now = self.board.host.now();
        let running = self.running();
        let by = match self.board.host.armed() {
            // To the very instant, just before it, or well past it.
            Some(at) if rng.once_in(2) => (at - now.min(at)).saturating_sub(rng.below(2)),
            _ => rng.below(3 * TICK),
        };
        self.board.host.advance(by);
        self.interrupts(now, running);
        if self.running().is_none() && self.board.host.armed().is_none() {
            // No thread will ever wake: cancel all and restart.
            self.revive();
        }
    }

    /// Time has passed since an instant at which this thread ran: takes the interrupts that wait.
    fn interrupts(&mut self, since: u64, running: Option<Id>) {
        let interrupted = self.board.settle() > 0;
        let now = self.board.host.now();
        let thread = |id: Id| self.board.thread(id as u32 + 1);
        let waits = |id: Id| thread(id).deadline.queued();
        let time = (tick(since, now), interrupted);
        let expected = self.model.wait(running, now - since, time, waits);
        self.agree(&expected);
        self.expect_deferred_to_wait(time);
    }

    /// Deadlines that have passed and are not served are those of lower threads than runs; or, for
    /// the rest of a tick, than the one that gave the CPU to it.
    fn expect_deferred_to_wait(&self, (tick, interrupted): (Tick, bool)) {
        let running = self.running().map_or(-1, |id| self.model.threads[id].priority);
        let late = self.model.due().any(|id| self.model.threads[id].priority >= running);
        assert!(!late || !interrupted, "a deadline is deferred that is urgent");
        assert!(!late || tick != Tick::Yes, "a deadline is deferred past a tick");
        let end = (self.board.host.now() / TICK + 1) * TICK;
        let armed = self.board.host.armed().is_some_and(|at| at <= end + NEAR);
        assert!(!late || armed, "a deadline is deferred for ever");
    }

    /// Frees all threads by hand, as a supervisor would by system calls.
    fn revive(&mut self) {
        let threads: Vec<u8> = self.model.threads.iter().map(|t| t.priority as u8).collect();
        *self = Pair::new(&threads);
    }

    /// Compares everything with the model.
    fn agree(&mut self, candidates: &BTreeSet<Id>) {
        let running = self.running();
        match running {
            Some(id) => assert!(candidates.contains(&id), "{id} runs, not one of {candidates:?}"),
            None => assert!(candidates.is_empty(), "the CPU idles, not one of {candidates:?}"),
        }
        self.board.check_core();
        for (thread, id) in self.model.threads.iter().zip(0..) {
            agree_on(thread, id, self.board.thread(id as u32 + 1));
        }
        let kernel = self.board.machine.kernel;
        for (model, at) in self.model.endpoints.iter().zip(0..) {
            let endpoint = self.board.object(kernel.endpoints.get(at));
            assert_eq!(ids(endpoint.senders()), model.senders, "senders of endpoint {at}");
            assert_eq!(ids(endpoint.receivers()), model.receivers, "receivers of endpoint {at}");
        }
        for (model, at) in self.model.notifications.iter().zip(0..) {
            let notification = self.board.object(kernel.notifications.get(at));
            assert_eq!(notification.bits.get(), model.bits, "signals of notification {at}");
            assert_eq!(ids(notification.receivers()), model.receivers, "notification {at}");
        }
        let regs = self.board.regs.get();
        if let Some(id) = running
            && !regs.again
            && let Some((status, badge, info, words)) = self.model.threads[id].outcome.take()
        {
            assert_eq!((regs.status(), regs.badge(), regs.info()), (status, badge, info));
            assert!(words.is_none_or(|words| words == regs.words), "other words");
        }
    }
}

fn ids<K>(list: &List<Thread<Host>, K>) -> VecDeque<Id>
where
    Thread<Host>: Linked<K>,
{
    let mut ids = VecDeque::new();
    list.each(|thread| ids.push_back(id_of(thread)));
    ids
}

fn id_of(thread: Ref<Thread<Host>>) -> Id {
    thread.index() as usize - 1
}

fn agree_on(model: &plain::Thread, id: Id, thread: &Thread<Host>) {
    let doing = match (thread.state.get(), thread.wait.get()) {
        (State::Ready, _) => Doing::Ready,
        (State::Calling, _) => Doing::Calling,
        (State::Sending, Wait::Endpoint(at)) => Doing::Sending(at.index() as usize),
        (State::Receiving, Wait::Endpoint(at)) => {
            Doing::Receiving(Place::Endpoint(at.index() as usize))
        }
        (State::Receiving, Wait::Notification(at)) => {
            Doing::Receiving(Place::Notification(at.index() as usize))
        }
        (State::Receiving, Wait::Nothing) => Doing::Receiving(Place::Nowhere),
        (State::Sending, _) => panic!("thread {id} sends to nothing"),
        (State::Waiting, _) => panic!("thread {id} waits for a mutex, which the model has not"),
        (_, Wait::Train(_)) => panic!("thread {id} waits for a stack, which the model has not"),
    };
    assert_eq!(doing, model.doing, "what thread {id} does");
    assert_eq!(thread.has(flag::SUSPENDED), model.suspended, "whether {id} is stopped");
    assert_eq!(thread.caller.get().map(id_of), model.caller, "the reply right of thread {id}");
    assert_eq!(thread.deadline.queued(), model.until.is_some(), "the deadline of thread {id}");
    assert_eq!(i64::from(thread.priority.get()), model.priority, "the priority of thread {id}");
}

/// Whether there is a tick from one instant to another. One may be early or late to share the
/// interrupt of a deadline.
fn tick(from: u64, to: u64) -> Tick {
    if to.saturating_sub(NEAR) / TICK > (from + NEAR) / TICK {
        Tick::Yes
    } else if (to + NEAR) / TICK > from.saturating_sub(NEAR) / TICK {
        Tick::Perhaps
    } else {
        Tick::No
    }
}

fn run(seed: u64, steps: u64, unique: bool) {
    let rng = Rng::new(seed);
    let priorities: Vec<u8> = if unique {
        let keys = (0..THREADS as u64).map(|at| rng.next() >> 8 << 8 | at);
        let order: BTreeSet<u64> = keys.collect();
        order.iter().map(|key| 10 + (key & 0xff) as u8).collect()
    } else {
        (0..THREADS).map(|_| 10 + rng.below(3) as u8).collect()
    };
    let mut pair = Pair::new(&priorities);
    for _ in 0..steps {
        pair.step(&rng, &priorities);
    }
}

#[test]
fn ticks_that_share_the_interrupt_of_a_deadline() {
    run(435_126_804_830_684_830, 132, true);
    run(3_574_344_920_485_838_646, 142, false);
}

#[test]
fn decisions_that_are_left_to_an_interrupt() {
    run(12_027_493_444_013_095_429, 250, true);
}

#[test]
fn long_runs() {
    for seed in 0..u64::from(cases(8)) {
        run(0x5100_0000 + seed, steps(5_000), seed % 2 == 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]
    #[test]
    fn any_seed(seed: u64, actions in 1..steps(400), unique: bool) {
        run(seed, actions, unique);
    }
}
