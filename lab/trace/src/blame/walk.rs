//! The way through a sample's time: which thread or which kernel section had the CPU.

use super::inside::{Work, is_long, works};
use super::{Cause, Named, Piece, Sample};
use crate::lives::Lives;
use crate::reservations::{Times, Why};
use crate::{Moment, Names, Section, Sections, Trace, Waits};
use abi::trace::{Event, Keep, NO_THREAD};

/// Cuts the time of a sample into pieces.
pub(super) struct Walk<'a> {
    trace: &'a Trace,
    names: &'a Names,
    lives: &'a Lives,
    waits: &'a Waits,
    sample: Sample,
    /// The moment at which the kernel served the timer: the thread became ready.
    served: Option<usize>,
    /// Whether the thread had not begun to wait when the instant came: others kept it from that.
    behind: bool,
    /// What has been cut so far.
    pub(super) pieces: Vec<Piece>,
}

impl<'a> Walk<'a> {
    /// Ready to cut.
    pub(super) fn new(
        trace: &'a Trace,
        names: &'a Names,
        (lives, waits): (&'a Lives, &'a Waits),
        sample: Sample,
    ) -> Walk<'a> {
        let served = trace.moments.iter().position(|moment| {
            let inside = (sample.programmed..=sample.ran).contains(&moment.ns);
            let serves = matches!(moment.event, Event::Expire | Event::Signal | Event::Wake);
            inside && serves && moment.thread == sample.thread
        });
        // A thread that does not run goes on as ready unless it has blocked.
        let of_thread = |moment: &&Moment| {
            let tells = matches!(moment.event, Event::Block | Event::Wake | Event::Enter);
            moment.ns <= sample.programmed
                && moment.thread == sample.thread
                && (tells || moment.event == Event::Exit)
        };
        let last = trace.moments.iter().rfind(of_thread);
        let behind = last.is_some_and(|moment| moment.event != Event::Block);
        Walk { trace, names, lives, waits, sample, served, behind, pieces: Vec::new() }
    }

    /// Cuts it all.
    pub(super) fn run(&mut self, sections: &Sections) {
        let moments = &self.trace.moments;
        let (Some(begin), Some(end)) = (moments.first(), moments.last()) else {
            return self.piece(0, u64::MAX, Cause::Unseen);
        };
        self.piece(0, begin.ns, Cause::Unseen);
        let mut before: Option<&Section> = None;
        for section in &sections.whole {
            self.between(before, Some(section));
            let [from, to] = [section.first, section.last].map(|moment| moments[moment].ns);
            if from <= self.sample.ran && to >= self.sample.programmed {
                self.kernel(section);
            }
            before = Some(section);
        }
        self.between(before, None);
        // After the last record nothing happened, unless records were lost there or one more
        // section had begun.
        let seen = self.trace.lost() == 0 || self.trace.keep == Keep::Last;
        let exit = moments.iter().rposition(|moment| moment.event == Event::Exit);
        let entered = moments.iter().rposition(|moment| moment.event == Event::Enter);
        match exit {
            Some(exit) if seen && entered < Some(exit) => {
                let cause = self.user(exit, moments[exit].thread);
                self.piece(end.ns, u64::MAX, cause);
            }
            _ => self.piece(end.ns, u64::MAX, Cause::Unseen),
        }
    }

    /// On whose time threads run.
    pub(super) fn times(&self) -> Times<'a> {
        let Walk { trace, names, lives, waits, .. } = *self;
        Times { trace, names, lives, waits }
    }

    /// A thread as causes name it.
    pub(super) fn named(&self, thread: u16, moment: usize) -> Named {
        Named { thread, name: self.names.thread(self.lives, thread, moment) }
    }

    /// The part of a stretch that is in the sample's time, with its cause.
    fn piece(&mut self, from: u64, to: u64, cause: Cause) {
        let Sample { programmed, ran, .. } = self.sample;
        let (from, to) = (from.max(programmed), to.min(ran));
        match self.pieces.last_mut() {
            _ if from >= to => {}
            Some(last) if last.cause == cause && last.to == from => last.to = to,
            _ => self.pieces.push(Piece { from, to, cause }),
        }
    }

    /// Cuts what lies between two sections, or before the first or after the last: a thread ran.
    /// Entries and exits there belong to sections that are not whole.
    fn between(&mut self, before: Option<&Section>, next: Option<&Section>) {
        let moments = &self.trace.moments;
        let ns = |moment: usize| moments[moment].ns;
        let from = before.map_or(0, |before| before.last + 1);
        let to = next.map_or(moments.len() - 1, |next| next.first);
        let rest = next.map_or(moments.len(), |next| next.first);
        let begin = before.map_or(0, |before| ns(before.last));
        if begin > self.sample.ran || ns(to) < self.sample.programmed {
            return;
        }
        let at = |event| move |moment: &Moment| moment.event == event;
        let enter = moments[from..rest].iter().position(at(Event::Enter));
        let exit = moments[from..rest].iter().rposition(at(Event::Exit));
        let [enter, exit] = [enter, exit].map(|found| found.map(|found| from + found));
        let entered = next.map(|next| next.thread);
        match before {
            Some(before) => {
                let end = enter.unwrap_or(to);
                let fits = enter.is_some() || entered.is_none_or(|thread| thread == before.next);
                let cause = self.user(before.last, before.next);
                self.piece(begin, ns(end), if fits { cause } else { Cause::Unseen });
            }
            None if exit.is_none() && enter.is_none() && entered.is_some() => {
                let cause = self.user(0, entered.unwrap_or_default());
                self.piece(0, ns(to), cause);
            }
            None => {}
        }
        let missing = exit.filter(|&exit| enter.is_none_or(|enter| enter < exit));
        if let Some(exit) = missing {
            self.piece(self.done(), ns(exit), Cause::Unseen);
            let cause = self.user(exit, moments[exit].thread);
            self.piece(ns(exit), ns(to), cause);
        }
        self.piece(self.done(), ns(to), Cause::Unseen);
    }

    /// How far everything is cut.
    fn done(&self) -> u64 {
        self.pieces.last().map_or(self.sample.programmed, |last| last.to)
    }

    /// Why a thread ran after an exit.
    fn user(&self, exit: usize, thread: u16) -> Cause {
        if let Some(waits) = self.waits_at(exit) {
            return waits;
        }
        match self.served.is_some_and(|served| served <= exit) {
            true if thread == self.sample.thread => Cause::Path,
            false if thread == self.sample.thread => Cause::Itself,
            true => self.ahead(thread, exit),
            false if self.behind || self.is_higher(thread, exit) => self.ahead(thread, exit),
            false => Cause::Arrival { thread: self.named(thread, exit) },
        }
    }

    /// What the sample's thread waits for at a moment, with the chain behind it, if it does.
    fn waits_at(&self, at: usize) -> Option<Cause> {
        let what = self.waits.words(self.lives, self.names, self.sample.thread, at)?;
        Some(Cause::Waits { what })
    }

    /// Whether a thread is known to be higher than the sample's, whose deadline waits for it.
    fn is_higher(&self, thread: u16, at: usize) -> bool {
        let ahead = self.ahead(thread, at);
        matches!(
            ahead,
            Cause::HigherThread { .. }
                | Cause::Inherits { .. }
                | Cause::Reserved { higher: true, .. }
        )
    }

    /// A thread ran although the sample's was ready, or would have been.
    fn ahead(&self, thread: u16, at: usize) -> Cause {
        if self.lives.idles(thread).is_some() {
            return Cause::Idle { because: self.times().why_idle(self.sample.thread, at) };
        }
        let named = self.named(thread, at);
        if let Some(Why { on, because, higher }) = self.times().why(thread, self.sample.thread, at)
        {
            return Cause::Reserved { thread: named, on, because, higher };
        }
        let lender = self.waits.lender(self.lives, thread, at);
        match (self.priority(thread, at), self.priority(self.sample.thread, at)) {
            (Some(priority), Some(own)) if priority > own => match lender {
                Some(wait) => {
                    let from = self.named(wait.thread, at);
                    let what = self.names.what(self.lives, (wait.thread, at), wait.what);
                    Cause::Inherits { thread: named, from, priority, what }
                }
                None => Cause::HigherThread { thread: named, priority },
            },
            (priority, _) => Cause::OtherThread { thread: named, priority },
        }
    }

    /// A thread's priority at a moment, if it is known.
    fn priority(&self, thread: u16, at: usize) -> Option<u16> {
        let life = &self.lives.all[self.lives.at(thread, at)?];
        life.priority_at(at).filter(|&priority| priority != NO_THREAD)
    }

    /// Cuts a section: long pieces of work have causes of their own.
    fn kernel(&mut self, section: &Section) {
        let mut at = section.first;
        for (work, first, last) in works(self.trace, section) {
            self.stretch(section, at, first);
            let (entry, thread) = (section.entry, self.named(section.thread, section.first));
            let cause = match work {
                Work::LazyDequeue(threads) => Cause::LazyDequeue { threads, entry, thread },
                Work::Chain(transfers) => Cause::Chain { transfers, entry, thread },
            };
            self.piece(self.trace.moments[first].ns, self.trace.moments[last].ns, cause);
            at = last;
        }
        self.stretch(section, at, section.last);
    }

    /// A part of a section without work of its own.
    fn stretch(&mut self, section: &Section, first: usize, last: usize) {
        let ns = |moment: usize| self.trace.moments[moment].ns;
        let (entry, thread) = (section.entry, self.named(section.thread, section.first));
        let off = match is_long(self.trace, section) {
            true => Cause::LongWork { entry, thread },
            false => Cause::InterruptsOff { entry, thread },
        };
        let (from, to) = (ns(first), ns(last));
        let waits = self.waits_at(section.first).filter(|_| !entry.is_interrupt());
        if let Some(waits) = waits {
            return self.piece(from, to, waits);
        }
        match self.served {
            Some(served) if served < section.first => {
                let cause = match () {
                    () if section.thread == self.sample.thread => Cause::Path,
                    () if entry.is_interrupt() => off,
                    () => self.ahead(section.thread, section.first),
                };
                self.piece(from, to, cause);
            }
            Some(served) if served <= section.last => {
                // A timer interrupt is there to serve; anything else only serves in passing.
                let split = if entry.is_interrupt() { from } else { ns(served).clamp(from, to) };
                self.piece(from, split, off);
                self.piece(split, to, Cause::Path);
            }
            _ => {
                let behind = self.behind && section.thread != self.sample.thread;
                let waits = behind || self.is_higher(section.thread, section.first);
                match waits && !entry.is_interrupt() {
                    true => self.piece(from, to, self.ahead(section.thread, section.first)),
                    false => self.piece(from, to, off),
                }
            }
        }
    }
}
