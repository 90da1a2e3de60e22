//! Threads over time: which existed when, and what each did.
//!
//! A thread's index is used again after it has ended, so a thread is known by its life: one life
//! begins with each `Thread` record, or with the first mention of an index that has none.
//!
//! ```text
//!           Block                    Wake, Insert
//! running --------> blocked(state) ---------------> ready
//!    |  ^                                            |  ^
//!    |  +-------------------- Switch, Exit ----------+  |
//!    +----------------------- Switch -------------------+
//! ```

use crate::made::{self, Made};
use crate::{Entry, Introduction, Moment, Names, Trace};
use abi::call::{Call, ThreadState};
use abi::trace::{Event, NO_THREAD, part_of_name};
use std::collections::BTreeMap;
use std::fmt;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has the CPU, or the kernel works on its behalf.
    Running,
    /// It could run.
    Ready,
    /// It waits to send.
    Sending,
    /// It waits to receive.
    Receiving,
    /// It waits for the answer to its call.
    Calling,
    /// It was stopped, or not yet started.
    Suspended,
    /// It waits for a mutex or a condition.
    Waiting,
    /// It is blocked in a way that this reader does not know.
    Blocked,
}

impl State {
    /// The state of a `Block` record.
    fn blocked(extra: u16) -> State {
        match extra {
            x if x == ThreadState::Suspended as u16 => State::Suspended,
            x if x == ThreadState::Sending as u16 => State::Sending,
            x if x == ThreadState::Receiving as u16 => State::Receiving,
            x if x == ThreadState::Calling as u16 => State::Calling,
            x if x == ThreadState::Waiting as u16 => State::Waiting,
            _ => State::Blocked,
        }
    }

    /// Whether it waits for something other than the CPU.
    pub fn is_blocked(self) -> bool {
        !matches!(self, State::Running | State::Ready)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Running => "running",
            State::Ready => "ready",
            State::Sending => "blocked: sending",
            State::Receiving => "blocked: receiving",
            State::Calling => "blocked: calling",
            State::Suspended => "suspended",
            State::Waiting => "blocked: waiting",
            State::Blocked => "blocked",
        })
    }
}

/// A stretch in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The moment at which it begins.
    pub first: usize,
    /// When it begins, in ns since boot.
    pub from: u64,
    /// When it ends.
    pub to: u64,
    /// What the thread does.
    pub state: State,
    /// The thread's priority at its beginning, if known.
    pub priority: Option<u16>,
}

/// One life of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// The thread's index.
    pub thread: u16,
    /// Its domain's index, if its introduction is in the trace or was given.
    pub domain: Option<u32>,
    /// The how manieth of its domain it is, from 1.
    pub number: u32,
    /// The moment with which it begins.
    pub born: usize,
    /// The name that a program gave it, the last one.
    pub name: Option<String>,
    /// Its priority, the last one known.
    pub priority: Option<u16>,
    /// Its priorities and the moments from which on they are known.
    priorities: Vec<(usize, u16)>,
    /// The indices of the reservations that it was given, and the moments from which on it has
    /// them; 0: that of its domain.
    reservations: Vec<(usize, u32)>,
    /// What it did, in order of time and without gaps.
    pub stretches: Vec<Stretch>,
}

impl Life {
    /// Its priority at a moment; the first that is known for moments before.
    pub fn priority_at(&self, moment: usize) -> Option<u16> {
        let known = self.priorities.partition_point(|&(from, _)| from <= moment);
        self.priorities.get(known.saturating_sub(1)).map(|&(_, priority)| priority)
    }

    /// Its priorities, effective ones, with the moments from which on they are known.
    pub fn priorities(&self) -> impl Iterator<Item = (usize, u16)> {
        self.priorities.iter().copied()
    }

    /// The index of the reservation that it was given, if it has one of its own at a moment.
    fn reservation_at(&self, moment: usize) -> Option<u32> {
        let known = self.reservations.partition_point(|&(from, _)| from <= moment);
        let (_, index) = self.reservations.get(known.checked_sub(1)?)?;
        Some(*index).filter(|index| *index > 0)
    }

    fn set_priority(&mut self, moment: usize, priority: u16) {
        if self.priority != Some(priority) {
            self.priority = Some(priority);
            self.priorities.push((moment, priority));
        }
    }
}

/// All threads of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lives {
    /// The lives in the order of their beginnings.
    pub all: Vec<Life>,
    /// How many CPUs there are: so many threads, the first, idle.
    cpus: u8,
    /// By thread, the lives that had its index.
    by_thread: BTreeMap<u16, Vec<usize>>,
    /// How many threads each domain has had.
    counts: BTreeMap<u32, u32>,
    /// Domains that programs have made.
    made: Made,
    /// The kernel orders leaves: a switch names no priority of a thread.
    by_leaves: bool,
}

/// The kernel with a scheduling tree.
const TREE: &str = "tree";

impl Lives {
    /// The threads of a trace.
    pub fn of(trace: &Trace, names: &Names) -> Lives {
        let by_leaves = trace.kernel == TREE;
        let mut lives = Lives { cpus: trace.cpus, by_leaves, ..Lives::default() };
        // A thread whose first mention is its introduction needs none from elsewhere.
        let introduced = |thread| {
            let mut about = trace.moments.iter().filter(|moment| mentions(moment, thread));
            about.next().is_some_and(|moment| moment.event == Event::Thread)
        };
        for known in names.threads.iter().filter(|known| !introduced(known.thread)) {
            lives.introduce(*known, 0);
        }
        let mut cpus: BTreeMap<u8, (Option<u16>, Option<Entry>)> = BTreeMap::new();
        for (index, moment) in trace.moments.iter().enumerate() {
            let (running, entry) = cpus.entry(moment.cpu).or_default();
            lives.follow((index, moment), running, entry);
        }
        let end = trace.moments.last().map_or(0, |moment| moment.ns);
        for stretch in lives.all.iter_mut().filter_map(|life| life.stretches.last_mut()) {
            stretch.to = end;
        }
        lives
    }

    /// How many reservations the kernel has before the manifest's: the roots of CPUs, and of the
    /// class that all CPUs share.
    pub(crate) fn roots(&self) -> u32 {
        u32::from(self.cpus) + 1
    }

    /// The CPU whose idle thread this is.
    pub fn idles(&self, thread: u16) -> Option<u8> {
        u8::try_from(thread).ok().filter(|cpu| *cpu < self.cpus)
    }

    /// The life that a thread's index stands for at a moment.
    pub fn at(&self, thread: u16, moment: usize) -> Option<usize> {
        let lives = self.by_thread.get(&thread)?;
        let later = lives.partition_point(|&life| self.all[life].born <= moment);
        // An index may be mentioned, as the target of a message, before its life is seen to begin.
        lives.get(later.saturating_sub(1)).copied()
    }

    /// Of the domain of a life, if a program has made it: the manifest's domain that it is in, and
    /// its name.
    pub(crate) fn made(&self, life: &Life) -> Option<(u16, Option<&str>)> {
        self.made.at(life.domain?, life.born)
    }

    /// The index of the reservation that a life has of its own at a moment, or that its domain was
    /// given by a program; none: what the manifest says.
    pub(crate) fn reservation(&self, life: usize, moment: usize) -> Option<u32> {
        let life = &self.all[life];
        let of_domain = || self.made.reservation(life.domain?, life.born);
        life.reservation_at(moment).or_else(of_domain)
    }

    fn introduce(&mut self, known: Introduction, born: usize) -> usize {
        let life = self.begin(known.thread, born);
        let count = self.counts.entry(known.domain).or_default();
        *count += 1;
        let (life, number) = (&mut self.all[life], *count);
        (life.domain, life.number) = (Some(known.domain), number);
        life.set_priority(born, known.priority);
        self.all.len() - 1
    }

    fn begin(&mut self, thread: u16, born: usize) -> usize {
        self.all.push(Life { thread, born, ..Life::default() });
        self.by_thread.entry(thread).or_default().push(self.all.len() - 1);
        self.all.len() - 1
    }

    /// The life that a thread's index stands for now.
    fn now(&mut self, thread: u16, moment: usize) -> usize {
        let last = self.by_thread.get(&thread).and_then(|lives| lives.last()).copied();
        last.unwrap_or_else(|| self.begin(thread, moment))
    }

    /// The thread is in this state from now on.
    fn set(&mut self, thread: u16, (index, moment): (usize, &Moment), state: State) {
        let life = self.now(thread, index);
        let life = &mut self.all[life];
        if let Some(last) = life.stretches.last_mut() {
            if last.state == state {
                return;
            }
            last.to = moment.ns;
        }
        let (from, to, priority) = (moment.ns, moment.ns, life.priority);
        life.stretches.push(Stretch { first: index, from, to, state, priority });
    }

    fn state(&mut self, thread: u16, moment: usize) -> Option<State> {
        let life = self.now(thread, moment);
        self.all[life].stretches.last().map(|stretch| stretch.state)
    }

    fn follow(
        &mut self,
        at: (usize, &Moment),
        running: &mut Option<u16>,
        entry: &mut Option<Entry>,
    ) {
        let (index, moment) = at;
        let thread = moment.thread;
        match moment.event {
            Event::Thread => {
                let (domain, priority) = (moment.argument, moment.extra);
                self.introduce(Introduction { thread, domain, priority }, index);
                let made = *entry == Some(Entry::Call(Call::ThreadCreate as u8));
                self.set(thread, at, if made { State::Suspended } else { State::Ready });
            }
            Event::Domain => {
                self.counts.remove(&moment.argument);
                self.made.begin(moment.argument, moment.extra, index);
            }
            Event::Name => match part_of_name(moment.extra) {
                (part, true) => self.made.name(thread.into(), part, moment.argument),
                (part, false) => {
                    let life = self.now(thread, index);
                    made::add_part(&mut self.all[life].name, part, moment.argument);
                }
            },
            Event::Enter => {
                *entry = Some(Entry::from_code(moment.argument));
                self.take_over(at, thread, running);
            }
            Event::Exit => {
                *entry = None;
                self.take_over(at, thread, running);
            }
            Event::Switch => {
                let life = self.now(thread, index);
                if moment.extra != NO_THREAD && !self.by_leaves {
                    self.all[life].set_priority(index, moment.extra);
                }
                self.take_over(at, thread, running);
            }
            Event::Block => self.set(thread, at, State::blocked(moment.extra)),
            Event::Wake if self.state(thread, index) != Some(State::Running) => {
                self.set(thread, at, State::Ready);
            }
            Event::Insert if self.state(thread, index).is_none() => {
                self.set(thread, at, State::Ready);
            }
            Event::Priority => {
                let life = self.now(thread, index);
                self.all[life].set_priority(index, moment.extra);
            }
            Event::Reserve if moment.extra == 0 => {
                let life = self.now(thread, index);
                self.all[life].reservations.push((index, moment.argument));
            }
            Event::Reserve => self.made.reserve(thread.into(), moment.argument),
            _ => {}
        }
    }

    /// `thread` has the CPU; the thread that had it before, unless it has blocked, could go on.
    fn take_over(&mut self, at: (usize, &Moment), thread: u16, running: &mut Option<u16>) {
        if let Some(before) = running.replace(thread)
            && before != thread
            && self.state(before, at.0) == Some(State::Running)
        {
            self.set(before, at, State::Ready);
        }
        self.set(thread, at, State::Running);
    }
}

/// Whether a moment is about a thread in a way that gives it a life.
fn mentions(moment: &Moment, thread: u16) -> bool {
    use Event::{Block, Enter, Exit, Insert, Priority, Switch, Thread, Wake};
    moment.thread == thread
        && matches!(moment.event, Block | Enter | Exit | Insert | Priority | Switch | Thread | Wake)
}
