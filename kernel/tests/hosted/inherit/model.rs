//! What inheriting mutexes and conditions are to do: everything is searched and computed from
//! scratch.

use std::collections::BTreeMap;

pub type Id = u32;

/// A thread that waits.
#[derive(Clone, Copy)]
pub struct Waiter {
    pub thread: Id,
    /// The priority that it waits with.
    pub key: i16,
    /// In which action it came, or came to have that.
    pub since: u64,
}

/// A mutex or condition.
#[derive(Clone, Default)]
pub struct Place {
    /// The owner, or the helpers while threads wait; and whether those lend it their priorities.
    pub to: Vec<(Id, bool)>,
    pub waiters: Vec<Waiter>,
    pub is_condition: bool,
}

impl Place {
    pub fn owner(&self) -> Option<Id> {
        self.to.first().filter(|_| !self.is_condition).map(|(owner, _)| *owner)
    }

    pub fn has(&self, thread: Id) -> bool {
        self.waiters.iter().any(|waiter| waiter.thread == thread)
    }

    fn lent_to(&self) -> impl Iterator<Item = Id> {
        self.to.iter().filter(|(_, lends)| *lends).map(|(to, _)| *to)
    }
}

/// All of them, and the priorities that threads were given.
#[derive(Default)]
pub struct Model {
    pub places: Vec<Place>,
    pub own: BTreeMap<Id, i16>,
    pub action: u64,
}

impl Model {
    pub fn awaited(&self, thread: Id) -> Option<usize> {
        self.places.iter().position(|place| place.has(thread))
    }

    /// Effective priorities: from those of the threads' own, until nothing changes.
    pub fn effective(&self) -> BTreeMap<Id, i16> {
        let mut all = self.own.clone();
        loop {
            let before = all.clone();
            for place in &self.places {
                let lent = place.waiters.iter().map(|waiter| all[&waiter.thread]).max();
                for to in place.lent_to() {
                    let priority = all.get_mut(&to).expect("what is lent to lives");
                    *priority = lent.unwrap_or(0).max(*priority);
                }
            }
            if before == all {
                return all;
            }
        }
    }

    /// A waiter whose priority has changed stands behind others of its new one.
    pub fn requeue(&mut self) {
        let effective = self.effective();
        let action = self.action;
        for waiter in self.places.iter_mut().flat_map(|place| &mut place.waiters) {
            if effective[&waiter.thread] != waiter.key {
                (waiter.key, waiter.since) = (effective[&waiter.thread], action);
            }
        }
    }

    /// Whether a waiter may be the first one: none has a greater priority, none of the same came
    /// before it.
    pub fn may_be_first(&self, place: usize, thread: Id) -> bool {
        let order = |waiter: &Waiter| (-waiter.key, waiter.since);
        let waiters = &self.places[place].waiters;
        let least = waiters.iter().map(order).min();
        waiters.iter().any(|waiter| waiter.thread == thread && Some(order(waiter)) == least)
    }

    /// Whether waits lead from a thread to another one, or to one that waits at a place.
    pub fn leads_to(&self, from: Id, thread: Option<Id>, place: Option<usize>) -> bool {
        if Some(from) == thread {
            return true;
        }
        let Some(next) = self.awaited(from) else { return false };
        let further = |to| self.leads_to(to, thread, place);
        Some(next) == place || self.places[next].lent_to().any(further)
    }

    /// The links of the longest chain that ends at a thread.
    pub fn height(&self, thread: Id) -> usize {
        let lenders = self.places.iter().filter(|place| place.lent_to().any(|to| to == thread));
        let waiters = lenders
            .flat_map(|place| place.waiters.iter().map(|waiter| self.height(waiter.thread) + 1));
        waiters.max().unwrap_or(0)
    }

    /// Helpers of a condition that were passed over, and need not be any more, are lent to.
    pub fn lends_again(&mut self, place: usize) {
        for index in 0..self.places[place].to.len() {
            let (helper, lends) = self.places[place].to[index];
            self.places[place].to[index].1 = lends || !self.leads_to(helper, None, Some(place));
        }
    }

    /// A thread waits from now on.
    pub fn waits(&mut self, thread: Id, place: usize) {
        let waiter = Waiter { thread, key: self.effective()[&thread], since: self.action };
        self.places[place].waiters.push(waiter);
    }

    /// A thread waits no longer.
    pub fn leaves(&mut self, thread: Id) {
        for place in &mut self.places {
            place.waiters.retain(|waiter| waiter.thread != thread);
            if place.is_condition && place.waiters.is_empty() {
                place.to.clear();
            }
        }
    }

    /// A mutex goes to this waiter, or is free.
    pub fn hands_over(&mut self, mutex: usize, heir: Option<Id>) {
        heir.into_iter().for_each(|heir| self.leaves(heir));
        self.places[mutex].to = heir.map(|heir| (heir, true)).into_iter().collect();
    }
}
