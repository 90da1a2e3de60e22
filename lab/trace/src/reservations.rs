//! Reservations, where the kernel is `tree`: on whose time a thread runs, and why that was chosen.
//!
//! No record names a reservation. Whose threads run on which one the manifest says, and the trace
//! says which caller waits for a server that has none: that one runs on the caller's.

use crate::lives::Life;
use crate::waits::Wait;
use crate::{Lives, Names, State, Trace, Waits};
use abi::reservation::{Budget, Policy, Share};
use abi::trace::Keep;

/// Callers that are followed to the one that lends its reservation.
const CALLERS: usize = 64;

/// A reservation of the manifest, or a class of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Its name.
    pub name: String,
    /// The place of its class among all; none: the root of its CPU.
    pub class: Option<usize>,
    /// The policy of a class; none: it is a leaf.
    pub policy: Option<Policy>,
    /// What it is among its siblings.
    pub share: Share,
    /// The budget that it can use up.
    pub limit: Option<Budget>,
}

/// Why one thread ran before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Why {
    /// Where it ran: `critical/flight (EDF)`, or `priority 40`.
    pub on: String,
    /// What decided: `due before vision`.
    pub because: String,
    /// Whether it is above the other one, whatever else happens.
    pub higher: bool,
}

/// What a thread runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// A leaf of the manifest.
    Leaf(usize),
    /// One that a program has made, of which the trace tells nothing.
    Made,
    /// Its priority in its CPU's root.
    Priority,
}

/// Whether a reservation has used up its budget, or that of a class that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spent {
    /// It has some left.
    No,
    /// The trace does not tell.
    Perhaps,
    /// It has none.
    Yes,
}

/// What a leaf is called of which a trace tells that a program has made it, and no more.
pub(crate) const MADE: &str = "a reservation that a program has made";

/// What a policy is called.
pub(crate) fn policy_name(policy: Policy) -> &'static str {
    match policy {
        Policy::FixedPriority => "fixed priorities",
        Policy::EarliestDeadline => "EDF",
        Policy::ServiceCurves => "service curves",
        Policy::Partitions => "time partitions",
    }
}

/// On whose time threads run.
#[derive(Clone, Copy)]
pub(crate) struct Times<'a> {
    pub trace: &'a Trace,
    pub names: &'a Names,
    pub lives: &'a Lives,
    pub waits: &'a Waits,
}

impl Times<'_> {
    /// What a thread runs on at a moment: its own leaf, or that of the caller that waits for its
    /// answer.
    pub fn on(&self, thread: u16, moment: usize) -> On {
        let mut next = Some(thread);
        for _ in 0..CALLERS {
            let Some(life) = next.and_then(|thread| self.lives.at(thread, moment)) else { break };
            match self.names.on(self.lives, life, moment) {
                On::Priority => {
                    next = next.and_then(|thread| self.waits.caller(thread, moment));
                }
                leaf => return leaf,
            }
        }
        On::Priority
    }

    /// Where a thread runs: the classes with the leaf, and what decides among its siblings.
    pub fn place(&self, thread: u16, moment: usize) -> Option<String> {
        self.names.place_of(self.on(thread, moment))
    }

    /// Why a thread has the CPU while another one is ready; none: the manifest has no reservations,
    /// or it is not known what one of both is.
    pub fn why(&self, runs: u16, other: u16, moment: usize) -> Option<Why> {
        let (ran, late) = (self.on(runs, moment), self.on(other, moment));
        if self.names.reservations.is_empty() || self.lives.idles(runs).is_some() {
            return None;
        }
        let on = match self.place(runs, moment) {
            Some(place) => place,
            None => format!("priority {}", self.priority(runs, moment)?),
        };
        if let Some((on, because)) = self.lent(runs, moment) {
            return Some(Why { on, because, higher: false });
        }
        let (because, higher) = match (ran, late) {
            (On::Leaf(ran), On::Leaf(late)) => {
                self.names.decide(ran, late, |depth| self.spent(late, depth, moment))
            }
            (On::Made, _) | (_, On::Made) => {
                ("for a reason that the trace does not tell".to_string(), false)
            }
            _ => {
                let level = |on: On, thread| match on {
                    On::Leaf(leaf) => Some(self.names.level(leaf)),
                    _ => self.priority(thread, moment),
                };
                let spent = match late {
                    On::Leaf(leaf) => self.spent(leaf, 0, moment),
                    _ => Spent::No,
                };
                let (own, others) = (level(ran, runs)?, level(late, other)?);
                by_priority(&self.names.thread(self.lives, other, moment), own, others, spent)
            }
        };
        Some(Why { on, because, higher })
    }

    /// Where a thread may run that owns what threads on other leaves wait for: on the most urgent
    /// of these and its own. And which one waits.
    fn lent(&self, runs: u16, moment: usize) -> Option<(String, String)> {
        let own = self.on(runs, moment);
        let lends = |wait: &&Wait| wait.inherits() && self.on(wait.thread, moment) != own;
        let wait = self.waits.waiters(runs, moment).into_iter().find(lends)?;
        let place = |thread| {
            let on = self.on(thread, moment);
            self.names.place_of(on).unwrap_or("its priority".to_string())
        };
        let on = format!("{}, or {}", place(runs), place(wait.thread));
        let waiter = self.names.thread(self.lives, wait.thread, moment);
        let what = self.names.what(self.lives, (wait.thread, moment), wait.what);
        Some((on, format!("which {waiter} lends it, waiting for its {what}")))
    }

    /// Why a CPU is idle while a thread is ready, as far as that is known.
    pub fn why_idle(&self, late: u16, moment: usize) -> Option<String> {
        let On::Leaf(leaf) = self.on(late, moment) else { return None };
        let name = self.names.path_name(leaf);
        match self.spent(leaf, 0, moment) {
            Spent::Yes => Some(format!("since {name} is out of budget")),
            _ if self.names.policy_above(leaf) == Policy::Partitions => {
                Some(format!("outside the windows of {name}"))
            }
            Spent::Perhaps => Some(format!("as {name} may be out of budget")),
            Spent::No => None,
        }
    }

    /// Whether a leaf, or a class that it is in from this depth on, has used up its budget.
    fn spent(&self, leaf: usize, depth: usize, moment: usize) -> Spent {
        let path = self.names.path(leaf);
        let of = |one: &usize| match self.names.reservations[*one].limit {
            Some(limit) => self.spent_of(*one, limit, moment),
            None => Spent::No,
        };
        let all: Vec<Spent> = path[depth..].iter().map(of).collect();
        let first = [Spent::Yes, Spent::Perhaps].into_iter().find(|spent| all.contains(spent));
        first.unwrap_or(Spent::No)
    }

    /// The same of one, by what its threads have had in the last period: with every server as much
    /// is there again then.
    fn spent_of(&self, node: usize, limit: Budget, moment: usize) -> Spent {
        let now = self.trace.moments.get(moment).or(self.trace.moments.last());
        let now = now.map_or(0, |moment| moment.ns);
        let from = now.saturating_sub(limit.period);
        // Before what a trace keeps first nothing has run.
        let begun = self.trace.begun().is_some_and(|begun| begun <= from);
        let seen = begun || self.trace.keep == Keep::First;
        let on = |life: usize, moment| match self.names.on(self.lives, life, moment) {
            On::Leaf(leaf) => self.names.path(leaf).contains(&node),
            _ => false,
        };
        let had = (0..self.lives.all.len()).map(|life| {
            let stretches = &self.lives.all[life].stretches;
            let first = stretches.partition_point(|stretch| stretch.to <= from);
            let inside = stretches[first..].iter().take_while(|stretch| stretch.from < now);
            let ran = inside.filter(|stretch| stretch.state == State::Running);
            let ran = ran.filter(|stretch| on(life, stretch.first));
            ran.map(|stretch| stretch.to.min(now) - stretch.from.max(from)).sum::<u64>()
        });
        let had = had.sum::<u64>();
        match () {
            () if had >= limit.budget => Spent::Yes,
            // What it lends, and what it used too much before, is not in it.
            () if seen && had < limit.budget / 4 * 3 => Spent::No,
            () => Spent::Perhaps,
        }
    }

    fn priority(&self, thread: u16, moment: usize) -> Option<u16> {
        let life = &self.lives.all[self.lives.at(thread, moment)?];
        life.priority_at(moment).filter(|&priority| priority != abi::trace::NO_THREAD)
    }
}

impl Names {
    /// What a thread runs on at a moment by itself, whether it is called or not.
    pub(crate) fn on(&self, lives: &Lives, life: usize, moment: usize) -> On {
        if self.reservations.is_empty() {
            return On::Priority;
        }
        if let Some(index) = lives.reservation(life, moment) {
            let own = index.checked_sub(lives.roots()).map(|own| own as usize);
            return match own.filter(|own| *own < self.reservations.len()) {
                Some(leaf) => On::Leaf(leaf),
                None => On::Made,
            };
        }
        self.leaf_of(&lives.all[life], lives).map_or(On::Priority, On::Leaf)
    }

    /// The leaf of the manifest that a domain's threads run on, if a program has not changed that.
    fn leaf_of(&self, life: &Life, lives: &Lives) -> Option<usize> {
        // What the supervisor makes has the name that the manifest gives it.
        let place = match lives.made(life) {
            Some((_, name)) => self.domains.iter().position(|domain| Some(&**domain) == name),
            None => (life.domain?.checked_sub(1)?).try_into().ok(),
        };
        self.leaves.get(place?).copied().flatten()
    }

    /// Where that is, in words; none: by its priority.
    pub(crate) fn place_of(&self, on: On) -> Option<String> {
        match on {
            On::Leaf(leaf) => Some(self.place(leaf)),
            On::Made => Some(MADE.to_string()),
            On::Priority => None,
        }
    }

    /// The class of the highest level that a reservation is in, and so on down to itself.
    pub(crate) fn path(&self, leaf: usize) -> Vec<usize> {
        let mut path = vec![leaf];
        // A manifest has no circles, but this takes any.
        while let Some(class) = self.reservations[path[path.len() - 1]].class {
            if path.contains(&class) || class >= self.reservations.len() {
                break;
            }
            path.push(class);
        }
        path.reverse();
        path
    }

    /// The names of a leaf's classes and its own: `critical/flight`.
    pub(crate) fn path_name(&self, leaf: usize) -> String {
        let names = self.path(leaf).into_iter().map(|one| self.reservations[one].name.as_str());
        names.collect::<Vec<_>>().join("/")
    }

    /// The same, and what decides among it and its siblings.
    pub(crate) fn place(&self, leaf: usize) -> String {
        format!("{} ({})", self.path_name(leaf), self.above(leaf))
    }

    /// The class that a leaf is in; none: its CPU's root.
    pub(crate) fn class_of(&self, leaf: usize) -> Option<&str> {
        self.reservations[leaf].class.map(|class| self.reservations[class].name.as_str())
    }

    /// What decides among a leaf and its siblings.
    pub(crate) fn policy_above(&self, leaf: usize) -> Policy {
        let class = self.reservations[leaf].class;
        class.and_then(|class| self.reservations[class].policy).unwrap_or(Policy::FixedPriority)
    }

    /// The same in words, with the priority where that is it.
    fn above(&self, leaf: usize) -> String {
        match (self.reservations[leaf].share, self.policy_above(leaf)) {
            (Share::Priority(priority), Policy::FixedPriority) => format!("priority {priority}"),
            (_, policy) => policy_name(policy).to_string(),
        }
    }

    /// The priority in its CPU's root of what a leaf is in.
    pub(crate) fn level(&self, leaf: usize) -> u16 {
        match self.reservations[self.path(leaf)[0]].share {
            Share::Priority(priority) => priority,
            // A class of all CPUs.
            _ => 0,
        }
    }

    /// Why a leaf was served before another one, and whether it is always above it.
    fn decide(&self, ran: usize, late: usize, spent: impl Fn(usize) -> Spent) -> (String, bool) {
        let (a, b) = (self.path(ran), self.path(late));
        let Some(depth) = (0..a.len().min(b.len())).find(|at| a[*at] != b[*at]) else {
            return ("which both use, in turns of a time slice".to_string(), false);
        };
        let (own, other) = (&self.reservations[a[depth]], &self.reservations[b[depth]]);
        let (name, spent) = (&other.name, spent(depth));
        let above = self.policy_above(a[depth]);
        if spent == Spent::Yes && above != Policy::FixedPriority {
            return (format!("since {name} is out of budget"), false);
        }
        let or = match spent {
            Spent::Perhaps => format!(", or {name} is out of budget"),
            _ => String::new(),
        };
        let because = match (above, own.share, other.share) {
            (Policy::FixedPriority, Share::Priority(own), Share::Priority(others)) => {
                return by_priority(name, own, others, spent);
            }
            (Policy::EarliestDeadline, ..) => format!("due before {name}{or}"),
            (Policy::Partitions, Share::Partition { number: 0, .. }, _) => {
                format!("in the background, which {name} left{or}")
            }
            (Policy::Partitions, ..) => format!("in its window, not in that of {name}"),
            _ => format!("by its curve before {name}{or}"),
        };
        (because, false)
    }
}

/// Why what has a priority was served before another one, and whether it is always above it.
fn by_priority(other: &str, own: u16, others: u16, spent: Spent) -> (String, bool) {
    let because = match own.cmp(&others) {
        std::cmp::Ordering::Greater => format!("above {other}, {own} to {others}"),
        std::cmp::Ordering::Equal => format!("equal to {other}, in turns of a time slice"),
        std::cmp::Ordering::Less if spent == Spent::Yes => {
            format!("since {other} is out of budget")
        }
        std::cmp::Ordering::Less if spent == Spent::Perhaps => {
            format!("below {other}, which may be out of budget")
        }
        std::cmp::Ordering::Less => format!("below {other}, which the trace does not explain"),
    };
    (because, own > others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, class: Option<usize>, policy: Option<Policy>, share: Share) -> Reservation {
        Reservation { name: name.to_string(), class, policy, share, limit: None }
    }

    /// `critical` (EDF) with `flight` and `vision`, `others` (partitions) with `guest` and `log`.
    fn names() -> Names {
        let partition = |number| Share::Partition { number, priority: 1 };
        let (edf, frame) = (Some(Policy::EarliestDeadline), Some(Policy::Partitions));
        let reservations = vec![
            node("critical", None, edf, Share::Priority(300)),
            node("flight", Some(0), None, Share::Deadline),
            node("vision", Some(0), None, Share::Deadline),
            node("others", None, frame, Share::Priority(100)),
            node("guest", Some(3), None, partition(1)),
            node("log", Some(3), None, partition(0)),
        ];
        Names { reservations, ..Names::default() }
    }

    #[test]
    fn each_policy_says_why_it_chose() {
        let names = names();
        let decide = |ran, late, spent| names.decide(ran, late, |_| spent);
        let said = |ran, late| decide(ran, late, Spent::No);
        let of = |text: &str, higher| (text.to_string(), higher);
        assert_eq!(said(1, 2), of("due before vision", false));
        assert_eq!(said(1, 4), of("above others, 300 to 100", true));
        assert_eq!(said(4, 5), of("in its window, not in that of log", false));
        assert_eq!(said(5, 4), of("in the background, which guest left", false));
        assert_eq!(said(1, 1), of("which both use, in turns of a time slice", false));
        let below = said(4, 1);
        assert_eq!(below, of("below critical, which the trace does not explain", false));
        assert_eq!(decide(4, 1, Spent::Yes), of("since critical is out of budget", false));
        assert_eq!(decide(2, 1, Spent::Yes), of("since flight is out of budget", false));
        let or = of("due before flight, or flight is out of budget", false);
        assert_eq!(decide(2, 1, Spent::Perhaps), or);
    }

    #[test]
    fn a_place_has_its_classes_and_what_decides() {
        let names = names();
        assert_eq!(names.path_name(1), "critical/flight");
        assert_eq!((names.above(1), names.above(0)), ("EDF".into(), "priority 300".into()));
        assert_eq!((names.level(5), names.class_of(5)), (100, Some("others")));
        assert_eq!(names.class_of(0), None);
    }
}
