//! What single operations of the kernel take.
//!
//! `micro` does the operations; `micro-peer`, of higher priority, is the other side of those that
//! cross domains. Both go through the same phases with the same number of rounds. A span lies
//! between a `BEFORE` and an `AFTER` record of the same metric and round, wherever they are.

mod peer;
mod typed;

use abi::call::Call;
use abi::results::Tag;
use rt::arch::{self, counter};
use rt::thread::{self, Spec};
use rt::{Env, Error, Info, Message, Recorder, Rights, Slot, Slots, Status, Words, ipc, signal};
use rt::{cap, memory, system};

pub use peer::main as peer;

/// The metrics, by their numbers in tags.
#[derive(Clone, Copy)]
enum Metric {
    NullCall = 1,
    SendHigher,
    NotifyHigher,
    NotifyLower,
    Interrupt,
    Yield,
    FaultDeliver,
    FaultResume,
    FaultRoundTrip,
    Map,
    Protect,
    Unmap,
    CapCopy,
    CapRevoke,
    ThreadCreate,
    ThreadDestroy,
    RefusedCall,
    RefusedExchange,
    RefusedReplyWait,
    RefusedDeadline,
    RoundTripByHand,
    RoundTripTyped,
}

/// The label of the message that ends the run.
const STOP: u32 = 1;
/// Where pages are mapped.
const ADDRESS: u64 = 0x2_0000_0000;
/// Nanoseconds from arming a timer to its signal.
const ALARM: u64 = 20_000;

/// How many rounds each phase has, and where they are recorded.
struct Log {
    warm_up: u64,
    recorded: u64,
    recorder: Recorder,
}

impl Log {
    fn open(env: &Env, memory: &str) -> Log {
        Log {
            warm_up: env.number("warmup", 16),
            recorded: env.number("rounds", 1000),
            recorder: Recorder::open(env.mem(memory)),
        }
    }

    fn rounds(&self) -> core::ops::Range<u64> {
        0..self.warm_up + self.recorded
    }

    /// Records one point of a round, unless it is a warm-up round.
    fn point(&mut self, metric: Metric, round: u64, point: u16, time: u64) {
        if let Some(round) = round.checked_sub(self.warm_up) {
            let tag = Tag { metric: metric as u16, case: 0, round: round as u16, point };
            self.recorder.record(tag, time);
        }
    }

    /// Times an operation and records it.
    #[inline(always)]
    fn time(&mut self, metric: Metric, round: u64, operation: impl FnOnce() -> Status) {
        let before = counter();
        let status = operation();
        let after = counter();
        status.result().unwrap_or_else(|e| panic!("metric {}: {e:?}", metric as u16));
        self.point(metric, round, Tag::BEFORE, before);
        self.point(metric, round, Tag::AFTER, after);
    }
}

/// The measuring program: capabilities `send-up` (send), `up` (signal), `system`; memory
/// `micro-recording`, `scratch`; its faults go to the peer.
pub fn main(env: &Env) {
    let mut micro = Micro {
        env: *env,
        priority: env.number("priority", 100),
        scratch: env.mem("scratch"),
        slots: env.slots(),
        log: Log::open(env, "micro-recording"),
    };
    micro.null_call();
    micro.send_higher();
    micro.notify_higher();
    micro.notify_lower().expect("notify-lower");
    micro.interrupt().expect("interrupt");
    micro.yields().expect("yield");
    micro.faults();
    micro.maps().expect("map");
    micro.caps().expect("cap-copy");
    micro.threads();
    micro.refused_calls().expect("refused-call");
    micro.refused_reply_waits().expect("refused-reply-wait");
    micro.refused_deadlines().expect("refused-deadline");
    micro.round_trips().expect("round-trip");
    ipc::call(env.cap("send-up"), Message::empty(STOP)).expect("the peer stops");
    micro.log.recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

struct Micro {
    env: Env,
    priority: u64,
    scratch: Words,
    slots: Slots,
    log: Log,
}

impl Micro {
    /// Starts the second thread.
    fn start(&mut self, priority: u64, work: (fn(&Env, u64), u64)) -> Result<Slot, Error> {
        self.start_further(1, priority, work)
    }

    fn start_further(
        &mut self,
        number: usize,
        priority: u64,
        work: (fn(&Env, u64), u64),
    ) -> Result<Slot, Error> {
        let slot = self.slots.fresh();
        thread::start(&self.env, number, slot, Spec::further(&self.env, number, priority), work)?;
        Ok(slot)
    }

    fn null_call(&mut self) {
        for round in self.log.rounds() {
            self.log.time(Metric::NullCall, round, || system::status(Call::Null, []));
        }
    }

    fn send_higher(&mut self) {
        let to = self.env.cap("send-up");
        for round in self.log.rounds() {
            let before = counter();
            let outcome = ipc::send_short(to, Info::new(0, 0), []);
            outcome.status.result().expect("the peer receives");
            self.log.point(Metric::SendHigher, round, Tag::BEFORE, before);
        }
    }

    fn notify_higher(&mut self) {
        let up = self.env.cap("up").word();
        for round in self.log.rounds() {
            let before = counter();
            system::status(Call::Signal, [up]).result().expect("the peer is notified");
            self.log.point(Metric::NotifyHigher, round, Tag::BEFORE, before);
        }
    }

    fn notify_lower(&mut self) -> Result<(), Error> {
        let (down, ready) = (self.slots.fresh(), self.slots.fresh());
        signal::create_notification(down)?;
        signal::create_endpoint(ready, Slot::NONE)?;
        let slots = down.word() | ready.word() << 32;
        let lower = self.start(self.priority - 10, (wait_below, slots))?;
        for round in self.log.rounds() {
            ipc::receive_short(ready).received()?;
            let down = down.word();
            self.log.time(Metric::NotifyLower, round, || system::status(Call::Signal, [down]));
        }
        cap::destroy(lower)
    }

    /// A thread of lower priority stamps the counter all the time; the last stamp before the
    /// interrupt is where the span begins.
    fn interrupt(&mut self) -> Result<(), Error> {
        let (alarm, timer) = (self.slots.fresh(), self.slots.fresh());
        signal::create_notification(alarm)?;
        signal::create_timer(timer, alarm)?;
        let lower = self.start(self.priority - 10, (stamp, 0))?;
        for round in self.log.rounds() {
            signal::set_timer(timer, system::clock() + ALARM)?;
            let outcome = ipc::receive_short(alarm);
            let after = counter();
            outcome.received()?;
            let before = last_before(self.scratch.get(0), after);
            self.log.point(Metric::Interrupt, round, Tag::BEFORE, before);
            self.log.point(Metric::Interrupt, round, Tag::AFTER, after);
        }
        cap::destroy(lower)
    }

    fn yields(&mut self) -> Result<(), Error> {
        let equal = self.start(self.priority, (stamp_and_yield, 0))?;
        for round in self.log.rounds() {
            let before = counter();
            let status = system::status(Call::Yield, [0]);
            status.result()?;
            self.log.point(Metric::Yield, round, Tag::BEFORE, before);
            self.log.point(Metric::Yield, round, Tag::AFTER, self.scratch.get(0));
        }
        cap::destroy(equal)
    }

    fn faults(&mut self) {
        for round in self.log.rounds() {
            let before = counter();
            arch::undefined();
            let after = counter();
            self.log.point(Metric::FaultDeliver, round, Tag::BEFORE, before);
            self.log.point(Metric::FaultResume, round, Tag::AFTER, after);
        }
        for round in self.log.rounds() {
            let before = counter();
            arch::undefined();
            let after = counter();
            self.log.point(Metric::FaultRoundTrip, round, Tag::BEFORE, before);
            self.log.point(Metric::FaultRoundTrip, round, Tag::AFTER, after);
        }
    }

    fn maps(&mut self) -> Result<(), Error> {
        let (page, mapping) = (self.slots.fresh(), self.slots.fresh());
        memory::create(page, 1)?;
        let writable = Rights::READ.or(Rights::WRITE);
        let what = mapping.word() | u64::from(writable.0) << 32;
        let map = [Slot::NONE.word(), page.word(), ADDRESS, 1, 0, what];
        let protect = [mapping.word(), u64::from(Rights::READ.0)];
        let log = &mut self.log;
        for round in log.rounds() {
            log.time(Metric::Map, round, || system::status(Call::Map, map));
            log.time(Metric::Protect, round, || system::status(Call::Protect, protect));
            log.time(Metric::Unmap, round, || system::status(Call::Destroy, [mapping.word()]));
        }
        cap::destroy(page)
    }

    fn caps(&mut self) -> Result<(), Error> {
        let (original, copy) = (self.slots.fresh(), self.slots.fresh());
        signal::create_endpoint(original, Slot::NONE)?;
        let args = [original.word(), copy.word(), u64::from(Rights::ALL.0), 0];
        let log = &mut self.log;
        for round in log.rounds() {
            log.time(Metric::CapCopy, round, || system::status(Call::CapCopy, args));
            log.time(Metric::CapRevoke, round, || {
                system::status(Call::CapRevoke, [original.word()])
            });
            cap::delete(copy)?;
        }
        cap::destroy(original)
    }

    fn threads(&mut self) {
        let slot = self.slots.fresh();
        let create = [slot.word(), Slot::NONE.word(), self.priority - 10, 0, Slot::NONE.word()];
        let log = &mut self.log;
        for round in log.rounds() {
            log.time(Metric::ThreadCreate, round, || system::status(Call::ThreadCreate, create));
            log.time(Metric::ThreadDestroy, round, || system::status(Call::Destroy, [slot.word()]));
        }
    }

    /// A call, and a send and receive, with no receiver: a fast path looks and leaves them.
    /// The lower thread runs then; its stamp is where the span ends.
    fn refused_calls(&mut self) -> Result<(), Error> {
        let (requests, answers) = (self.slots.fresh(), self.slots.fresh());
        signal::create_endpoint(requests, Slot::NONE)?;
        signal::create_endpoint(answers, Slot::NONE)?;
        let nothing = Info::new(0, 0);
        for (metric, from) in
            [(Metric::RefusedCall, Slot::REPLY), (Metric::RefusedExchange, answers)]
        {
            let slots = requests.word() | from.word() << 32;
            let lower = self.start(self.priority - 10, (answer_late, slots))?;
            for round in self.log.rounds() {
                let before = counter();
                let outcome = match metric {
                    Metric::RefusedCall => ipc::call_short(requests, nothing, []),
                    _ => ipc::exchange_short(requests, answers, nothing, []),
                };
                outcome.received()?;
                self.log.point(metric, round, Tag::BEFORE, before);
                self.log.point(metric, round, Tag::AFTER, self.scratch.get(0));
            }
            cap::destroy(lower)?;
        }
        Ok(())
    }

    /// An answer to a higher client while another one waits to be received: a fast path leaves it.
    /// The client's stamp is where the span ends.
    fn refused_reply_waits(&mut self) -> Result<(), Error> {
        let requests = self.slots.fresh();
        signal::create_endpoint(requests, Slot::NONE)?;
        let higher = self.priority + 10;
        let work: (fn(&Env, u64), u64) = (call_and_stamp, requests.word());
        let clients = [self.start_further(1, higher, work)?, self.start_further(2, higher, work)?];
        ipc::receive_short(requests).received()?;
        for round in self.log.rounds() {
            let before = counter();
            let outcome = ipc::reply_wait_short(requests, Info::new(0, 0), []);
            outcome.received()?;
            self.log.point(Metric::RefusedReplyWait, round, Tag::BEFORE, before);
            self.log.point(Metric::RefusedReplyWait, round, Tag::AFTER, self.scratch.get(0));
        }
        clients.into_iter().try_for_each(cap::destroy)
    }

    /// A call to a higher server that does not wait for ever: a fast path leaves it. The server's
    /// stamp is where the span ends.
    fn refused_deadlines(&mut self) -> Result<(), Error> {
        let requests = self.slots.fresh();
        signal::create_endpoint(requests, Slot::NONE)?;
        let server = self.start(self.priority + 10, (answer_by_deadline, requests.word()))?;
        for round in self.log.rounds() {
            let before = counter();
            ipc::call_short(requests, Info::new(0, 0), []).received()?;
            self.log.point(Metric::RefusedDeadline, round, Tag::BEFORE, before);
            self.log.point(Metric::RefusedDeadline, round, Tag::AFTER, self.scratch.get(0));
        }
        cap::destroy(server)
    }
}

/// The counter value whose low half is `low` and which is the last not after `after`.
fn last_before(low: u64, after: u64) -> u64 {
    after - u64::from((after as u32).wrapping_sub(low as u32))
}

/// Says that it is ready and waits for a signal, again and again.
fn wait_below(_: &Env, slots: u64) {
    let (down, ready) = (Slot(slots as u32), Slot((slots >> 32) as u32));
    loop {
        let outcome = ipc::exchange(ready, down, Message::empty(0), rt::Wait::NEVER);
        outcome.received().expect("a signal from above");
    }
}

fn stamp(env: &Env, _: u64) {
    arch::stamp_for_ever(env.mem("scratch").word(0));
}

fn stamp_and_yield(env: &Env, _: u64) {
    let scratch = env.mem("scratch");
    loop {
        scratch.set(0, counter());
        thread::yield_now().expect("yielding cannot fail");
    }
}

/// Receives and answers, always after the sender has begun to wait, and stamps when it runs again.
fn answer_late(env: &Env, slots: u64) {
    let (requests, answers) = (Slot(slots as u32), Slot((slots >> 32) as u32));
    let scratch = env.mem("scratch");
    loop {
        ipc::receive_short(requests).received().expect("a message");
        ipc::send(answers, Message::empty(0), rt::Wait::NEVER).expect("the sender waits");
        scratch.set(0, counter());
    }
}

/// Calls, and stamps when the answer has come.
fn call_and_stamp(env: &Env, requests: u64) {
    let (requests, scratch) = (Slot(requests as u32), env.mem("scratch"));
    loop {
        ipc::call_short(requests, Info::new(0, 0), []).received().expect("an answer");
        scratch.set(0, counter());
    }
}

/// Receives with a deadline, which never comes, stamps and answers.
fn answer_by_deadline(env: &Env, requests: u64) {
    let (requests, scratch) = (Slot(requests as u32), env.mem("scratch"));
    loop {
        let request = ipc::receive(requests, rt::Wait::until(i64::MAX as u64));
        scratch.set(0, counter());
        request.expect("a request");
        ipc::reply(Message::empty(0)).expect("the client waits");
    }
}
