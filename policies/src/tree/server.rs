//! Servers: how much CPU time a node may use, whatever is ready inside.
//!
//! | server | budget comes back | unused budget |
//! |---|---|---|
//! | periodic (S2B-01) | at each multiple of the period | idles away |
//! | constant bandwidth | with a deadline one period later | stays, if it suits the deadline |
//! | sporadic | one period after the activation that used it | stays |
//!
//! What is used beyond a budget, because the timer comes late, is taken from the next one.

use super::curve::NEVER;

/// Amounts that a sporadic server has to come at once. What is more is joined to the last one,
/// which comes later and is as much.
pub const REFILLS: usize = 8;

/// The kinds of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The budget at the beginning of each period.
    Periodic,
    /// Constant bandwidth: out of budget, it waits for its deadline.
    Constant,
    /// Constant bandwidth: out of budget, it goes on with a later deadline.
    ConstantSoft,
    /// Each use comes back a period later.
    Sporadic,
}

/// A server's parameters, in nanoseconds: 0 < budget < period. A budget that is the period is no
/// limit, and no server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The kind.
    pub kind: Kind,
    /// CPU time in each period.
    pub budget: u64,
    /// The period.
    pub period: u64,
}

/// An amount of budget to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Refill {
    at: u64,
    amount: u64,
}

/// A node's server, with what is left.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// Its parameters; none: no limit.
    pub(super) limits: Option<Budget>,
    /// What is left; below zero what was used too much.
    left: i64,
    /// The end of the period, or the deadline that its budget is for.
    pub(super) until: u64,
    /// Since when nothing inside is ready, or ([`NEVER`]) something is.
    idle: u64,
    /// When this stretch of use began, for a sporadic server.
    active: u64,
    /// What it has used since then.
    used: u64,
    refills: [Refill; REFILLS],
    count: u8,
    /// Whether it waits for budget.
    pub(super) is_throttled: bool,
    /// How often it ran out of budget.
    pub(super) overruns: u32,
}

impl Server {
    /// No server.
    pub(super) const NONE: Server = Server {
        limits: None,
        left: 0,
        until: 0,
        idle: 0,
        active: 0,
        used: 0,
        refills: [Refill { at: NEVER, amount: 0 }; REFILLS],
        count: 0,
        is_throttled: false,
        overruns: 0,
    };

    /// A server whose first period begins now.
    pub(super) fn new(limits: Option<Budget>, now: u64) -> Server {
        let limits = limits.filter(|limits| limits.budget < limits.period);
        let Some(Budget { kind, budget, period }) = limits else { return Server::NONE };
        let until = match kind {
            Kind::Periodic => now.saturating_add(period),
            _ => now,
        };
        Server { limits, left: amount(budget), until, idle: now, ..Server::NONE }
    }

    /// What is left of the budget; [`NEVER`] without a limit.
    #[inline(always)]
    pub(super) fn left(&self) -> u64 {
        match self.limits {
            Some(_) => self.left.max(0) as u64,
            None => NEVER,
        }
    }

    /// Something inside becomes ready.
    pub(super) fn wake(&mut self, now: u64) {
        let Some(Budget { kind, budget, period }) = self.limits else { return };
        let idle = core::mem::replace(&mut self.idle, NEVER);
        match kind {
            Kind::Periodic => {
                if now >= self.until {
                    self.begin_period(now, budget, period);
                }
                // Of its budget it has used by idling as much as by running.
                let since = idle.max(self.until.saturating_sub(period));
                let idled = amount(now.saturating_sub(since));
                self.left = self.left.saturating_sub(idled).max(self.left.min(0));
            }
            Kind::Constant | Kind::ConstantSoft => {
                if !self.is_throttled && self.is_stale(now, budget, period) {
                    self.until = now.saturating_add(period);
                    self.left = amount(budget).min(amount(budget).saturating_add(self.left.min(0)));
                }
            }
            Kind::Sporadic => {
                self.take_refills(now);
                (self.active, self.used) = (now, 0);
            }
        }
        self.is_throttled = self.left <= 0;
    }

    /// Whether what is left, used by the deadline, would be more than the bandwidth.
    fn is_stale(&self, now: u64, budget: u64, period: u64) -> bool {
        let left = u128::from(self.left());
        now >= self.until
            || left * u128::from(period) >= u128::from(self.until - now) * u128::from(budget)
    }

    /// Nothing inside is ready any more.
    pub(super) fn sleep(&mut self, now: u64) {
        self.idle = now;
        if self.limits.is_some_and(|limits| limits.kind == Kind::Sporadic) {
            self.plan_refill();
        }
    }

    /// Whether it keeps a bandwidth by its deadlines.
    #[inline(always)]
    pub(super) fn is_constant(&self) -> bool {
        let kind = self.limits.map(|limits| limits.kind);
        matches!(kind, Some(Kind::Constant | Kind::ConstantSoft))
    }

    /// By when what it has now is to be used: the deadline of its class's children.
    #[inline(always)]
    pub(super) fn deadline(&self) -> Option<u64> {
        let Budget { kind, period, .. } = self.limits?;
        Some(match kind {
            Kind::Sporadic => self.active.saturating_add(period),
            _ => self.until,
        })
    }

    /// It has run for so long. Whether its budget is used up, so that it must wait, or (a soft
    /// one) has another deadline.
    #[inline(always)]
    pub(super) fn charge(&mut self, time: u64) -> bool {
        let Some(limits) = self.limits else { return false };
        self.left = self.left.saturating_sub(amount(time));
        self.used = self.used.saturating_add(time);
        self.left <= 0 && self.run_out(limits)
    }

    fn run_out(&mut self, limits: Budget) -> bool {
        self.overruns = self.overruns.saturating_add(1);
        match limits.kind {
            Kind::ConstantSoft => {
                let periods = self.left.unsigned_abs() / limits.budget + 1;
                self.until = self.until.saturating_add(limits.period.saturating_mul(periods));
                let more = amount(limits.budget.saturating_mul(periods));
                self.left = self.left.saturating_add(more);
            }
            Kind::Sporadic => {
                self.plan_refill();
                self.is_throttled = true;
            }
            Kind::Periodic | Kind::Constant => self.is_throttled = true,
        }
        true
    }

    /// When it needs to be told of the time: its period ends, or budget comes back.
    #[inline(always)]
    pub(super) fn event(&self, is_ready: bool) -> u64 {
        match self.limits {
            Some(Budget { kind: Kind::Periodic, .. }) if is_ready => self.until,
            Some(Budget { kind: Kind::Constant, .. }) if self.is_throttled => self.until,
            Some(Budget { kind: Kind::Sporadic, .. }) if self.is_throttled => self.refills[0].at,
            _ => NEVER,
        }
    }

    /// Its instant has come.
    pub(super) fn replenish(&mut self, now: u64) {
        let Some(Budget { kind, budget, period }) = self.limits else { return };
        match kind {
            Kind::Periodic => self.begin_period(now, budget, period),
            Kind::Constant | Kind::ConstantSoft => {
                self.left = self.left.min(0).saturating_add(amount(budget));
                // A deadline that has passed long ago is no deadline to go on from.
                self.until = self.until.max(now.saturating_sub(period)).saturating_add(period);
            }
            Kind::Sporadic => {
                self.take_refills(now);
                (self.active, self.used) = (now, 0);
            }
        }
        self.is_throttled = self.left <= 0;
    }

    /// The period that contains this instant begins, or began. What was used too much is repaid.
    fn begin_period(&mut self, now: u64, budget: u64, period: u64) {
        let missed = now.saturating_sub(self.until) / period;
        let passed = missed.saturating_add(1);
        self.until = self.until.saturating_add(passed.saturating_mul(period));
        let debt = self.left.min(0);
        self.left = debt.saturating_add(amount(budget.saturating_mul(passed)));
        self.left = self.left.min(amount(budget));
    }

    /// What was used since the activation comes back a period after it.
    fn plan_refill(&mut self) {
        let Some(Budget { period, .. }) = self.limits else { return };
        let used = core::mem::take(&mut self.used);
        if used == 0 {
            return;
        }
        let new = Refill { at: self.active.saturating_add(period), amount: used };
        let count = usize::from(self.count);
        match count.checked_sub(1).and_then(|last| self.refills.get_mut(last)) {
            Some(last) if count == REFILLS || last.at == new.at => {
                *last = Refill { at: new.at, amount: last.amount.saturating_add(new.amount) };
            }
            _ => {
                self.refills[count] = new;
                self.count += 1;
            }
        }
    }

    fn take_refills(&mut self, now: u64) {
        let due = self.refills.iter().take(usize::from(self.count));
        let due = due.take_while(|refill| refill.at <= now).count();
        for refill in &self.refills[..due] {
            self.left = self.left.saturating_add(amount(refill.amount));
        }
        self.refills.copy_within(due.., 0);
        self.refills[REFILLS - due..].fill(Refill { at: NEVER, amount: 0 });
        self.count -= due as u8;
    }
}

/// A time as it is added and taken away.
#[inline(always)]
fn amount(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}
