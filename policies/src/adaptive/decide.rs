//! What a class gives to one of its children, and takes from others for it.

use crate::tree::bandwidth;
use abi::reservation::WHOLE;
use core::cmp::Reverse;

/// The most children that a decision is about.
pub const SIBLINGS: usize = abi::adaptive::CHILDREN;

/// Whether a server's budget may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Its budget is for ever what it is.
    Hard,
    /// Its budget follows demand, as far as its importance lets it.
    Soft {
        /// Greater is more important; among equals the one that comes first.
        importance: u32,
        /// What it always keeps in each period, in nanoseconds, 1 at least.
        least: u64,
    },
}

/// A child of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sibling {
    /// Its period in nanoseconds.
    pub period: u64,
    /// Its budget in each period, in nanoseconds.
    pub budget: u64,
    /// Whether that may be changed.
    pub kind: Kind,
}

/// Why there is no decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// More than [`SIBLINGS`] children.
    TooMany,
    /// No such child, or a hard one.
    NotSoft,
    /// A child that no budget can be right for: its period is 0, or its budget is that or more,
    /// or below its least one, or that is 0.
    Unsound,
    /// Together they have more than their class now, so that nothing is known of what is left.
    Overcommitted,
}

/// The budgets of all children from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    budgets: [u64; SIBLINGS],
    before: [u64; SIBLINGS],
    count: usize,
}

impl Decision {
    /// The budgets, in the order of the children.
    pub fn budgets(&self) -> &[u64] {
        &self.budgets[..self.count]
    }

    /// The children whose budgets are to be changed, and their new budgets. Those that get less
    /// come first: set in this order, the class never promises more than it has.
    pub fn changes(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let changed = |is_wanted: fn(&u64, &u64) -> bool| {
            let both = self.budgets().iter().zip(&self.before).enumerate();
            both.filter(move |(_, (new, old))| is_wanted(new, old)).map(|(at, (new, _))| (at, *new))
        };
        changed(|new, old| new < old).chain(changed(|new, old| new > old))
    }
}

/// Gives one child of a class the budget that it wants, as far as hard and more important siblings
/// and the least budgets of the others leave it. Less important ones get less where the class has
/// not enough for all of them, the least important first, none below its least budget (S2B-12).
/// `supply` is what the class has, in millionths of a CPU. O(n^2) for n children.
///
/// # Errors
/// [`Refused`]: nothing is changed.
pub fn decide(
    siblings: &[Sibling],
    supply: u32,
    adapted: usize,
    wanted: u64,
) -> Result<Decision, Refused> {
    check(siblings, supply)?;
    let own = siblings.get(adapted).ok_or(Refused::NotSoft)?;
    let Kind::Soft { least, .. } = own.kind else { return Err(Refused::NotSoft) };
    let mut decision =
        Decision { budgets: [0; SIBLINGS], before: [0; SIBLINGS], count: siblings.len() };
    for (at, sibling) in siblings.iter().enumerate() {
        (decision.budgets[at], decision.before[at]) = (sibling.budget, sibling.budget);
    }
    // What no decision about this child touches: the more important ones, and least budgets.
    let kept = siblings.iter().enumerate().filter(|(at, _)| *at != adapted).map(|(at, sibling)| {
        let budget = match sibling.kind {
            Kind::Soft { least, .. } if rank(siblings, at) < rank(siblings, adapted) => least,
            _ => sibling.budget,
        };
        bandwidth(budget, sibling.period)
    });
    // At least its own least budget is left, since all that there is now fits.
    let available = u64::from(supply).saturating_sub(kept.sum());
    let most = budget_of(available, own.period).min(own.period - 1);
    decision.budgets[adapted] = wanted.clamp(least, most.max(least));
    throttle(siblings, supply, adapted, &mut decision);
    Ok(decision)
}

/// Takes from less important siblings what the class lacks.
fn throttle(siblings: &[Sibling], supply: u32, adapted: usize, decision: &mut Decision) {
    let promised = siblings.iter().zip(&decision.budgets);
    let promised: u64 = promised.map(|(it, budget)| bandwidth(*budget, it.period)).sum();
    let mut excess = promised.saturating_sub(supply.into());
    let mut order = [0; SIBLINGS];
    let order = &mut order[..siblings.len()];
    order.iter_mut().enumerate().for_each(|(at, place)| *place = at);
    order.sort_unstable_by_key(|at| rank(siblings, *at));
    let own = rank(siblings, adapted);
    for at in order.iter().copied().take_while(|at| rank(siblings, *at) < own) {
        let Sibling { period, budget, kind: Kind::Soft { least, .. } } = siblings[at] else {
            return;
        };
        let had = bandwidth(budget, period);
        let left = budget_of(had.saturating_sub(excess), period).clamp(least, budget);
        decision.budgets[at] = left;
        excess = excess.saturating_sub(had - bandwidth(left, period));
    }
}

/// The order of importance, the least first; hard ones are above all others.
fn rank(siblings: &[Sibling], at: usize) -> (u64, Reverse<usize>) {
    let importance = match siblings[at].kind {
        Kind::Soft { importance, .. } => importance.into(),
        Kind::Hard => u64::MAX,
    };
    (importance, Reverse(at))
}

/// The greatest budget whose bandwidth is this or less.
fn budget_of(rate: u64, period: u64) -> u64 {
    let budget = u128::from(rate) * u128::from(period) / u128::from(WHOLE);
    u64::try_from(budget).unwrap_or(u64::MAX)
}

fn check(siblings: &[Sibling], supply: u32) -> Result<(), Refused> {
    if siblings.len() > SIBLINGS {
        return Err(Refused::TooMany);
    }
    let is_sound = |it: &Sibling| {
        let keeps_least = match it.kind {
            Kind::Soft { least, .. } => (1..=it.budget).contains(&least),
            Kind::Hard => true,
        };
        it.budget < it.period && keeps_least
    };
    if !siblings.iter().all(is_sound) {
        return Err(Refused::Unsound);
    }
    let promised: u64 = siblings.iter().map(|it| bandwidth(it.budget, it.period)).sum();
    if promised > supply.into() { Err(Refused::Overcommitted) } else { Ok(()) }
}
