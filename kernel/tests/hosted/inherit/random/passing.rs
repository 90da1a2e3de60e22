//! Helpers that are passed over: the kernel says which, and the model whether they have to be.

use super::super::helpers_of;
use super::super::model::Id;
use super::{CONDITIONS, MUTEXES, Run};
use crate::support::host::Host;
use kernel::system::System;

impl<S: System<Port = Host>> Run<'_, S> {
    /// What the kernel says of a condition's helpers. They are those of the model, and those that
    /// are passed over have to be, if something has just happened to the condition.
    pub(super) fn learns(&mut self, place: usize, just: bool) {
        let Some(waiter) = self.model.places[place].waiters.first().copied() else { return };
        let later = self.board.machine.kernel.waits.has_followers();
        let found = helpers_of(&self.board, waiter.thread);
        let mut known: Vec<Id> = self.model.places[place].to.iter().map(|(to, _)| *to).collect();
        let mut told: Vec<Id> = found.iter().map(|(to, _)| *to).collect();
        known.sort();
        told.sort();
        assert_eq!(told, known, "helpers of {place}");
        for (helper, lends) in found {
            let helpers = &mut self.model.places[place].to;
            let known = helpers.iter_mut().find(|(to, _)| *to == helper).expect("it is known");
            let before = std::mem::replace(&mut known.1, lends);
            // It is lent to again in a step, which may be behind other calls.
            assert!(just || lends || !before, "{helper} of {place} is passed over from now on");
            if !lends {
                self.met("passed over");
            } else if !before {
                self.met("lent to again");
            }
        }
        for (helper, lends) in self.model.places[place].to.clone() {
            let rightly = || later || self.model.leads_to(helper, None, Some(place));
            assert!(!just || lends || rightly(), "{helper} of {place} is passed over");
        }
    }

    /// Several things have happened to conditions, in an order that does not matter here: which
    /// helpers are passed over is what the kernel says.
    pub(super) fn forgets_what_is_passed_over(&mut self) {
        for place in MUTEXES..MUTEXES + CONDITIONS {
            let Some(waiter) = self.model.places[place].waiters.first().copied() else { continue };
            let found = helpers_of(&self.board, waiter.thread);
            for (helper, lends) in &mut self.model.places[place].to {
                let told = found.iter().find(|(to, _)| to == helper);
                *lends = told.map_or(*lends, |(_, lends)| *lends);
            }
        }
    }
}
