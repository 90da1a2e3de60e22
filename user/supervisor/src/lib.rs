//! The supervisor: a program that makes other programs, and makes them again when they fail.
//!
//! | file | what |
//! |---|---|
//! | `policy.rs` | what is done when a child fails: pure |
//! | `maker.rs` | making children, and taking them away |
//! | `beats.rs` | heartbeats: when the next is due |
//! | `watch.rs`, `holder.rs` | the thread that looks at them, and who ran when one is missing |
//! | `times.rs` | children that run out of time |
//! | `journal.rs` | what has happened, for the laboratory and the console |
//! | `service.rs` | what clients can ask |
//! | `table.rs` | the inventory, which says what to make |
//!
//! Faults of children, requests of clients and what the watching thread has noticed come to one
//! endpoint; heartbeats gather in a notification at which that thread looks when one is due.
#![no_std]
#![forbid(unsafe_code)]

mod beats;
mod holder;
mod journal;
mod maker;
mod policy;
mod service;
mod table;
mod times;
mod watch;

use abi::supervision::{
    CHILD_BADGE, Child, ENDED, Entry, Event, MOST_CHILDREN, NUDGE_BADGE, Reason,
};
use beats::Beats;
use journal::Journal;
use maker::Maker;
use policy::{Policy, Rule, Set, Verdict, each};
use rt::{Env, Fault, Received, Request, Slot, SlotPool, Wait, ipc, signal, system};
use supervision::{State, Supervision};
use times::Times;

/// The supervisor's end of the endpoint.
const ENDPOINT: &str = "supervisor";

/// The program. The laboratory gives it what it needs.
pub fn main(env: &Env) {
    let mut supervisor = Supervisor::new(env);
    supervisor.begin();
    loop {
        supervisor.step();
    }
}

/// What a child did.
#[derive(Clone, Copy)]
struct Failure {
    reason: Reason,
    kind: u32,
    detail: u64,
    at: u64,
    /// When it was noticed; 0: now.
    seen: u64,
}

impl Failure {
    fn because(reason: Reason) -> Failure {
        Failure { reason, kind: 0, detail: 0, at: 0, seen: 0 }
    }
}

struct Supervisor {
    endpoint: Slot,
    maker: Maker,
    policy: Policy,
    /// None: no child has a heartbeat.
    beats: Option<Beats>,
    times: Times,
    journal: Journal,
    restarts: [u32; MOST_CHILDREN],
}

impl Supervisor {
    fn new(env: &Env) -> Supervisor {
        let maker = Maker::new(env);
        let rule = |child: &Child| Rule {
            at_most: child.at_most,
            within: child.within,
            depends: child.depends,
        };
        Supervisor {
            endpoint: env.cap(ENDPOINT),
            policy: Policy::new(maker.children().map(rule)),
            times: Times::new(env),
            journal: Journal::open(env, SlotPool::new(env).take().keep()),
            beats: watch::start(env, SlotPool::new(env).take().keep()),
            restarts: [0; MOST_CHILDREN],
            maker,
        }
    }

    /// Makes all children.
    fn begin(&mut self) {
        for child in 0..self.maker.children().count() {
            if self.policy.state(child) == State::Waiting {
                let set = self.policy.revive(child);
                self.make(set);
            }
        }
        self.leave();
    }

    /// The watching thread looks again.
    fn leave(&self) {
        self.beats.iter().for_each(Beats::leave);
    }

    /// Waits for the next thing, and does what is to be done about it.
    fn step(&mut self) {
        let received = ipc::receive(self.endpoint, Wait::NEVER);
        self.beats.iter().for_each(Beats::enter);
        if let Ok(received) = received {
            self.take(received);
        }
        // One after the other: the restart of one may be that of another.
        while let Some((child, reason)) = self.times.next() {
            let detail = self.maker.child(child).map_or(0, |it| times::count(it, reason));
            self.fail(child, Failure { detail, ..Failure::because(reason) });
        }
        while let Some((child, silence)) = self.beats.and_then(|beats| beats.silent()) {
            let ([detail, at], seen) = (silence.by, silence.seen);
            self.stop_beats(child);
            self.fail(child, Failure { detail, at, seen, ..Failure::because(Reason::Silent) });
        }
        self.leave();
    }

    /// Nothing is due of a child.
    fn stop_beats(&self, child: usize) {
        self.beats.iter().for_each(|beats| beats.stop(child));
    }

    /// A fault, the end of a program, a request, or that children ran out of time.
    fn take(&mut self, received: Received) {
        if received.info.is_notification() {
            return self.times.take(received.badge);
        }
        if received.badge == NUDGE_BADGE {
            return;
        }
        // A client that may copy its capability can choose any badge.
        let child = (received.badge & !CHILD_BADGE) as usize;
        let of_child = received.badge & CHILD_BADGE != 0 && self.maker.child(child).is_some();
        if let Some(fault) = Fault::from_received(received) {
            let (kind, detail, at) = (fault.kind() as u32, fault.address(), fault.instruction());
            let seen = 0;
            // A client's own thread stays where it is, as its reply right is dropped.
            if of_child {
                self.fail(child, Failure { reason: Reason::Fault, kind, detail, at, seen });
            }
        } else if of_child && received.info.label() == ENDED {
            self.end(child);
        } else {
            let answer = self.dispatch(&Request::new(received, None));
            // The client may be gone: a child that had itself ended, for instance.
            let _ = ipc::reply(answer);
        }
    }

    /// The program of a child has ended.
    fn end(&mut self, child: usize) {
        if self.maker.child(child).is_some_and(|child| child.always) {
            self.fail(child, Failure::because(Reason::Ended));
        } else {
            self.policy.end(child);
            self.stop_beats(child);
        }
    }

    /// A child has failed.
    fn fail(&mut self, child: usize, failure: Failure) {
        if !matches!(self.policy.state(child), State::Up | State::Ended) {
            return;
        }
        let seen = system::clock();
        let affected = self.policy.affected(child);
        self.take_away(affected);
        let event = match self.policy.fail(child, seen) {
            Verdict::Restart(set) => {
                self.maker.renew(set);
                self.make(set);
                Event::Restarted
            }
            Verdict::GiveUp => Event::GivenUp,
        };
        self.note(child, event, failure, seen);
        self.tell(affected);
    }

    /// Takes children away, those that depend on others first.
    fn take_away(&mut self, set: Set) {
        for child in each(set).rev() {
            self.maker.take_away(child);
            self.stop_beats(child);
        }
        self.times.forget(set);
    }

    /// Makes children in order. One that cannot be made is given up, and those that depend on it
    /// wait.
    fn make(&mut self, set: Set) {
        for child in each(set) {
            if self.policy.state(child) != State::Up {
                continue;
            }
            let begun = system::clock();
            match self.maker.make(child) {
                Ok(()) => {
                    self.beats.iter().for_each(|beats| beats.begin(child));
                    self.restarts[child] = self.restarts[child].saturating_add(1);
                }
                Err(error) => {
                    self.policy.mark_down(child, State::GivenUp);
                    let failure = Failure::because(Reason::Making);
                    let failure = Failure { detail: error as u64, ..failure };
                    self.note(child, Event::NotMade, failure, begun);
                }
            }
        }
    }

    /// Signals what is to be told of children.
    fn tell(&self, set: Set) {
        for slot in each(set).filter_map(|child| self.maker.child(child)?.told) {
            // A notification that another domain has destroyed tells no thread.
            let _ = signal::signal(Slot(slot));
        }
    }

    fn note(&mut self, child: usize, event: Event, failure: Failure, seen: u64) {
        let Failure { reason, kind, detail, at, seen: noticed } = failure;
        let seen = if noticed == 0 { seen } else { noticed };
        let (child, done) = (child as u32, system::clock());
        self.journal.write(Entry { child, event, reason, kind, detail, at, seen, done });
    }
}
