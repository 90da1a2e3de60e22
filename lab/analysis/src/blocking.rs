//! How long less urgent tasks delay a task of one CPU by what they share: B_i.
//!
//! A task that holds a mutex goes before more urgent ones, since these wait for it or since it
//! has a ceiling. The *ceiling* of a mutex is the highest priority that its holder can have: that
//! of the most urgent task that can wait for it, also while that holds another mutex. Task i is
//! delayed by sections of tasks of lower priority whose mutexes have ceilings of at least its own
//! priority, one of each task at most in a busy period (Sha, Rajkumar, Lehoczky 1990):
//!
//! ```text
//! inheritance  B_i = sum over tasks of lower priority of their longest such section
//! ceilings     B_i = the longest such section
//! ```
//!
//! With both, one section under a ceiling comes to those of other tasks under inheritance. A server
//! at a priority of its own, not below its callers', is a mutex with that as its ceiling, and a
//! call a section.
//!
//! The other sum of textbooks, one section for each mutex, does not hold where a mutex is handed
//! over: a less urgent task that waited before the busy period began gets it when a more urgent one
//! unlocks it, and delays the next that wants it. So a mutex counts as often as tasks of at least
//! priority i lock it in the time that is looked at, in each case behind one less urgent holder:
//!
//! ```text
//! B_i(w) = sum over mutexes of their N(w) longest such sections, of different tasks
//! N(w)   = sum over tasks k of at least its priority of ceil(w / T_k) sections with the mutex
//! ```
//!
//! where that is less. Not of mutexes that are held with others: they are also waited for by less
//! urgent tasks on behalf of more urgent ones.

use crate::Time;
use std::collections::BTreeMap;

/// What the holder of a mutex inherits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The priorities of those that wait, along chains of waits.
    Inheritance,
    /// At least this priority, from locking to unlocking.
    Ceiling(u32),
}

/// A part of a job that holds mutexes and does not wait for anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The mutexes, by their indices, in the order in which they are locked; one at least, and
    /// all of one protocol. No two sections lock the same ones in different orders.
    pub mutexes: Vec<usize>,
    /// The longest execution time, in ns.
    pub length: Time,
}

/// A task as far as it shares something. Its sections do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharer {
    /// Greater is more urgent.
    pub priority: u32,
    /// The least time between two of its jobs, in ns, at least 1.
    pub period: Time,
    /// Its sections, each once in a job.
    pub sections: Vec<Section>,
}

/// A section that delays a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// The index of the less urgent task.
    pub task: usize,
    /// The index of its section.
    pub section: usize,
    /// The index of the mutex for which it counts.
    pub mutex: usize,
    /// Its length, in ns.
    pub length: Time,
}

/// How long tasks delay each other by what they share.
#[derive(Debug)]
pub struct Sharing<'a> {
    tasks: &'a [Sharer],
    protocols: &'a [Protocol],
    ceilings: Vec<u32>,
}

impl Sharing<'_> {
    /// Tasks of one CPU, and the protocols of what they share.
    ///
    /// # Panics
    ///
    /// If a section names a mutex that has no protocol.
    pub fn of<'a>(tasks: &'a [Sharer], protocols: &'a [Protocol]) -> Sharing<'a> {
        Sharing { tasks, protocols, ceilings: ceilings(tasks, protocols) }
    }

    /// The highest priority that the holder of each mutex can have; 0 of one without users.
    pub fn ceilings(&self) -> &[u32] {
        &self.ceilings
    }

    /// A task below a priority that comes before it while it owns something.
    pub fn delays(&self, priority: u32) -> Option<usize> {
        let comes = |task: &Sharer| {
            let held = task.sections.iter().flat_map(|section| &section.mutexes);
            task.priority < priority && held.map(|it| self.ceilings[*it]).any(|it| it >= priority)
        };
        self.tasks.iter().position(comes)
    }

    /// The sections that delay a job of a task at most: B_i is the sum of their lengths.
    pub fn blockers(&self, task: usize) -> Vec<Blocker> {
        let (ceilings, inherit) = self.candidates(task);
        let inherit = longest_of(&inherit, |one| one.task);
        // A task is in one section at a time: with one under a ceiling it is in no other.
        let with = |one: &Blocker| {
            let others = inherit.iter().filter(|other| other.task != one.task);
            [*one].iter().chain(others).copied().collect::<Vec<Blocker>>()
        };
        let all = longest_of(&ceilings, |one| one.task);
        let all = all.iter().map(with).chain([inherit.clone()]);
        all.max_by_key(|all| sum(all)).unwrap_or_default()
    }

    /// The same of a job that is complete within a window, in ns, which is no longer than the
    /// task's period.
    pub fn blockers_within(&self, task: usize, window: Time) -> Vec<Blocker> {
        let (ceilings, inherit) = self.candidates(task);
        let mut found: Vec<Blocker> =
            ceilings.into_iter().max_by_key(|one| one.length).into_iter().collect();
        for mutex in 0..self.protocols.len() {
            let of: Vec<Blocker> =
                inherit.iter().filter(|one| one.mutex == mutex).copied().collect();
            let mut of = longest_of(&of, |one| one.task);
            of.sort_by_key(|one| std::cmp::Reverse(one.length));
            let waits = self.waits(task, mutex, window).unwrap_or(u64::MAX);
            of.truncate(usize::try_from(waits).unwrap_or(usize::MAX));
            found.extend(of);
        }
        let all = self.blockers(task);
        if sum(&found) < sum(&all) { found } else { all }
    }

    /// How often tasks of at least the priority of one lock a mutex in a window; none if it is held
    /// with others.
    fn waits(&self, task: usize, mutex: usize, window: Time) -> Option<u64> {
        let holds = |section: &&Section| section.mutexes.contains(&mutex);
        let sections = self.tasks.iter().flat_map(|task| &task.sections);
        if sections.filter(holds).any(|section| section.mutexes.len() > 1) {
            return None;
        }
        let urgent = self.tasks.iter().filter(|other| other.priority >= self.tasks[task].priority);
        let waits = urgent.map(|other| {
            let sections = other.sections.iter().filter(holds).count() as u64;
            window.div_ceil(other.period.max(1)).saturating_mul(sections)
        });
        Some(waits.fold(0, u64::saturating_add))
    }

    /// All sections that can delay a task, once for each of their mutexes by which they can: those
    /// under ceilings, and the others.
    fn candidates(&self, task: usize) -> (Vec<Blocker>, Vec<Blocker>) {
        let own = self.tasks[task].priority;
        let mut found = Vec::new();
        for (task, other) in self.tasks.iter().enumerate().filter(|(_, it)| it.priority < own) {
            for (section, Section { mutexes, length }) in other.sections.iter().enumerate() {
                let delays = mutexes.iter().filter(|mutex| self.ceilings[**mutex] >= own);
                let length = *length;
                found.extend(delays.map(|mutex| Blocker { task, section, mutex: *mutex, length }));
            }
        }
        found.into_iter().partition(|one| self.is_ceiling(one.mutex))
    }

    fn is_ceiling(&self, mutex: usize) -> bool {
        matches!(self.protocols[mutex], Protocol::Ceiling(_))
    }
}

/// The sum of their lengths, at most the greatest time.
pub fn sum(blockers: &[Blocker]) -> Time {
    blockers.iter().fold(0, |sum, one| sum.saturating_add(one.length))
}

/// The longest of those of each key, in the order of keys.
fn longest_of(all: &[Blocker], key: impl Fn(&Blocker) -> usize) -> Vec<Blocker> {
    let mut longest: BTreeMap<usize, Blocker> = BTreeMap::new();
    for one in all {
        let best = longest.entry(key(one)).or_insert(*one);
        if one.length > best.length {
            *best = *one;
        }
    }
    longest.into_values().collect()
}

/// The highest priority of each mutex's holder: a fixed point, since one that is held with another
/// passes on what that one's holder has.
fn ceilings(tasks: &[Sharer], protocols: &[Protocol]) -> Vec<u32> {
    let own = |protocol: &Protocol| match protocol {
        Protocol::Ceiling(priority) => *priority,
        Protocol::Inheritance => 0,
    };
    let mut ceilings: Vec<u32> = protocols.iter().map(own).collect();
    loop {
        let before = ceilings.clone();
        for task in tasks {
            for section in &task.sections {
                let held = section.mutexes.iter().map(|mutex| ceilings[*mutex]).max();
                let highest = held.unwrap_or(0).max(task.priority);
                for mutex in &section.mutexes {
                    ceilings[*mutex] = ceilings[*mutex].max(highest);
                }
            }
        }
        if ceilings == before {
            return ceilings;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(priority: u32, sections: &[(&[usize], Time)]) -> Sharer {
        let section = |(mutexes, length): &(&[usize], Time)| Section {
            mutexes: mutexes.to_vec(),
            length: *length,
        };
        Sharer { priority, period: 10, sections: sections.iter().map(section).collect() }
    }

    fn bounds(tasks: &[Sharer], protocols: &[Protocol]) -> Vec<Time> {
        let sharing = Sharing::of(tasks, protocols);
        (0..tasks.len()).map(|task| sum(&sharing.blockers(task))).collect()
    }

    fn bounds_within(window: Time, tasks: &[Sharer], protocols: &[Protocol]) -> Vec<Time> {
        let sharing = Sharing::of(tasks, protocols);
        (0..tasks.len()).map(|task| sum(&sharing.blockers_within(task, window))).collect()
    }

    #[test]
    fn under_inheritance_each_task_counts_and_under_ceilings_one() {
        let tasks = [
            task(4, &[(&[0], 2)]),
            task(3, &[(&[0], 9), (&[1], 3)]),
            task(2, &[(&[0], 8), (&[1], 7)]),
            task(1, &[(&[0], 6), (&[1], 5), (&[2], 4)]),
        ];
        let inheritance = [Protocol::Inheritance; 3];
        assert_eq!(bounds(&tasks, &inheritance), [9 + 8 + 6, 8 + 6, 6, 0]);
        // The first task locks once; with the second, the first mutex is locked twice.
        assert_eq!(bounds_within(10, &tasks, &inheritance), [9, 8 + 6, 6, 0]);
        assert_eq!(bounds_within(11, &tasks, &inheritance), [9 + 8, 8 + 6, 6, 0]);
        let ceilings = [Protocol::Ceiling(4), Protocol::Ceiling(3), Protocol::Ceiling(1)];
        assert_eq!(bounds(&tasks, &ceilings), [9, 8, 6, 0]);
        assert_eq!(bounds_within(10, &tasks, &ceilings), [9, 8, 6, 0]);
    }

    #[test]
    fn what_no_more_urgent_task_can_wait_for_delays_nothing() {
        let tasks = [task(3, &[]), task(2, &[(&[0], 5)]), task(1, &[(&[0], 7)])];
        assert_eq!(bounds(&tasks, &[Protocol::Inheritance]), [0, 7, 0]);
        // A ceiling that is higher than need be delays more.
        assert_eq!(bounds(&tasks, &[Protocol::Ceiling(3)]), [7, 7, 0]);
    }

    #[test]
    fn mutexes_that_are_held_together_pass_on_what_waits() {
        let tasks = [task(3, &[(&[0], 1)]), task(2, &[(&[0, 1], 5)]), task(1, &[(&[1], 7)])];
        assert_eq!(Sharing::of(&tasks, &[Protocol::Inheritance; 2]).ceilings(), [3, 3]);
        assert_eq!(bounds(&tasks, &[Protocol::Inheritance; 2]), [12, 7, 0]);
        assert_eq!(bounds_within(10, &tasks, &[Protocol::Inheritance; 2]), [12, 7, 0]);
    }

    #[test]
    fn one_section_under_a_ceiling_comes_to_those_of_other_tasks() {
        let (low, high) = (Protocol::Inheritance, Protocol::Ceiling(9));
        let tasks = [
            task(9, &[(&[0], 1), (&[1], 1)]),
            task(2, &[(&[0], 5), (&[1], 6)]),
            task(1, &[(&[0], 3), (&[1], 2)]),
        ];
        assert_eq!(bounds(&tasks, &[low, high]), [6 + 3, 3, 0]);
        assert_eq!(bounds(&tasks, &[high, low]), [6 + 3, 3, 0]);
    }

    #[test]
    fn the_greatest_lengths_do_not_overflow() {
        let most = Time::MAX;
        let tasks =
            [task(3, &[(&[0], 1), (&[1], 1)]), task(2, &[(&[0], most)]), task(1, &[(&[1], most)])];
        assert_eq!(bounds(&tasks, &[Protocol::Inheritance; 2]), [most, most, 0]);
    }
}
