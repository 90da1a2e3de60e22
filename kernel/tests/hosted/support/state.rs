//! Everything that can be observed of a kernel, to compare two of them.

use super::board::{Board, body, whole};
use super::heap;
use super::host::Host;
use abi::message::BUFFER_WORDS;
use abi::object::Resource;
use kernel::access::{Life, Ref};
use kernel::list::{Linked, List};
use kernel::object::capability::Capability;
use kernel::object::thread::{State, Wait, flag};
use kernel::object::{Endpoint, Thread};
use kernel::port::Port;
use kernel::send_queue::{Heap, Scan};
use kernel::system::System;
use std::any::TypeId;
use std::cmp::Reverse;
use std::sync::atomic::Ordering::Relaxed;

/// A fact: what it is about, an index, and its value.
pub type Fact = (&'static str, u32, u64);

const NONE: u64 = u64::MAX;

fn index<T>(at: Option<Ref<T>>) -> u64 {
    at.map_or(NONE, |at| u64::from(at.index()))
}

/// All facts about a kernel and the running thread.
pub fn facts<S: System<Port = Host>>(board: &Board<S>, facts: &mut Vec<Fact>) {
    facts.clear();
    let (number, badge, info, words, again) = board.regs.get().visible();
    facts.push(("running thread", 0, board.running().map_or(NONE, u64::from)));
    facts.push(("status", 0, number));
    facts.push(("badge", 0, badge));
    facts.push(("info", 0, info));
    facts.push(("to be issued again", 0, u64::from(again)));
    facts.extend(words.iter().zip(0..).map(|(word, index)| ("word", index, *word)));
    facts.push(("instant armed", 0, board.host.armed().unwrap_or(NONE)));
    facts.push(("polls", 0, board.host.polls.get()));
    facts.push(("console", 0, board.host.output.borrow().len() as u64));
    threads(board, facts);
    ready(board, facts);
    queues(board, facts);
    domains(board, facts);
    for resource in Resource::ALL {
        let (used, _) = board.machine.kernel.usage(resource);
        facts.push(("in use", resource as u32, u64::from(used)));
    }
}

/// What programs and devices can tell of a kernel whose queues and ticks are its own business:
/// not when it asks for the timer, for ticks come only while it has somebody queued.
pub fn outcome<S: System<Port = Host>>(board: &Board<S>, outcome: &mut Vec<Fact>) {
    facts(board, outcome);
    outcome.retain(|(name, ..)| !["instant armed", "polls", "time slice"].contains(name));
    for (name, _, value) in outcome.iter_mut() {
        if *name == "flags" {
            *value &= !u64::from(flag::FULL);
        }
    }
    let first = board.machine.cpu.deadlines.first();
    outcome.push(("first deadline", 0, first));
}

/// Whether a fact depends on who runs and on nothing else.
pub fn tells_who_runs(fact: &Fact) -> bool {
    let facts = [
        "running thread",
        "status",
        "badge",
        "info",
        "word",
        "to be issued again",
        "ready at level",
    ];
    facts.contains(&fact.0)
}

/// The threads blocked sending to an endpoint, in the order in which they will be served.
pub fn served<S: System<Port = Host>>(endpoint: &Endpoint<Host>) -> Vec<Ref<Thread<Host>>> {
    let mut threads = Vec::new();
    endpoint.senders().each(|thread| threads.push(thread));
    let kind = TypeId::of::<S::SendQueue>();
    if kind == TypeId::of::<Heap>() {
        threads = heap::members(endpoint);
        threads.sort_by_key(|at| at.node.open(endpoint).arrival.get());
    }
    if kind == TypeId::of::<Heap>() || kind == TypeId::of::<Scan>() {
        threads.sort_by_key(|at| Reverse(body(*at).priority.get()));
    }
    threads
}

fn threads<S: System<Port = Host>>(board: &Board<S>, facts: &mut Vec<Fact>) {
    let pool = &board.machine.kernel.threads;
    for at in (1..pool.size()).filter_map(|index| pool.get(index)) {
        let (thread, i) = (body(at), at.index());
        facts.push(("thread's generation", i, at.generation()));
        if at.life() != Life::Live {
            continue;
        }
        facts.push(("state", i, thread.state.get() as u64));
        facts.push(("flags", i, u64::from(thread.flags())));
        facts.push(("priority", i, thread.priority.get() as u64));
        facts.push(("time slice", i, u64::from(thread.slice.get(&whole()))));
        facts.push(("caller", i, index(thread.caller.get())));
        facts.push(("position", i, thread.context.at.get().0));
        if thread.state.get() == State::Calling {
            facts.push(("server", i, index(thread.server.get())));
        }
        if thread.state.get() == State::Sending {
            facts.push(("outgoing", i, thread.outgoing.get().info.0));
            facts.push(("outgoing badge", i, thread.outgoing.get().badge));
        }
        if thread.state.get() == State::Waiting {
            facts.push(("address waited for", i, thread.futex.target.get().mutex.at));
            facts.push(("heads a queue", i, thread.futex.heads.get().is_some().into()));
        }
        if matches!(thread.state.get(), State::Sending | State::Receiving) {
            facts.push((
                "waits for",
                i,
                match thread.wait.get() {
                    Wait::Nothing => NONE,
                    Wait::Endpoint(at) => u64::from(at.index()),
                    Wait::Notification(at) => 1 << 32 | u64::from(at.index()),
                    Wait::Train(at) => 2 << 32 | u64::from(at.index()),
                },
            ));
        }
    }
}

/// The ready queue counts where it shows: in the order of threads that can run.
fn ready<S: System<Port = Host>>(board: &Board<S>, facts: &mut Vec<Fact>) {
    board.machine.cpu.ready.each(|level, thread| {
        if body(thread).runnable() && Some(thread.index()) != board.running() {
            facts.push(("ready at level", u32::from(level), u64::from(thread.index())));
        }
    });
}

fn queue<K>(name: &'static str, i: u32, list: &List<Thread<Host>, K>, facts: &mut Vec<Fact>)
where
    Thread<Host>: Linked<K>,
{
    list.each(|thread| facts.push((name, i, u64::from(thread.index()))));
}

fn queues<S: System<Port = Host>>(board: &Board<S>, facts: &mut Vec<Fact>) {
    let kernel = board.machine.kernel;
    for at in (0..kernel.endpoints.size()).filter_map(|index| kernel.endpoints.get(index)) {
        facts.push(("endpoint's generation", at.index(), at.generation()));
        let served = served::<S>(body(at)).into_iter();
        facts.extend(served.map(|thread| ("sender", at.index(), u64::from(thread.index()))));
        queue("receiver", at.index(), body(at).receivers(), facts);
    }
    for at in (0..kernel.notifications.size()).filter_map(|i| kernel.notifications.get(i)) {
        facts.push(("signals", at.index(), body(at).bits.get()));
        queue("signal receiver", at.index(), body(at).receivers(), facts);
    }
}

fn domains<S: System<Port = Host>>(board: &Board<S>, facts: &mut Vec<Fact>) {
    let kernel = board.machine.kernel;
    for at in (0..kernel.domains.size()).filter_map(|index| kernel.domains.get(index)) {
        let (domain, i) = (body(at), at.index());
        facts.push(("domain's life", i, at.life() as u64));
        for resource in Resource::ALL {
            let used = u64::from(domain.quotas.used(resource));
            facts.push(("quota", i, used << 32 | u64::from(domain.quotas.limit(resource))));
        }
        for (slot, cell) in (0..).zip(domain.slots) {
            if let Some(kind) = cell.get().kind() {
                facts.push(("slot", i << 16 | slot, kind as u64));
                capability(cell.get(), i << 16 | slot, facts);
            }
        }
    }
}

fn capability(capability: Capability<Host>, slot: u32, facts: &mut Vec<Fact>) {
    match capability.inspect() {
        Ok((rights, badge)) => {
            facts.push(("rights", slot, u64::from(rights.0)));
            facts.push(("badge in slot", slot, badge));
        }
        Err(error) => facts.push(("invalid slot", slot, error as u64)),
    }
}

/// The words of a thread's message buffer, folded.
pub fn buffer<S: System<Port = Host>>(board: &Board<S>, thread: u32) -> u64 {
    let frame = board.host.frame(board.thread(thread).buffer);
    assert_eq!(frame.len(), BUFFER_WORDS);
    frame[..abi::message::BUFFER_RECEIVE_SLOT + 1]
        .iter()
        .fold(0, |sum: u64, word| sum.rotate_left(7) ^ word.load(Relaxed))
}
