//! Who waits for whom: mutexes, conditions, calls, messages that are to be taken and stacks of
//! trains over time, and whose priority runs.
//!
//! A wait begins with its `Wait` records, with the message of a call, or in a queue of senders or
//! visitors; it ends when the thread wakes. A mutex is handed over: when a thread that waits for it
//! wakes, and its deadline has not passed, that one owns it, and those that still wait do so for
//! this thread from then on. Whose turn a sender waits for is known when its message is taken, and
//! from then on for the endpoint; whose stack, when that thread has left it.

mod longest;

pub use longest::{LongestWait, longest_waits};

use crate::{Entry, Lives, Moment, Names, Trace};
use abi::call::{Call, ThreadState};
use abi::trace::{Awaited, Event, NO_THREAD};
use std::collections::BTreeMap;

/// No chain is told for longer.
const LINKS: usize = 64;
const TRAIN_CALL: u8 = Call::TrainCall as u8;
const TRAIN_RETURN: u8 = Call::TrainReturn as u8;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A mutex or condition, with the low half of its address.
    Words(Awaited, u32),
    /// The answer to its call.
    Answer,
    /// That its message is taken at the endpoint with this index.
    Turn(u32),
    /// A stack of a train.
    Stack,
}

impl std::fmt::Display for What {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            What::Words(kind, at) => write!(f, "{} {at:#x}", noun(*kind)),
            What::Answer => f.write_str("an answer"),
            What::Turn(endpoint) => write!(f, "its turn at endpoint {endpoint}"),
            What::Stack => f.write_str("a stack of a train"),
        }
    }
}

/// What people call a thing that has its words in memory.
pub(crate) fn noun(kind: Awaited) -> &'static str {
    match kind {
        Awaited::Mutex | Awaited::InheritMutex => "mutex",
        _ => "condition",
    }
}

/// A stretch in which a thread waits for the same threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The thread that waits.
    pub thread: u16,
    /// What it waits for.
    pub what: What,
    /// The threads that own it, can make it true or give it; none: not known.
    pub on: Vec<u16>,
    /// The moment with which it begins.
    pub first: usize,
    /// Whether the wait goes on from an earlier stretch: another thread owns the mutex now.
    pub goes_on: bool,
    /// The moment with which it ends; none: at the trace's end it lasts still.
    pub last: Option<usize>,
    /// The thread that has ended it, in its section of the kernel.
    pub ended_by: Option<u16>,
}

/// All waits of a trace.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    all: Vec<Wait>,
    by_thread: BTreeMap<u16, Vec<usize>>,
}

/// What is known on the way.
#[derive(Default)]
struct Followed {
    waits: Waits,
    /// By CPU, the thread from which the kernel was entered.
    running: BTreeMap<u8, u16>,
    /// The thread whose deadline has passed in this section.
    expired: Option<u16>,
    /// By thread, the receiver of its last message.
    sent: BTreeMap<u16, u16>,
    /// By thread, what it has last entered the kernel for.
    entered: BTreeMap<u16, Entry>,
    /// By endpoint, the thread that has last taken a message that waited there.
    servers: BTreeMap<u32, u16>,
}

impl Wait {
    /// Whether those that it waits for have its priority, or its leaf.
    pub(crate) fn inherits(&self) -> bool {
        use Awaited::{InheritCondition, InheritMutex};
        matches!(self.what, What::Words(InheritMutex | InheritCondition, _))
    }
}

impl Waits {
    /// The waits of a trace.
    pub fn of(trace: &Trace, lives: &Lives) -> Waits {
        let mut followed = Followed::default();
        for (index, moment) in trace.moments.iter().enumerate() {
            followed.follow((index, moment), lives);
        }
        followed.waits
    }

    /// The wait in which a thread is at a moment.
    pub fn at(&self, thread: u16, moment: usize) -> Option<&Wait> {
        let of = self.by_thread.get(&thread)?;
        let begun = of.partition_point(|&wait| self.all[wait].first <= moment);
        let wait = &self.all[of[begun.checked_sub(1)?]];
        wait.last.is_none_or(|last| moment < last).then_some(wait)
    }

    /// The waits that begin with a moment: that of its thread.
    pub fn begins(&self, moment: usize) -> Option<&Wait> {
        let at = self.all.partition_point(|wait| wait.first < moment);
        self.all.get(at).filter(|wait| wait.first == moment && !wait.goes_on)
    }

    /// The wait of a thread that ends with a moment.
    pub fn ends(&self, thread: u16, moment: usize) -> Option<&Wait> {
        let of = self.by_thread.get(&thread)?;
        let begun = of.partition_point(|&wait| self.all[wait].first < moment);
        let wait = &self.all[of[begun.checked_sub(1)?]];
        (wait.last == Some(moment)).then_some(wait)
    }

    /// The waits from a thread on, each of the thread that the one before waits for first.
    pub fn chain(&self, thread: u16, moment: usize) -> Vec<&Wait> {
        let mut chain: Vec<&Wait> = Vec::new();
        let mut next = self.at(thread, moment);
        while let Some(wait) = next {
            if chain.len() == LINKS || chain.iter().any(|before| before.thread == wait.thread) {
                break;
            }
            chain.push(wait);
            next = wait.on.first().and_then(|on| self.at(*on, moment));
        }
        chain
    }

    /// The thread that waits for this one and has its priority at a moment: whose priority runs.
    pub fn lender(&self, lives: &Lives, thread: u16, moment: usize) -> Option<&Wait> {
        let priority = |thread: u16| lives.all[lives.at(thread, moment)?].priority_at(moment);
        let own = priority(thread)?;
        let waiting = self.by_thread.keys().filter_map(|other| self.at(*other, moment));
        let lends = |wait: &&Wait| {
            wait.inherits() && wait.on.contains(&thread) && priority(wait.thread) == Some(own)
        };
        waiting.into_iter().find(lends)
    }

    /// The waits for what a thread owns, or has to do, at a moment.
    pub(crate) fn waiters(&self, thread: u16, moment: usize) -> Vec<&Wait> {
        let waiting = self.by_thread.keys().filter_map(|other| self.at(*other, moment));
        waiting.filter(|wait| wait.on.contains(&thread)).collect()
    }

    /// The thread that waits at a moment for the answer of this one.
    pub fn caller(&self, thread: u16, moment: usize) -> Option<u16> {
        let waiting = self.by_thread.keys().filter_map(|other| self.at(*other, moment));
        let mut calls =
            waiting.filter(|wait| wait.what == What::Answer && wait.on.contains(&thread));
        calls.next().map(|wait| wait.thread)
    }

    /// A thread's chain in words: `mutex 0x80 held by robot/logger, which waits for ...`.
    pub fn words(
        &self,
        lives: &Lives,
        names: &Names,
        thread: u16,
        moment: usize,
    ) -> Option<String> {
        let name = |thread: &u16| names.thread(lives, *thread, moment);
        let link = |wait: &&Wait| {
            let on = wait.on.iter().map(name).collect::<Vec<_>>().join(" or ");
            let how = match wait.what {
                What::Words(Awaited::Mutex | Awaited::InheritMutex, _) | What::Stack => " held by ",
                What::Words(..) => " that can be made true by ",
                What::Answer | What::Turn(_) => " of ",
            };
            let on = if on.is_empty() { on } else { format!("{how}{on}") };
            let what = names.what(lives, (wait.thread, moment), wait.what);
            format!("{what}{on}")
        };
        let links: Vec<String> = self.chain(thread, moment).iter().map(link).collect();
        (!links.is_empty()).then(|| links.join(", which waits for "))
    }

    fn begin(&mut self, wait: Wait) {
        self.by_thread.entry(wait.thread).or_default().push(self.all.len());
        self.all.push(wait);
    }

    fn open(&mut self, thread: u16) -> Option<&mut Wait> {
        let last = *self.by_thread.get(&thread)?.last()?;
        Some(&mut self.all[last]).filter(|wait| wait.last.is_none())
    }

    fn end(&mut self, thread: u16, moment: usize, ended_by: Option<u16>) -> Option<What> {
        let wait = self.open(thread)?;
        (wait.last, wait.ended_by) = (Some(moment), ended_by);
        Some(wait.what)
    }
}

impl Followed {
    fn follow(&mut self, (index, moment): (usize, &Moment), lives: &Lives) {
        let Moment { thread, argument, extra, cpu, .. } = *moment;
        match moment.event {
            Event::Enter => {
                self.running.insert(cpu, thread);
                self.expired = None;
                let entry = Entry::from_code(argument);
                if !entry.is_interrupt() {
                    self.entered.insert(thread, entry);
                }
            }
            Event::Expire => self.expired = Some(thread),
            Event::Wait => self.wait((index, thread), argument, extra),
            Event::Message => {
                self.sent.insert(thread, argument as u16);
                self.taken((index, thread), argument as u16);
            }
            Event::Queue => {
                let on = self.servers.get(&argument).copied().into_iter().collect();
                self.waits.end(thread, index, None);
                self.begin((index, thread), What::Turn(argument), on);
            }
            Event::Block if extra == ThreadState::Sending as u16 => {
                let enters = self.entered.get(&thread) == Some(&Entry::Call(TRAIN_CALL));
                if enters && self.waits.open(thread).is_none() {
                    self.begin((index, thread), What::Stack, Vec::new());
                }
            }
            Event::Block if extra == ThreadState::Calling as u16 => {
                let on = self.sent.get(&thread).copied().into_iter().collect();
                self.waits.end(thread, index, None);
                self.begin((index, thread), What::Answer, on);
            }
            Event::Wake => self.wake((index, moment), lives),
            Event::Thread => {
                self.waits.end(thread, index, None);
            }
            _ => {}
        }
    }

    fn begin(&mut self, (first, thread): (usize, u16), what: What, on: Vec<u16>) {
        let (goes_on, last, ended_by) = (false, None, None);
        self.waits.begin(Wait { thread, what, on, first, goes_on, last, ended_by });
    }

    /// A record of a wait: the first of it, or of a further helper.
    fn wait(&mut self, at: (usize, u16), argument: u32, extra: u16) {
        let Some((kind, address)) = Awaited::of(argument) else { return };
        let what = What::Words(kind, address);
        let on = Some(extra).filter(|on| *on != NO_THREAD);
        match self.waits.open(at.1) {
            Some(wait) if wait.what == what => wait.on.extend(on),
            _ => {
                self.waits.end(at.1, at.0, None);
                self.begin(at, what, on.into_iter().collect());
            }
        }
    }

    /// A message goes to a thread. If it has waited for that, this was its turn; and who has called
    /// waits for the answer from then on.
    fn taken(&mut self, (index, thread): (usize, u16), by: u16) {
        let Some(wait) = self.waits.open(thread) else { return };
        let What::Turn(endpoint) = wait.what else { return };
        wait.on = vec![by];
        self.waits.end(thread, index, Some(by));
        self.servers.insert(endpoint, by);
        for wait in self.waits.all.iter_mut().filter(|wait| wait.last.is_none()) {
            if wait.what == What::Turn(endpoint) {
                wait.on = vec![by];
            }
        }
        let calls = [Entry::Call(Call::Call as u8), Entry::Fault];
        if self.entered.get(&thread).is_some_and(|entry| calls.contains(entry)) {
            self.begin((index, thread), What::Answer, vec![by]);
        }
    }

    /// A wait ends. Who is given a mutex is the one that others wait for now.
    fn wake(&mut self, (index, moment): (usize, &Moment), lives: &Lives) {
        let heir = moment.thread;
        let passed = self.expired == Some(heir);
        let by = self.running.get(&moment.cpu).copied().filter(|by| !passed && *by != heir);
        if let Some(by) = by.filter(|by| self.entered.get(by).is_some_and(leaves))
            && let Some(wait) = self.waits.open(heir).filter(|wait| wait.what == What::Stack)
        {
            wait.on = vec![by];
        }
        let Some(what) = self.waits.end(heir, index, by) else { return };
        let is_mutex =
            matches!(what, What::Words(Awaited::Mutex | Awaited::InheritMutex, _)) && !passed;
        let domain = |thread| lives.at(thread, index).and_then(|life| lives.all[life].domain);
        let mut others: Vec<u16> = self.waits.by_thread.keys().copied().collect();
        others.retain(|other| *other != heir && is_mutex && domain(*other) == domain(heir));
        for other in others {
            let same = self.waits.open(other).is_some_and(|wait| wait.what == what);
            if same {
                self.waits.end(other, index, None);
                let (thread, on, first) = (other, vec![heir], index);
                let (goes_on, last, ended_by) = (true, None, None);
                self.waits.begin(Wait { thread, what, on, first, goes_on, last, ended_by });
            }
        }
    }
}

/// Whether a thread has left a domain that it had entered by a train, if it was in one.
fn leaves(entry: &Entry) -> bool {
    matches!(entry, Entry::Call(TRAIN_RETURN) | Entry::Fault)
}

#[cfg(test)]
mod tests;
