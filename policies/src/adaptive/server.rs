//! Servers whose budgets follow demand, and the tree that they are in.

use abi::reservation::WHOLE;
use core::cmp::Reverse;

/// The most servers that a decision is about.
pub const MOST: usize = abi::adaptive::MOST;

/// The class that a server is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Above {
    /// One whose budget is fixed.
    Fixed {
        /// A number of its own.
        class: u64,
        /// What it has for these servers together, in millionths of a CPU.
        supply: u32,
    },
    /// One of these servers: its place, which is before those of its children.
    Adaptive(usize),
}

/// A soft server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// The class that it is in.
    pub above: Above,
    /// Greater is more important; among equals the one that comes first.
    pub importance: u32,
    /// Its period in nanoseconds.
    pub period: u64,
    /// The time within which its class promises it the budget, in nanoseconds.
    pub within: u64,
    /// Its budget in each period, in nanoseconds, less than the period.
    pub budget: u64,
    /// What it always keeps in each period, in nanoseconds, 1 at least: enough for what is taken,
    /// and for what its children keep.
    pub least: u64,
    /// What children whose budgets are fixed have of it, in millionths of a CPU.
    pub taken: u32,
    /// What it asked for in the last decision about it; at first its budget.
    pub asked: u64,
}

/// Why there is no decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// More than [`MOST`] servers.
    TooMany,
    /// A server for which no budget can be right: its period is 0, or its budget is that or more,
    /// or below its least one, or that is 0 or too small for what is inside; or its class is behind
    /// it.
    Unsound,
    /// The children of a class have more than it has now, so that nothing is known of what is left.
    Overcommitted,
}

impl Above {
    /// Whether both are the same class.
    pub fn is(self, other: Above) -> bool {
        match (self, other) {
            (Above::Fixed { class: one, .. }, Above::Fixed { class: other, .. }) => one == other,
            (one, other) => one == other,
        }
    }
}

impl Server {
    /// What a budget of this server takes of its class, in millionths: at most the whole, however
    /// much is asked for.
    pub(super) fn rate(&self, budget: u64) -> u64 {
        let whole = u128::from(WHOLE);
        let exact = (u128::from(budget) * whole).div_ceil(self.within.max(1).into());
        exact.min(whole) as u64
    }

    /// What it has for its children with a budget, in millionths.
    pub(super) fn supply(&self, budget: u64) -> u64 {
        let has = u128::from(budget) * u128::from(WHOLE) / u128::from(self.period.max(1));
        u64::try_from(has).unwrap_or(u64::MAX).saturating_sub(self.taken.into())
    }

    /// The greatest budget, below its period, whose rate is this or less.
    pub(super) fn budget_of(&self, rate: u64) -> u64 {
        let budget = u128::from(rate) * u128::from(self.within) / u128::from(WHOLE);
        u64::try_from(budget).unwrap_or(u64::MAX).min(self.period - 1)
    }

    /// The least budget that has this for children, beside what is taken.
    pub(super) fn budget_for(&self, rate: u64) -> u64 {
        let has = u128::from(rate.saturating_add(self.taken.into()));
        u64::try_from((has * u128::from(self.period)).div_ceil(WHOLE.into())).unwrap_or(u64::MAX)
    }
}

/// The children of a class, by place.
pub(super) fn children(servers: &[Server], class: Above) -> impl Iterator<Item = usize> + '_ {
    let all = servers.iter().enumerate();
    all.filter(move |(_, server)| server.above.is(class)).map(|(at, _)| at)
}

/// The order of importance, the least first.
pub(super) fn rank(servers: &[Server], at: usize) -> (u32, Reverse<usize>) {
    (servers[at].importance, Reverse(at))
}

/// What a server's budget leaves to tasks that are right in it, beside all children, in
/// nanoseconds.
pub fn left_to_tasks(servers: &[Server], at: usize) -> u64 {
    let inside = children(servers, Above::Adaptive(at));
    let inside = inside.map(|child| servers[child].rate(servers[child].budget)).sum();
    let own = servers[at];
    own.budget.saturating_sub(own.budget_for(inside))
}

/// Whether a decision about these can be taken.
pub(super) fn check(servers: &[Server]) -> Result<(), Refused> {
    if servers.len() > MOST {
        return Err(Refused::TooMany);
    }
    let is_behind = |(at, server): (usize, &Server)| match server.above {
        Above::Adaptive(class) => class < at,
        Above::Fixed { .. } => true,
    };
    let is_sound =
        |it: &Server| it.budget < it.period && it.within > 0 && (1..=it.budget).contains(&it.least);
    if !servers.iter().all(is_sound) || !servers.iter().enumerate().all(is_behind) {
        return Err(Refused::Unsound);
    }
    let sum = |class: Above, of: fn(&Server) -> u64| -> u64 {
        children(servers, class).map(|at| servers[at].rate(of(&servers[at]))).sum()
    };
    for (at, server) in servers.iter().enumerate() {
        let inside = Above::Adaptive(at);
        if server.budget_for(sum(inside, |child| child.least)) > server.least {
            return Err(Refused::Unsound);
        }
        if server.budget_for(sum(inside, |child| child.budget)) > server.budget {
            return Err(Refused::Overcommitted);
        }
        if let Above::Fixed { supply, .. } = server.above
            && sum(server.above, |sibling| sibling.budget) > supply.into()
        {
            return Err(Refused::Overcommitted);
        }
    }
    Ok(())
}
