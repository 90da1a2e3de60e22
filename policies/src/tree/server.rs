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
use super::replenish::Replenishments;
use abi::reservation::{Budget, Server};

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
    /// How often its budget was exhausted.
    pub(super) overruns: u32,
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
        overruns: 0,
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
                if self.is_throttled {
                    if now >= self.until {
                        self.begin_period(now, budget, period);
                    }
                } else if self.is_stale(now, budget, period) {
                    self.until = now.saturating_add(period);
                    self.left = amount(budget);
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

    /// Nothing inside is ready any more.
    pub(super) fn sleep(&mut self, now: u64) {
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

    /// It has run for so long, until now. Whether it must wait for budget now, or has another
    /// deadline or another instant to come.
    #[inline(always)]
    pub(super) fn charge(&mut self, time: u64, now: u64) -> bool {
        let Some(limits) = self.limits else { return false };
        if limits.server == Server::Sporadic {
            return self.charge_sporadic(time, now, limits);
        }
        self.left = self.left.saturating_sub(amount(time));
        if self.left > 0 || self.is_throttled {
            return false;
        }
        self.overruns = self.overruns.saturating_add(1);
        if limits.server == Server::ConstantSoft {
            let periods = self.left.unsigned_abs() / limits.budget + 1;
            self.until = self.until.saturating_add(limits.period.saturating_mul(periods));
            let more = amount(limits.budget.saturating_mul(periods));
            self.left = self.left.saturating_add(more);
        } else {
            self.is_throttled = true;
        }
        true
    }

    fn charge_sporadic(&mut self, time: u64, now: u64, limits: Budget) -> bool {
        let before = self.replenishments.head().at;
        self.replenishments.charge(time, now, limits);
        let next = self.replenishments.head().at;
        if next > now && !self.is_throttled {
            self.is_throttled = true;
            self.overruns = self.overruns.saturating_add(1);
        }
        next != before
    }

    /// When it needs to be told of the time, while something inside is ready: its period ends, or
    /// budget comes back.
    #[inline(always)]
    pub(super) fn event(&self, is_ready: bool) -> u64 {
        match self.limits {
            Some(Budget { server: Server::Periodic, .. }) if is_ready => self.until,
            Some(Budget { server: Server::Constant, .. }) if is_ready && self.is_throttled => {
                self.until
            }
            Some(Budget { server: Server::Sporadic, .. }) if is_ready && self.is_throttled => {
                self.replenishments.head().at
            }
            _ => NEVER,
        }
    }

    /// Its instant has come.
    pub(super) fn replenish(&mut self, now: u64) {
        let Some(Budget { server, budget, period }) = self.limits else { return };
        if server != Server::Sporadic {
            self.begin_period(now, budget, period);
        }
        self.set_throttled(now);
    }

    /// The period that contains this instant begins, or began. What was used too much is repaid,
    /// a budget for each period. A deadline that passed periods ago is no deadline to go on from.
    fn begin_period(&mut self, now: u64, budget: u64, period: u64) {
        let missed = now.saturating_sub(self.until) / period;
        let passed = missed.saturating_add(1);
        self.until = match self.is_constant() && missed > 0 {
            true => now.saturating_add(period),
            false => self.until.saturating_add(passed.saturating_mul(period)),
        };
        let more = amount(budget.saturating_mul(passed));
        self.left = self.left.min(0).saturating_add(more).min(amount(budget));
    }
}

/// A time as it is added and taken away.
#[inline(always)]
fn amount(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}
