//! What is done when a child fails: pure, without a system call.
//!
//! ```text
//!             made                    fails, at most so often within the window
//! Waiting -----------> Up  -------------------------------------> Up (restarted)
//!    ^                 | \ \-- its program ends ----> Ended
//!    |   a dependency  |  \--- fails too often -----> GivenUp
//!    +--- goes down ---+   \-- a client stops it ---> Stopped
//! ```
//!
//! Children are numbered so that each comes behind those that it depends on.

use abi::supervision::{MOST_CHILDREN, MOST_RESTARTS};
use supervision::State;

/// A set of children, a bit each.
pub type Set = u32;

/// How a child is to be treated.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// How many restarts it is allowed within the window, at most [`MOST_RESTARTS`].
    pub at_most: u64,
    /// The length of the window in nanoseconds.
    pub within: u64,
    /// The earlier children that it depends on.
    pub depends: Set,
}

/// What is to be done about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// These are to be restarted.
    Restart(Set),
    /// It stays down.
    GiveUp,
}

/// The latest restarts of a child, as many as it is allowed in a window.
#[derive(Clone, Copy)]
struct Recent {
    at: [u64; MOST_RESTARTS as usize],
    count: u64,
}

const NONE: Recent = Recent { at: [0; MOST_RESTARTS as usize], count: 0 };

/// All children.
pub struct Policy {
    rules: [Option<Rule>; MOST_CHILDREN],
    states: [State; MOST_CHILDREN],
    recent: [Recent; MOST_CHILDREN],
}

impl Policy {
    /// Children that wait to be made.
    pub fn new(children: impl Iterator<Item = Rule>) -> Policy {
        let mut rules = [None; MOST_CHILDREN];
        for (place, rule) in rules.iter_mut().zip(children) {
            *place = Some(rule);
        }
        let states = [State::Waiting; MOST_CHILDREN];
        Policy { rules, states, recent: [NONE; MOST_CHILDREN] }
    }

    /// How a child is.
    pub fn state(&self, child: usize) -> State {
        self.states[child]
    }

    /// A child and all that depend on it, directly or through others.
    pub fn affected(&self, child: usize) -> Set {
        let mut set = 1 << child;
        for (number, rule) in self.rules.iter().flatten().enumerate() {
            if rule.depends & set != 0 {
                set |= 1 << number;
            }
        }
        set
    }

    /// A child has failed at an instant: it is down, and so are those that depend on it.
    pub fn fail(&mut self, child: usize, now: u64) -> Verdict {
        if !self.may_restart(child, now) {
            self.mark_down(child, State::GivenUp);
            return Verdict::GiveUp;
        }
        self.mark_down(child, State::Waiting);
        Verdict::Restart(self.revive(child))
    }

    /// Counts a restart, if the window has room for it.
    fn may_restart(&mut self, child: usize, now: u64) -> bool {
        let Some(rule) = self.rules[child] else { return false };
        if rule.at_most == 0 {
            return false;
        }
        let recent = &mut self.recent[child];
        // The ring is as long as restarts are allowed: its oldest must lie before the window.
        let place = (recent.count % rule.at_most) as usize;
        let full = recent.count >= rule.at_most;
        if full && now.saturating_sub(recent.at[place]) < rule.within {
            return false;
        }
        recent.at[place] = now;
        recent.count += 1;
        true
    }

    /// A child is down, and why; those that depend on it wait, unless they are down by themselves.
    pub fn mark_down(&mut self, child: usize, why: State) {
        for number in each(self.affected(child)) {
            if matches!(self.states[number], State::Up | State::Ended) {
                self.states[number] = State::Waiting;
            }
        }
        self.states[child] = why;
    }

    /// A child is to be up, with those that wait for it: all that are to be made, in order of
    /// their numbers. None if it waits for another one itself.
    pub fn revive(&mut self, child: usize) -> Set {
        let mut made = 0;
        for number in each(self.affected(child)) {
            let wanted = number == child || self.states[number] == State::Waiting;
            if wanted && self.can_be_up(number) {
                self.states[number] = State::Up;
                made |= 1 << number;
            }
        }
        made
    }

    /// Whether all that a child depends on are there.
    pub fn can_be_up(&self, child: usize) -> bool {
        let depends = self.rules[child].map_or(0, |rule| rule.depends);
        each(depends).all(|other| matches!(self.states[other], State::Up | State::Ended))
    }

    /// The program of a child that is up has ended.
    pub fn end(&mut self, child: usize) {
        if self.states[child] == State::Up {
            self.states[child] = State::Ended;
        }
    }

    /// Forgets the restarts of a child.
    pub fn forgive(&mut self, child: usize) {
        self.recent[child] = NONE;
    }
}

/// The numbers in a set, in order.
pub fn each(set: Set) -> impl DoubleEndedIterator<Item = usize> {
    (0..MOST_CHILDREN).filter(move |number| set >> number & 1 != 0)
}

#[cfg(test)]
mod tests;
