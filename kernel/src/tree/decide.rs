//! The decision of a CPU, in steps.

use super::{ANYWHERE, Trees};
use crate::access::{Owner, Ref};
use crate::cost::CostEvent;
use crate::object::Thread;
use crate::port::Port;
use policies::tree::{Pick, Step};

/// What a CPU is to run, and until when.
pub struct Chosen<P: Port> {
    /// The thread; none: the CPU idles.
    pub thread: Option<Ref<Thread<P>>>,
    /// The instant of the next decision, if nothing happens before.
    pub until: u64,
}

impl<P: Port> Trees<P> {
    /// Takes the steps of a CPU's decision, from an instant on: the leaf, what that has had, and
    /// when it begins to run. `None`: `leaves` has said so between two of them. That is told
    /// whether anything was served.
    #[inline(always)]
    fn take_steps(
        &self,
        cpu: usize,
        mut now: u64,
        clock: impl Fn() -> u64,
        mut leaves: impl FnMut(bool) -> bool,
    ) -> Option<(Pick, u64, u64)> {
        let mut served = false;
        if self.with(|tree| tree.runs_node(cpu))? && leaves(served) {
            return None;
        }
        loop {
            match self.with(|tree| tree.step(cpu, now))? {
                Step::Chosen(pick) => return self.end_decision(cpu, (pick, now), clock),
                Step::Charged => served = false,
                Step::Served(node) => {
                    now = clock();
                    self.with(|tree| tree.owe(cpu, node, now));
                    served = true;
                }
            }
            if leaves(served) {
                return None;
            }
        }
    }

    /// A leaf was chosen at an instant. If another one pays for the decision, it runs from here on.
    #[inline(always)]
    fn end_decision(
        &self,
        cpu: usize,
        (mut pick, mut now): (Pick, u64),
        clock: impl Fn() -> u64,
    ) -> Option<(Pick, u64, u64)> {
        self.with(|tree| {
            if tree.has_payer(cpu) {
                let time = tree.settle_decision(cpu, clock());
                now += time;
                pick.until = pick.until.saturating_add(time);
            }
            // A monitor is told with each decision, behind what is more urgent.
            if tree.has_notice(cpu) {
                pick.until = now;
            }
            (pick, pick.leaf.map_or(0, |leaf| tree.service(leaf)), now)
        })
    }

    /// Decides for a CPU. What the tree says is checked: a leaf that this CPU may run, whose first
    /// thread can run. `None`: between two steps `leaves` has said that the decision is left. That
    /// is told whether the last step has served anything.
    #[inline(always)]
    pub fn choose(
        &self,
        (owner, cpu): (&impl Owner, u32),
        now: u64,
        clock: impl Fn() -> u64,
        leaves: impl FnMut(bool) -> bool,
    ) -> Option<Chosen<P>> {
        P::cost(CostEvent::Search);
        P::cost(CostEvent::LookUp);
        let (pick, service, now) = self.take_steps(cpu as usize, now, clock, leaves)?;
        let place = pick.leaf.and_then(|leaf| self.leaves.get(leaf.0 as usize));
        let Some(place) = place else { return Some(Chosen { thread: None, until: pick.until }) };
        let (mut first, mut until) = (self.first_in(owner, place), pick.until);
        match first.filter(|first| place.has_others(*first)) {
            Some(shares) => {
                let ends = self.share_slices(owner, (place, shares), service, now);
                (first, until) = (self.first_in(owner, place), until.min(ends));
            }
            // A slice begins when another thread comes.
            None => place.holder.set(None),
        }
        let is_shared = place.cpu.get() == ANYWHERE;
        let runs =
            |thread: &Ref<Thread<P>>| thread.runnable() && (is_shared || thread.cpu.get() == cpu);
        let thread = first.filter(runs);
        if self.lend_any() {
            self.charge_too(owner, cpu, thread);
        }
        Some(Chosen { thread, until })
    }

    /// A decision is left: whom the CPU has worked for pays until here, and what has no budget any
    /// more does not pay for what comes before it is made.
    pub fn leave_decision(&self, cpu: u32, clock: impl Fn() -> u64) {
        self.settle_payer(cpu, clock);
        self.with(|tree| tree.leave_decision(cpu as usize));
    }

    /// A CPU leaves the kernel without a decision: whom it has worked for pays until here.
    pub fn settle_payer(&self, cpu: u32, clock: impl Fn() -> u64) {
        let at = cpu as usize;
        if self.with(|tree| tree.has_payer(at)) == Some(true) {
            self.with(|tree| tree.settle_payer(at, clock()));
        }
    }
}
