//! Accuracy of scheduling (S0-02): whether a thread ran while a more urgent one was ready, and how
//! equal equals are.
//!
//! Time of programs counts, between an exit of the kernel and the next entry: what interrupts do
//! not get in meanwhile is the latency of sections, and not a choice.

use crate::reservations::On;
use crate::{Lives, Names, State, Trace};
use abi::reservation::Policy;
use abi::trace::{Event, NO_THREAD};
use std::collections::{BTreeMap, BTreeSet};

/// How accurate the choices of a trace's CPU were. Times are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accuracy {
    /// Time of programs.
    pub time: u64,
    /// Of it, while a more urgent thread was ready.
    pub out_of_order: u64,
    /// Time of programs while an equal of the thread that ran was ready, and nothing more urgent.
    pub contended: u64,
    /// Of it, what threads had beyond an equal part.
    pub unequal: f64,
    /// The longest time without an entry in which a more urgent thread was ready.
    pub worst: Option<OutOfOrder>,
}

/// A thread that ran while a more urgent one was ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfOrder {
    /// Its name.
    pub ran: String,
    /// The name of the more urgent one.
    pub ready: String,
    /// For how long, in ns.
    pub ns: u64,
    /// Since when, in ns since boot.
    pub from: u64,
}

impl Accuracy {
    /// The part of the programs' time in which nothing more urgent was ready, in millionths.
    pub fn order(&self) -> u64 {
        million_less(self.out_of_order as f64, self.time)
    }

    /// The part of the time that equals shared in which each had an equal part, in millionths.
    pub fn equals(&self) -> u64 {
        million_less(self.unequal, self.contended)
    }
}

/// A million less a part of a whole in millionths; a million of nothing.
fn million_less(part: f64, whole: u64) -> u64 {
    1_000_000 - (part * 1e6 / whole.max(1) as f64).round().min(1e6) as u64
}

/// How urgent a thread is.
#[derive(Clone, Copy)]
struct Rank {
    /// The priority in its CPU's root, of itself or of what it runs on.
    level: u16,
    /// Whether its equals are to have as much as it: it has no reservation.
    plain: bool,
    /// Whether it is to run when it is ready: no budget and no window keeps it from that.
    free: bool,
}

/// The accuracy of the choices of one CPU.
pub fn accuracy(trace: &Trace, names: &Names) -> Accuracy {
    let lives = Lives::of(trace, names);
    let mut changes = changes(&lives).into_iter().peekable();
    let mut ready: BTreeSet<usize> = BTreeSet::new();
    let mut found = Accuracy::default();
    let mut parts: BTreeMap<usize, f64> = BTreeMap::new();
    let mut left: Option<(usize, u16)> = None;
    for (index, moment) in trace.moments.iter().enumerate() {
        if let (Event::Enter, Some((exit, thread))) = (moment.event, left.take())
            && thread == moment.thread
            && let Some(ran) = lives.at(thread, exit).filter(|_| lives.idles(thread).is_none())
        {
            let from = trace.moments[exit].ns;
            let here = Here { names, lives: &lives, moment: exit, from, ns: moment.ns - from };
            here.judge(ran, &ready, &mut found, &mut parts);
        }
        while let Some((_, life, is_ready)) = changes.next_if(|(at, ..)| *at <= index) {
            match is_ready {
                true => ready.insert(life),
                false => ready.remove(&life),
            };
        }
        if moment.event == Event::Exit {
            left = Some((index, moment.thread));
        }
    }
    found.unequal = parts.values().filter(|more| **more > 0.0).sum();
    found
}

/// When lives begin and cease to be ready without running. A trace does not say that a thread has
/// ended, so one that is ready for the rest of it does not count.
fn changes(lives: &Lives) -> Vec<(usize, usize, bool)> {
    let mut changes = Vec::new();
    for (index, life) in lives.all.iter().enumerate() {
        let idle = lives.idles(life.thread).is_some();
        for two in life.stretches.windows(2).filter(|_| !idle) {
            if two[0].state == State::Ready {
                changes.extend([(two[0].first, index, true), (two[1].first, index, false)]);
            }
        }
    }
    changes.sort_by_key(|&(moment, _, is_ready)| (moment, is_ready));
    changes
}

/// A stretch of time of a program.
struct Here<'a> {
    names: &'a Names,
    lives: &'a Lives,
    moment: usize,
    from: u64,
    ns: u64,
}

impl Here<'_> {
    /// Counts what a thread ran, beside those that were ready.
    fn judge(
        &self,
        ran: usize,
        ready: &BTreeSet<usize>,
        found: &mut Accuracy,
        parts: &mut BTreeMap<usize, f64>,
    ) {
        let Some(own) = self.rank(ran) else { return };
        found.time += self.ns;
        let ranked = ready.iter().filter(|life| **life != ran);
        let ranked = ranked.filter_map(|life| Some((*life, self.rank(*life)?)));
        let others: Vec<(usize, Rank)> = ranked.collect();
        let above = others.iter().filter(|(_, rank)| rank.free && rank.level > own.level);
        if let Some((life, _)) = above.max_by_key(|(_, rank)| rank.level) {
            found.out_of_order += self.ns;
            if found.worst.as_ref().is_none_or(|worst| worst.ns < self.ns) {
                let name = |life| self.names.life(self.lives, life);
                let (ran, ready) = (name(ran), name(*life));
                found.worst = Some(OutOfOrder { ran, ready, ns: self.ns, from: self.from });
            }
            return;
        }
        let alike = |rank: &Rank| rank.plain && own.plain && rank.level == own.level;
        let equals = others.iter().filter(|(_, rank)| alike(rank)).map(|(life, _)| *life);
        let equals: Vec<usize> = equals.collect();
        if equals.is_empty() {
            return;
        }
        found.contended += self.ns;
        let part = self.ns as f64 / (equals.len() + 1) as f64;
        *parts.entry(ran).or_default() += self.ns as f64 - part;
        for life in equals {
            *parts.entry(life).or_default() -= part;
        }
    }

    fn rank(&self, life: usize) -> Option<Rank> {
        let leaf = match self.names.on(self.lives, life, self.moment) {
            On::Leaf(leaf) => leaf,
            On::Made => return None,
            On::Priority => {
                let level = self.lives.all[life].priority_at(self.moment)?;
                return (level != NO_THREAD).then_some(Rank { level, plain: true, free: true });
            }
        };
        let path = self.names.path(leaf).into_iter().map(|one| &self.names.reservations[one]);
        let mut path = path.peekable();
        path.peek()?;
        let free = path.all(|one| one.limit.is_none() && one.policy != Some(Policy::Partitions));
        Some(Rank { level: self.names.level(leaf), plain: false, free })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Maker;

    /// Threads 1 and 2 of equal priority, and 3 above them.
    fn three() -> Maker {
        let mut m = Maker::new();
        m.thread(0, 0, u16::MAX).thread(1, 1, 100).thread(2, 1, 100).thread(3, 2, 200);
        m.note(Event::Switch, 3, 0, 200).exit(3).pass(100);
        m
    }

    /// Thread 3 waits, thread `to` runs.
    fn waits(m: &mut Maker, to: u16) {
        m.enter(3, 0).note(Event::Block, 3, 0, 4).switch(to, 3, 100).exit(to);
    }

    fn runs_on(m: &mut Maker, from: u16, to: u16, ns: u64) {
        m.pass(ns).enter(from, 4).switch(to, from, 100).exit(to);
    }

    fn of(mut m: Maker) -> Accuracy {
        m.pass(1).enter(1, 5).note(Event::Block, 1, 0, 4);
        accuracy(&m.trace(), &Names::of(["equals", "above"]))
    }

    #[test]
    fn in_order_and_in_equal_turns_all_is_accurate() {
        let mut m = three();
        waits(&mut m, 1);
        for _ in 0..3 {
            runs_on(&mut m, 1, 2, 1000);
            runs_on(&mut m, 2, 1, 1000);
        }
        let found = of(m);
        assert_eq!((found.order(), found.out_of_order, &found.worst), (1_000_000, 0, &None));
        assert!(found.contended > 5000 && found.equals() > 970_000, "{found:?}");
    }

    #[test]
    fn what_runs_beside_a_more_urgent_thread_is_named() {
        let mut m = three();
        waits(&mut m, 1);
        m.pass(500).enter(1, 3).note(Event::Wake, 3, 0, 0).exit(1).pass(700);
        m.enter(1, 4).switch(3, 1, 200).exit(3).pass(900);
        waits(&mut m, 1);
        let found = of(m);
        let worst = found.worst.as_ref().expect("thread 1 ran beside thread 3");
        assert_eq!((worst.ran.as_str(), worst.ready.as_str()), ("equals/1", "above/1"));
        assert_eq!(found.out_of_order, worst.ns);
        assert!((700..720).contains(&worst.ns), "{worst:?}");
        assert!(found.order() < 750_000, "{found:?}");
    }

    #[test]
    fn who_has_more_than_its_equals_is_counted() {
        let mut m = three();
        waits(&mut m, 1);
        for _ in 0..10 {
            runs_on(&mut m, 1, 2, 9000);
            runs_on(&mut m, 2, 1, 1000);
        }
        // 90 % instead of 50.
        assert!((590_000..620_000).contains(&of(m).equals()));
    }

    #[test]
    fn under_the_tree_priorities_are_those_that_threads_were_made_with() {
        let mut m = three();
        waits(&mut m, 1);
        m.pass(500).enter(1, 4).switch(2, 1, 0).exit(2).pass(700);
        m.enter(2, 4).switch(1, 2, 0).exit(1).pass(700);
        m.enter(1, 4).switch(2, 1, 0).exit(2).pass(9).enter(2, 0);
        let found = accuracy(&m.of_tree(), &Names::default());
        assert_eq!((found.order(), found.contended > 1300), (1_000_000, true), "{found:?}");
    }

    #[test]
    fn a_budget_or_a_window_may_keep_a_ready_thread_from_running() {
        use abi::reservation::{Budget, Server, Share};
        let mut m = three();
        waits(&mut m, 1);
        m.pass(500).enter(1, 3).note(Event::Wake, 3, 0, 0).exit(1).pass(700);
        m.enter(1, 4).switch(3, 1, 200).exit(3).pass(900);
        waits(&mut m, 1);
        m.pass(1).enter(1, 5).note(Event::Block, 1, 0, 4);
        let node = |limit| crate::Reservation {
            name: "above".to_string(),
            class: None,
            policy: None,
            share: Share::Priority(300),
            limit,
        };
        let order = |limit| {
            let names = Names {
                reservations: vec![node(limit)],
                leaves: vec![None, Some(0)],
                ..Names::of(["equals", "above"])
            };
            accuracy(&m.trace(), &names).order()
        };
        assert!(order(None) < 1_000_000);
        assert_eq!(order(Some(Budget::new(Server::Periodic, 100, 1000))), 1_000_000);
    }
}
