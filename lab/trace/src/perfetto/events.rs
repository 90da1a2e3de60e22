//! From moments to slices, instants and flows.

use super::queues::Queues;
use super::tracks;
use super::writer::{Draft, Writer};
use crate::lives::{Lives, State, Stretch};
use crate::reservations::{MADE, On, Times, policy_name};
use crate::timeline::{error_name, point_name};
use crate::{Entry, Moment, Names, Sections, Trace, Waits, What};
use abi::trace::{Awaited, Event, NO_THREAD, Undone, Way};
use std::collections::HashMap;

/// Writes all events of a trace in the order of their times.
pub(super) fn write(
    writer: &mut Writer,
    trace: &Trace,
    names: &Names,
    lives: &Lives,
    sections: &Sections,
) {
    let waits = Waits::of(trace, lives);
    let mut scene = Scene {
        writer,
        trace,
        names,
        lives,
        waits: &waits,
        cpu: trace.cpu,
        ipis: HashMap::new(),
        running: vec![false; lives.all.len()],
        waiting: HashMap::new(),
        flows: 0,
    };
    let mut queues = Queues::default();
    let mut changes = changes(lives).into_iter().peekable();
    // Of several CPUs the one that begins first need not end first.
    let mut begun: Vec<usize> = sections.whole.iter().map(|section| section.first).collect();
    begun.sort_unstable();
    let (mut first, mut last) = (begun.into_iter().peekable(), sections.whole.iter().peekable());
    for (index, moment) in trace.moments.iter().enumerate() {
        scene.cpu = moment.cpu;
        if first.next_if_eq(&index).is_some() {
            scene.enters((index, moment));
        }
        while let Some((_, life, place)) = changes.next_if(|(at, ..)| *at == index) {
            scene.changes(index, moment.ns, life, place);
        }
        scene.happens((index, moment));
        queues.follow(scene.writer, moment);
        if last.next_if(|section| section.last == index).is_some() {
            scene.writer.event(moment.ns, Draft::end(tracks::cpu(moment.cpu)));
        }
    }
    let end = trace.span().map_or(0, |(_, end)| end);
    let ended = (0..lives.all.len()).filter(|&life| !lives.all[life].stretches.is_empty());
    for life in ended {
        scene.writer.event(end, Draft::end(tracks::life(life)));
    }
}

/// All changes of state: moment, life and the stretch's place in it.
fn changes(lives: &Lives) -> Vec<(usize, usize, usize)> {
    let mut changes = Vec::new();
    for (index, life) in lives.all.iter().enumerate() {
        let stretches = life.stretches.iter().enumerate();
        changes.extend(stretches.map(|(place, stretch)| (stretch.first, index, place)));
    }
    // A life's stretches that begin with the same moment stay in their order.
    changes.sort_by_key(|&(moment, ..)| moment);
    changes
}

/// What is known on the way through a trace.
struct Scene<'a> {
    writer: &'a mut Writer,
    trace: &'a Trace,
    names: &'a Names,
    lives: &'a Lives,
    waits: &'a Waits,
    /// Of the moment that is written.
    cpu: u8,
    /// By CPU, the flows of interrupts that it has not taken yet.
    ipis: HashMap<u8, Vec<u64>>,
    /// By life.
    running: Vec<bool>,
    /// By life, the flows that end when it runs.
    waiting: HashMap<usize, Vec<u64>>,
    /// Flows so far.
    flows: u64,
}

impl Scene<'_> {
    fn name(&self, thread: u16, index: usize) -> String {
        self.names.thread(self.lives, thread, index)
    }

    /// A kernel section begins.
    fn enters(&mut self, (index, moment): (usize, &Moment)) {
        let entry = Entry::from_code(moment.argument);
        let draft = Draft::begin(tracks::cpu(self.cpu), entry.to_string())
            .text("thread", self.name(moment.thread, index))
            .number("code", moment.argument);
        let ipis = match entry {
            Entry::Ipi => self.ipis.remove(&self.cpu).unwrap_or_default(),
            _ => Vec::new(),
        };
        let draft = draft.flows_in(ipis);
        self.writer.event(moment.ns, draft);
    }

    /// A thread goes over to its next state.
    fn changes(&mut self, index: usize, ns: u64, life: usize, place: usize) {
        let track = tracks::life(life);
        if place > 0 {
            self.writer.event(ns, Draft::end(track));
        }
        let Stretch { state, priority, .. } = self.lives.all[life].stretches[place];
        let wait = self.waits.at(self.lives.all[life].thread, index);
        let mut draft = match wait.filter(|_| state == State::Waiting) {
            Some(wait) => {
                let what = self.names.what(self.lives, (wait.thread, index), wait.what);
                Draft::begin(track, format!("blocked: {what}"))
            }
            None => Draft::begin(track, state.to_string()),
        };
        self.running[life] = state == State::Running;
        if state == State::Running {
            draft = draft.number("cpu", self.cpu);
            draft = self.on(draft, self.lives.all[life].thread, index, priority);
            draft = draft.flows_in(self.waiting.remove(&life).unwrap_or_default());
        }
        self.writer.event(ns, draft);
    }

    /// On what a thread runs: its reservation, the class of that and what decides there, and its
    /// priority in its CPU's root.
    fn on(&self, draft: Draft, thread: u16, index: usize, priority: Option<u16>) -> Draft {
        let Scene { trace, names, lives, waits, .. } = *self;
        let leaf = match (Times { trace, names, lives, waits }).on(thread, index) {
            On::Leaf(leaf) => leaf,
            On::Made => return draft.text("leaf", MADE.to_string()),
            On::Priority => return draft.number("prio", prio(priority)),
        };
        draft
            .number("prio", prio(Some(names.level(leaf))))
            .text("leaf", names.path_name(leaf))
            .text("class", names.class_of(leaf).unwrap_or("root").to_string())
            .text("policy", policy_name(names.policy_above(leaf)).to_string())
    }

    /// Something happens that is more than a change of state.
    fn happens(&mut self, at: (usize, &Moment)) {
        let (index, moment) = at;
        let Moment { ns, thread, argument, extra, .. } = *moment;
        let cpu = tracks::cpu(self.cpu);
        let name = self.name(thread, index);
        let draft = match moment.event {
            Event::Switch => Draft::instant(cpu, "switch")
                .number("cpu", self.cpu)
                .number("prio", prio(Some(extra)))
                .text("from", self.name(argument as u16, index))
                .text("to", name),
            Event::Ipi => return self.ipi(moment),
            Event::Lock if argument > 0 => {
                let draft = Draft::instant(cpu, "waited for the lock").number("steps", argument);
                let of = Way::of(extra).1.map_or("unknown".to_string(), |of| of.to_string());
                draft.text("of CPU", of)
            }
            Event::Undone => {
                let draft = Draft::instant(cpu, "transactions undone").number("times", argument);
                let cause = Undone::ALL.get(usize::from(extra));
                draft.text("cause", cause.map_or("unknown", |cause| cause.name()).to_string())
            }
            Event::Message => return self.message(at, name),
            Event::Wait => return self.waits(at, name),
            Event::Wake => return self.wakes(at, name),
            Event::Donate => return self.donation(at, name),
            Event::LazyDequeue => Draft::instant(cpu, "lazy dequeue").text("first", name),
            Event::LookUp if argument > 0 => {
                Draft::instant(cpu, "look-up").text("found", name).number("dropped", argument)
            }
            Event::Preempt => {
                let point = format!("preemption point: {}", point_name(argument));
                Draft::instant(cpu, point).number("interrupt waits", extra)
            }
            Event::Chain => Draft::instant(cpu, "chain").text("thread", name),
            Event::Tick => Draft::instant(cpu, "tick"),
            Event::Arm => Draft::instant(cpu, "arm timer").number("ns", argument),
            Event::Expire => {
                Draft::instant(self.track(thread, index), "deadline").number("ns late", argument)
            }
            Event::Signal => {
                let draft = Draft::instant(self.track(thread, index), "signal");
                draft.text("notification", self.names.notification(argument))
            }
            Event::Fault => {
                Draft::instant(self.track(thread, index), "fault").number("kind", argument)
            }
            Event::Fail => Draft::instant(self.track(thread, index), "failed")
                .text("error", error_name(argument, extra)),
            Event::Priority => {
                let draft = Draft::instant(self.track(thread, index), "priority");
                match self.waits.lender(self.lives, thread, index) {
                    Some(wait) => draft.text("of", self.name(wait.thread, index)),
                    None => draft,
                }
                .number("prio", extra)
            }
            Event::Mark => Draft::instant(self.track(thread, index), format!("mark {argument}"))
                .number("value", argument),
            _ => return,
        };
        self.writer.event(ns, draft);
    }

    /// The track of a thread; without one, the CPU's.
    fn track(&self, thread: u16, index: usize) -> u64 {
        self.lives.at(thread, index).map_or(tracks::cpu(self.cpu), tracks::life)
    }

    /// An interrupt to another CPU: a flow to the section in which that one takes it.
    fn ipi(&mut self, moment: &Moment) {
        let to = moment.argument as u8;
        self.flows += 1;
        self.ipis.entry(to).or_default().push(self.flows);
        let draft = Draft::instant(tracks::cpu(self.cpu), format!("IPI to CPU {to}"));
        self.writer.event(moment.ns, draft.flows_out(self.flows));
    }

    fn message(&mut self, (index, moment): (usize, &Moment), name: String) {
        let receiver = moment.argument as u16;
        let to = self.name(receiver, index);
        let draft = Draft::instant(self.track(moment.thread, index), format!("message to {to}"))
            .number("words", moment.extra);
        self.flow((index, moment), draft, receiver, format!("message from {name}"));
    }

    fn donation(&mut self, (index, moment): (usize, &Moment), name: String) {
        let donor = moment.argument as u16;
        let title = format!("runs on the time of {}", self.name(donor, index));
        let draft = Draft::instant(self.track(donor, index), format!("donates to {name}"));
        self.flow((index, moment), draft, moment.thread, title);
    }

    /// A wait for a mutex or condition begins: a flow to each thread that it is for.
    fn waits(&mut self, (index, moment): (usize, &Moment), name: String) {
        let Some((kind, address)) = Awaited::of(moment.argument) else { return };
        let at = (moment.thread, index);
        let what = self.names.what(self.lives, at, What::Words(kind, address));
        let track = self.track(moment.thread, index);
        let draft = Draft::instant(track, format!("waits for {what}"));
        if moment.extra == NO_THREAD {
            return self.writer.event(moment.ns, draft);
        }
        let draft = draft.text("of", self.name(moment.extra, index));
        let title = format!("{name} waits for {what}");
        self.flow((index, moment), draft, moment.extra, title);
    }

    /// A wait for a mutex or condition ends: a flow from the thread that has ended it.
    fn wakes(&mut self, (index, moment): (usize, &Moment), name: String) {
        let Some(wait) = self.waits.ends(moment.thread, index) else { return };
        let Some(by) = wait.ended_by.filter(|_| wait.what != What::Answer) else { return };
        let what = self.names.what(self.lives, (moment.thread, index), wait.what);
        let title = format!("has waited for {what}");
        let draft = Draft::instant(self.track(by, index), format!("ends the wait of {name}"));
        self.flow((index, moment), draft, moment.thread, title);
    }

    /// A flow from an instant to the slice in which a thread runs: to its next one, or with an
    /// instant of its own into the present one.
    fn flow(&mut self, at: (usize, &Moment), source: Draft, to: u16, title: String) {
        let (index, moment) = at;
        self.flows += 1;
        self.writer.event(moment.ns, source.flows_out(self.flows));
        match self.lives.at(to, index) {
            Some(life) if self.running[life] => {
                let target = Draft::instant(tracks::life(life), title).flows_in([self.flows]);
                self.writer.event(moment.ns, target);
            }
            Some(life) => self.waiting.entry(life).or_default().push(self.flows),
            None => {}
        }
    }
}

/// A priority; the idle thread's, and one that is not known, is -1.
fn prio(extra: Option<u16>) -> i64 {
    extra.filter(|&extra| extra != NO_THREAD).map_or(-1, i64::from)
}
