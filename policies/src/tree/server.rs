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
use super::freed::Begins;
use super::replenish::Replenishments;
use abi::reservation::{Budget, Server, Timing};

/// A node's server, with what is left.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Supply {
    /// Its parameters, the budget below the period; none: no limit.
    pub(super) limits: Option<Budget>,
    /// What is left; below zero what was used too much. Not of a sporadic server.
    left: i64,
    /// The end of the period, or the deadline that its budget is for.
    until: u64,
    /// Since when nothing inside is ready, or ([`NEVER`]) something is.
    idle: u64,
    /// The budget of a sporadic server.
    pub(super) replenishments: Replenishments,
    /// Whether it waits for budget.
    pub(super) is_throttled: bool,
    /// Since when it has waited.
    waits: u64,
    /// What each budget that begins before an instant is less.
    less: Less,
    /// Where it goes by deadlines: that of what is left is not before this one.
    pub(super) earliest: u64,
    /// How often its budget was exhausted.
    pub(super) overruns: u32,
    /// What was left of the budgets of a periodic server when their periods ended, while something
    /// inside was ready: others had the CPU.
    pub(super) unserved: u64,
    /// Whether what is ready inside is so beside a lent leaf alone: it may have run there.
    pub(super) stands_by: bool,
}

/// A part of budgets that has grown to them, and comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Less {
    amount: u64,
    until: u64,
}

impl Supply {
    /// No server.
    pub(super) const NONE: Supply = Supply {
        limits: None,
        left: 0,
        until: 0,
        idle: 0,
        replenishments: Replenishments::NONE,
        is_throttled: false,
        waits: 0,
        less: Less { amount: 0, until: 0 },
        earliest: 0,
        overruns: 0,
        unserved: 0,
        stands_by: false,
    };

    /// A server whose first period begins now.
    pub(super) fn new(limits: Option<Budget>, now: u64) -> Supply {
        let Some(Budget { server, budget, period }) = limits else { return Supply::NONE };
        let until = match server {
            Server::Periodic => now.saturating_add(period),
            _ => now,
        };
        let replenishments = match server {
            Server::Sporadic => Replenishments::new(now, budget),
            _ => Replenishments::NONE,
        };
        Supply { limits, left: amount(budget), until, idle: now, replenishments, ..Supply::NONE }
    }

    /// Whether a server with these limits instead has the same instants.
    fn goes_on_as(&self, limits: Budget) -> bool {
        self.limits.is_some_and(|old| (old.server, old.period) == (limits.server, limits.period))
    }

    /// It has these limits from now on. What was used stays used, so that no change brings budget;
    /// what is new begins when `begins` says. `span`: where budgets are promised by deadlines,
    /// within which time each may be used; elsewhere a node that has not run begins anew at once.
    pub(super) fn change(
        &mut self,
        limits: Option<Budget>,
        begins: Begins,
        span: Option<u64>,
        now: u64,
    ) {
        let counted = (self.overruns, self.unserved, self.stands_by);
        let is_new = span.is_none() && begins.anew <= now;
        if self.idle != NEVER {
            // Up to date.
            self.wake(now);
            self.sleep(now);
        }
        match (self.limits, limits) {
            // The next limit begins behind this one.
            (_, None) => *self = Supply { until: self.last(), ..Supply::NONE },
            (Some(old), Some(new)) if self.goes_on_as(new) && !is_new => {
                self.resize(old.budget, new, span, (begins.more, now));
            }
            _ => {
                let behind = if is_new || span.is_some() { 0 } else { self.last() };
                let at = begins.anew.max(self.less.until).max(behind);
                self.limits = limits;
                self.begin(at, now);
            }
        }
        (self.overruns, self.unserved, self.stands_by) = counted;
    }

    /// The same server with another budget. What it is more comes from an instant on, with the next
    /// budget if that is later; by deadlines as much at once as there is time left of the span.
    fn resize(&mut self, old: u64, new: Budget, span: Option<u64>, (from, now): (u64, u64)) {
        let more = new.budget.saturating_sub(old);
        let less = old.saturating_sub(new.budget);
        if self.less.until <= now {
            self.less = Less { amount: 0, until: from };
        }
        let unused = self.unused(new.budget, now);
        self.less.amount = self.less.amount - unused + more;
        self.less.until = self.less.until.max(from);
        let at_once = match (span, self.deadline()) {
            _ if self.less.until > now => 0,
            (Some(span), Some(end)) => {
                let end = end.saturating_sub(new.period - span);
                let time = end.saturating_sub(now).min(span);
                (u128::from(more) * u128::from(time) / u128::from(span)) as u64
            }
            _ => more,
        };
        self.limits = Some(new);
        self.left = self.left.saturating_sub(amount(less - unused)).saturating_add(amount(at_once));
        let later = [more - at_once, self.less.until];
        self.replenishments.resize((at_once, later), [less - unused, unused], new.period);
        self.waits = now;
        if new.server == Server::ConstantSoft && self.left <= 0 && !self.is_throttled {
            self.postpone(new);
        }
        self.set_throttled(now);
    }

    /// What has not begun of a budget's growth, and is no more if the budget is this one.
    fn unused(&self, budget: u64, now: u64) -> u64 {
        let less = self.limits.map_or(0, |old| old.budget.saturating_sub(budget));
        less.min(self.later(now))
    }

    /// What has not begun of the budget's growth.
    pub(super) fn later(&self, now: u64) -> u64 {
        if self.less.until > now { self.less.amount } else { 0 }
    }

    /// It begins anew at an instant, now or later, and has nothing until then. A soft one has its
    /// first budget at once, by the deadline that this has then.
    fn begin(&mut self, at: u64, now: u64) {
        let Some(limits) = self.limits else { return };
        let Supply { overruns, unserved, stands_by, .. } = *self;
        let new = Supply::new(self.limits, now);
        *self = Supply { overruns, unserved, stands_by, waits: now, ..new };
        if at <= now {
            return;
        }
        match limits.server {
            Server::Periodic | Server::Constant => (self.left, self.until) = (0, at),
            Server::ConstantSoft => self.until = at.saturating_add(limits.period),
            Server::Sporadic => self.replenishments = Replenishments::new(at, limits.budget),
        }
        self.set_throttled(now);
    }

    /// It comes to a class of earliest deadlines, with jobs of this kind.
    pub(super) fn arrive(
        &mut self,
        begins: Begins,
        jobs: Option<Timing>,
        is_ready: bool,
        now: u64,
    ) {
        self.begin(begins.anew, now);
        if is_ready {
            self.wake(now);
        }
        self.earliest = jobs.map_or(0, |jobs| now.saturating_add(jobs.deadline));
    }

    /// What was used ahead of a budget for each `span`, and what of its growth comes later.
    pub(super) fn lag(&self, span: u64, now: u64) -> [u64; 2] {
        let Some(Budget { server, budget, period }) = self.limits else { return [0; 2] };
        let by = |amount: u64, until: u64| {
            let time = until.saturating_sub(now);
            i128::from(amount).saturating_mul(time.into()) / i128::from(span.max(1))
        };
        let later = by(self.later(now), self.less.until);
        let used = match server {
            Server::Sporadic => {
                let amounts = self.replenishments.amounts().iter();
                amounts.map(|entry| by(entry.amount, entry.at)).sum::<i128>() - later
            }
            _ => {
                let begun = budget - self.later(now);
                by(begun, self.until.saturating_sub(period - span)) - i128::from(self.left)
            }
        };
        [used.max(0), later].map(|lag| u64::try_from(lag).unwrap_or(u64::MAX))
    }

    /// The budget that begins at an instant.
    fn budget_at(&self, begin: u64, budget: u64) -> u64 {
        if begin < self.less.until { budget - self.less.amount } else { budget }
    }

    /// When all that was used has come back.
    fn last(&self) -> u64 {
        self.until.max(self.replenishments.last())
    }

    /// What is left of the budget; [`NEVER`] without a limit.
    #[inline(always)]
    pub(super) fn left(&self) -> u64 {
        match self.limits {
            None => NEVER,
            Some(Budget { server: Server::Sporadic, .. }) => self.replenishments.head().amount,
            Some(_) => self.left.max(0) as u64,
        }
    }

    /// Something inside becomes ready.
    pub(super) fn wake(&mut self, now: u64) {
        let Some(Budget { server, budget, period }) = self.limits else { return };
        let idle = core::mem::replace(&mut self.idle, NEVER);
        match server {
            Server::Periodic => {
                if now >= self.until {
                    self.begin_period(now, budget, period);
                }
                // Of its budget it has used by idling as much as by running.
                let since = idle.max(self.until.saturating_sub(period));
                let idled = amount(now.saturating_sub(since));
                self.left = self.left.saturating_sub(idled).max(self.left.min(0));
            }
            Server::Constant | Server::ConstantSoft => {
                if self.is_throttled && now >= self.until {
                    self.begin_period(now, budget, period);
                }
                // What came while nothing was ready goes by the same rule as what was left.
                if self.left > 0 && self.is_stale(now, budget, period) {
                    self.until = now.saturating_add(period);
                    self.left = amount(self.budget_at(now, budget));
                }
            }
            Server::Sporadic => self.replenishments.activate(now),
        }
        self.set_throttled(now);
    }

    /// Whether what is left, used by the deadline, would be more than the bandwidth.
    fn is_stale(&self, now: u64, budget: u64, period: u64) -> bool {
        let left = u128::from(self.left());
        now >= self.until
            || left * u128::from(period) >= u128::from(self.until - now) * u128::from(budget)
    }

    /// From when on it could run, if something inside became ready at an instant; nothing is now.
    pub(super) fn can_run_from(&self, ready: u64) -> u64 {
        let Some(limits) = self.limits.filter(|_| ready != NEVER) else { return ready };
        match limits.server {
            Server::Sporadic if self.replenishments.head().at > ready => {
                return self.replenishments.head().at;
            }
            Server::Periodic if ready < self.until => {
                let since = self.idle.max(self.until.saturating_sub(limits.period));
                let is_left = self.left > amount(ready.saturating_sub(since));
                return if is_left { ready } else { self.comes_back(limits) };
            }
            Server::Constant | Server::ConstantSoft if self.less.amount == 0 => {
                if !self.is_throttled {
                    return ready;
                }
                if ready < self.until {
                    return self.comes_back(limits);
                }
            }
            _ => {}
        }
        let mut then = self.clone();
        then.wake(ready);
        if then.is_throttled { then.comes_back(limits).max(ready) } else { ready }
    }

    /// Nothing inside is ready any more.
    pub(super) fn sleep(&mut self, now: u64) {
        if self.idle == NEVER && self.period_end() <= now {
            self.replenish(now);
        }
        self.idle = now;
    }

    fn set_throttled(&mut self, now: u64) {
        self.is_throttled = match self.limits {
            Some(Budget { server: Server::Sporadic, .. }) => self.replenishments.head().at > now,
            _ => self.left <= 0,
        };
    }

    /// Whether it keeps a bandwidth by its deadlines.
    #[inline(always)]
    pub(super) fn is_constant(&self) -> bool {
        let server = self.limits.map(|limits| limits.server);
        matches!(server, Some(Server::Constant | Server::ConstantSoft))
    }

    /// By when what it has now is to be used: the deadline of its class's children.
    #[inline(always)]
    pub(super) fn deadline(&self) -> Option<u64> {
        let Budget { server, period, .. } = self.limits?;
        Some(match server {
            Server::Sporadic => self.replenishments.head().at.saturating_add(period),
            _ => self.until,
        })
    }

    /// It has run for so long, until now, since it was chosen at an instant or since it was charged
    /// last. Whether it must wait for budget now, or has another deadline or another instant to
    /// come.
    #[inline(always)]
    pub(super) fn charge(&mut self, (time, began): (u64, u64), now: u64) -> bool {
        let Some(limits) = self.limits else { return false };
        if limits.server == Server::Sporadic {
            return self.charge_sporadic((time, began), now, limits);
        }
        let mut time = time;
        let is_over = self.is_overdue(now) && !self.is_throttled;
        if is_over {
            // What ran before the period's end was its budget's.
            let before = time.saturating_sub(now - self.until);
            self.left = self.left.saturating_sub(amount(before));
            time -= before;
            self.end_period(now, limits.budget, limits.period);
        }
        self.left = self.left.saturating_sub(amount(time));
        if self.left > 0 {
            return is_over;
        }
        if self.is_throttled {
            // It comes back later, perhaps.
            return true;
        }
        self.overruns = self.overruns.saturating_add(1);
        if limits.server == Server::ConstantSoft {
            self.postpone(limits);
        } else {
            (self.is_throttled, self.waits) = (true, now);
        }
        true
    }

    /// A soft server has another budget at once, and a later deadline.
    fn postpone(&mut self, limits: Budget) {
        let budget = self.budget_at(self.until, limits.budget).max(1);
        let periods = self.debt() / budget + 1;
        self.until = self.until.saturating_add(limits.period.saturating_mul(periods));
        self.left = self.left.saturating_add(amount(budget.saturating_mul(periods)));
    }

    fn charge_sporadic(&mut self, (time, began): (u64, u64), now: u64, limits: Budget) -> bool {
        let before = self.replenishments.head().at;
        self.replenishments.charge(time, began, limits);
        let next = self.replenishments.head().at;
        let is_over = next > now && !self.is_throttled;
        if is_over {
            self.is_throttled = true;
            self.overruns = self.overruns.saturating_add(1);
        }
        // The instant may be the same: that of an amount from a time ahead of this CPU.
        is_over || next != before
    }

    /// When it can run again, while something inside is ready and waits for budget: when what was
    /// used too much is repaid.
    #[inline(always)]
    pub(super) fn event(&self, is_ready: bool) -> u64 {
        match self.limits {
            Some(limits) if is_ready && self.is_throttled => self.comes_back(limits),
            _ => NEVER,
        }
    }

    #[inline(always)]
    fn comes_back(&self, limits: Budget) -> u64 {
        let next = self.next_period(limits);
        let debt = self.debt();
        if limits.server == Server::Sporadic || debt < limits.budget {
            return next;
        }
        self.repaid(debt, next, limits)
    }

    /// When a debt of a budget and more is repaid: a budget for each period.
    #[cold]
    fn repaid(&self, debt: u64, next: u64, Budget { budget, period, .. }: Budget) -> u64 {
        let missed = (next - self.until) / period;
        let first = budget.saturating_mul(missed.saturating_add(1));
        if debt < first {
            return next;
        }
        let until = if missed > 0 { next } else { self.until };
        let periods = (debt - first) / budget + 1;
        until.saturating_add(period.saturating_mul(periods))
    }

    /// What was used beyond the budget.
    #[inline(always)]
    fn debt(&self) -> u64 {
        self.left.min(0).unsigned_abs()
    }

    /// When the next budget comes to a server that waits.
    #[inline(always)]
    fn next_period(&self, limits: Budget) -> u64 {
        match limits.server {
            Server::Sporadic => self.replenishments.head().at,
            Server::Periodic => self.until,
            Server::Constant | Server::ConstantSoft => self.until.max(self.waits),
        }
    }

    /// When the period of a periodic server ends, or budget comes to one that waits.
    #[inline(always)]
    pub(super) fn period_end(&self) -> u64 {
        match self.limits {
            Some(limits) if limits.server == Server::Periodic || self.is_throttled => {
                self.next_period(limits)
            }
            _ => NEVER,
        }
    }

    /// Whether the period of a periodic server, inside which something is ready, has ended: what is
    /// left and its deadline are not those that they should be.
    #[inline(always)]
    pub(super) fn is_overdue(&self, now: u64) -> bool {
        matches!(self.limits, Some(Budget { server: Server::Periodic, .. })) && self.until <= now
    }

    /// Its instant has come, now or before; something inside was ready all the time.
    pub(super) fn replenish(&mut self, now: u64) {
        let Some(Budget { server, budget, period }) = self.limits else { return };
        match server {
            Server::Periodic => self.end_period(now, budget, period),
            Server::Sporadic => self.replenishments.join_small(),
            Server::Constant | Server::ConstantSoft => {
                // When it was due.
                self.begin_period(self.until.max(self.waits), budget, period);
                if self.left <= 0 && self.until <= now {
                    // Periods that repay what was used too much.
                    let passed = (now - self.until) / period + 1;
                    let periods = passed.min(self.debt() / budget + 1);
                    self.add_periods(periods, budget, period);
                }
            }
        }
        self.set_throttled(now);
    }

    /// A period ends in which something was ready to the last, and the one of this instant begins.
    fn end_period(&mut self, now: u64, budget: u64, period: u64) {
        let missed = now.saturating_sub(self.until) / period;
        let unserved = self.left.saturating_add(amount(budget.saturating_mul(missed)));
        let unserved = if self.stands_by { 0 } else { unserved.max(0) as u64 };
        self.unserved = self.unserved.saturating_add(unserved);
        self.begin_period(now, budget, period);
    }

    fn add_periods(&mut self, periods: u64, budget: u64, period: u64) {
        self.until = self.until.saturating_add(periods.saturating_mul(period));
        let more = amount(budget.saturating_mul(periods));
        self.left = self.left.min(0).saturating_add(more).min(amount(budget));
    }

    /// The period that contains this instant begins, or began. What was used too much is repaid,
    /// a budget for each period. A deadline that passed periods ago is no deadline to go on from.
    fn begin_period(&mut self, now: u64, budget: u64, period: u64) {
        let missed = now.saturating_sub(self.until) / period;
        let begin = self.until.saturating_add(missed.saturating_mul(period));
        let budget = self.budget_at(begin, budget);
        self.add_periods(missed.saturating_add(1), budget, period);
        if self.is_constant() && missed > 0 {
            self.until = now.saturating_add(period);
        }
    }
}

/// A time as it is added and taken away.
#[inline(always)]
fn amount(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}
