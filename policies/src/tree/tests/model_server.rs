//! The plain model's servers: one period after the other, in 128-bit numbers.

use super::*;
use abi::reservation::LEAST_PART;

#[derive(Clone)]
pub(super) struct ModelServer {
    pub(super) limits: Budget,
    pub(super) left: i128,
    pub(super) until: u64,
    pub(super) idle: Option<u64>,
    /// Of a sporadic server: instants and amounts.
    pub(super) list: Vec<(u64, u64)>,
    pub(super) throttled: bool,
    pub(super) waits: u64,
    /// Until when each budget that begins is less, and by how much.
    pub(super) grows: (u64, u64),
    pub(super) earliest: u64,
    pub(super) overruns: u32,
}

impl ModelServer {
    pub(super) fn new(limits: Budget, now: u64, overruns: u32) -> ModelServer {
        let until = if limits.server == Server::Periodic { now + limits.period } else { now };
        let (left, list) = (limits.budget.into(), vec![(now, limits.budget)]);
        ModelServer {
            limits,
            left,
            until,
            idle: Some(now),
            list,
            throttled: false,
            waits: 0,
            grows: (0, 0),
            earliest: 0,
            overruns,
        }
    }

    /// The same server with another budget: what was used stays used, and what is more comes from
    /// an instant on.
    pub(super) fn resized(
        mut self,
        limits: Budget,
        span: Option<u64>,
        (from, now): (u64, u64),
    ) -> ModelServer {
        let more = limits.budget.saturating_sub(self.limits.budget);
        let mut less = self.limits.budget.saturating_sub(limits.budget);
        let (until, later) = if self.grows.0 > now { self.grows } else { (0, 0) };
        let not_begun = less.min(later);
        self.grows = (until.max(from), later - not_begun + more);
        let mut at_once = span.map_or(more, |span| {
            let end = i128::from(self.deadline()) - i128::from(limits.period - span);
            let time = (end - i128::from(now)).clamp(0, span.into());
            (i128::from(more) * time / i128::from(span)) as u64
        });
        if self.grows.0 > now {
            at_once = 0;
        }
        less -= not_begun;
        self.left += i128::from(at_once) - i128::from(less);
        let next = (self.list[0].0 + limits.period).max(self.grows.0);
        self.list[0].1 += at_once;
        let mut last = not_begun;
        while last > 0 {
            let entry = self.list.last_mut().expect("there is a budget");
            let taken = last.min(entry.1);
            (last, entry.1) = (last - taken, entry.1 - taken);
            if entry.1 == 0 {
                self.list.pop();
            }
        }
        while less > 0 {
            let taken = less.min(self.list[0].1);
            (less, self.list[0].1) = (less - taken, self.list[0].1 - taken);
            if self.list[0].1 == 0 {
                self.list.remove(0);
            }
        }
        if more > at_once {
            self.push(next, more - at_once);
        }
        self.join_small();
        (self.limits, self.waits) = (limits, now);
        while limits.server == Server::ConstantSoft && !self.throttled && self.left <= 0 {
            self.left += i128::from(self.budget_at(self.until).max(1));
            self.until += limits.period;
        }
        self.throttled = self.is_exhausted(now);
        self
    }

    /// One that begins at an instant, or has begun; a soft one goes by that alone.
    pub(super) fn begin(limits: Budget, at: u64, now: u64, overruns: u32) -> ModelServer {
        let mut server = ModelServer::new(limits, now, overruns);
        server.waits = now;
        if at > now {
            server.list = vec![(at, limits.budget)];
            (server.left, server.until) = match limits.server {
                Server::ConstantSoft => (server.left, at + limits.period),
                _ => (0, at),
            };
        }
        server.throttled = server.is_exhausted(now);
        server
    }

    fn budget_at(&self, begin: u64) -> u64 {
        let later = if begin < self.grows.0 { self.grows.1 } else { 0 };
        self.limits.budget - later
    }

    /// What has not begun of a growth.
    pub(super) fn later(&self, now: u64) -> u64 {
        if self.grows.0 > now { self.grows.1 } else { 0 }
    }

    /// What was used ahead of a budget for each `span`, and what comes later.
    pub(super) fn lag(&self, span: u64, now: u64) -> (i128, i128) {
        let by = |amount: u64, until: i128| {
            i128::from(amount) * (until - i128::from(now)).max(0) / i128::from(span)
        };
        let early = i128::from(self.limits.period - span);
        let later = by(self.later(now), self.grows.0.into());
        let used = match self.limits.server {
            Server::Sporadic => {
                self.list.iter().map(|entry| by(entry.1, entry.0.into())).sum::<i128>() - later
            }
            _ => {
                by(self.limits.budget - self.later(now), i128::from(self.until) - early) - self.left
            }
        };
        (used.max(0), later)
    }

    pub(super) fn wake(&mut self, now: u64) {
        let Budget { server, budget, period } = self.limits;
        let (full, idle) = (i128::from(budget), self.idle.take());
        match server {
            Server::Periodic => {
                while self.until <= now {
                    self.next_period();
                }
                let since = idle.unwrap_or(now).max(self.until.saturating_sub(period));
                let floor = self.left.min(0);
                self.left = (self.left - i128::from(now.saturating_sub(since))).max(floor);
            }
            Server::Constant | Server::ConstantSoft => {
                if self.throttled {
                    self.catch_up(now);
                }
                let time = i128::from(self.until) - i128::from(now);
                let is_much = time <= 0 || self.left * i128::from(period) >= time * full;
                if self.left > 0 && is_much {
                    (self.until, self.left) = (now + period, self.budget_at(now).into());
                }
            }
            Server::Sporadic => {
                let due = self.list.iter().take_while(|entry| entry.0 <= now).count();
                let amount = self.list.drain(..due).map(|entry| entry.1).sum();
                if due > 0 {
                    self.list.insert(0, (now, amount));
                    self.join_small();
                }
                if self.list.len() > REPLENISHMENTS {
                    let last = self.list.pop().expect("there are more");
                    let before = self.list.last_mut().expect("there are more");
                    *before = (last.0, before.1 + last.1);
                }
            }
        }
        self.throttled = self.is_exhausted(now);
    }

    pub(super) fn next_period(&mut self) {
        let budget = i128::from(self.budget_at(self.until));
        self.until += self.limits.period;
        self.left = (self.left.min(0) + budget).min(budget);
    }

    /// A deadline that is over: each period since brings a budget, and the last one a deadline.
    pub(super) fn catch_up(&mut self, now: u64) {
        let first = self.until;
        while self.until <= now {
            self.next_period();
        }
        if self.until > first + self.limits.period {
            self.until = now + self.limits.period;
        }
    }

    pub(super) fn is_exhausted(&self, now: u64) -> bool {
        match self.limits.server {
            Server::Sporadic => self.list[0].0 > now,
            _ => self.left <= 0,
        }
    }

    pub(super) fn join_small(&mut self) {
        while self.list.len() > 1 && self.list[0].1 < LEAST_PART {
            let (_, small) = self.list.remove(0);
            self.list[0].1 += small;
        }
    }

    /// When all that was used has come back.
    pub(super) fn last(&self) -> u64 {
        match self.limits.server {
            Server::Sporadic => self.list.last().map_or(0, |entry| entry.0).max(self.until),
            _ => self.until,
        }
    }

    fn push(&mut self, at: u64, amount: u64) {
        let full = self.list.len() == REPLENISHMENTS + 1;
        match self.list.iter().position(|entry| entry.0 >= at) {
            Some(next) if full || self.list[next].0 == at => self.list[next].1 += amount,
            Some(next) => self.list.insert(next, (at, amount)),
            None if full => {
                let last = self.list.last_mut().expect("it is full");
                *last = (at, last.1 + amount);
            }
            None => self.list.push((at, amount)),
        }
    }

    pub(super) fn charge(&mut self, (time, began): (u64, u64), now: u64) {
        let Budget { server, period, .. } = self.limits;
        let mut late = i128::from(time);
        if server == Server::Periodic && self.until <= now && !self.throttled {
            late = late.min(i128::from(now - self.until));
            self.left -= i128::from(time) - late;
            while self.until <= now {
                self.next_period();
            }
        }
        self.left -= late;
        let mut rest = time;
        let oldest = began.saturating_sub(period);
        let old = self.list.iter().take_while(|entry| entry.0 <= oldest).count();
        let amount = self.list.drain(..old).map(|entry| entry.1).sum();
        if old > 0 {
            self.list.insert(0, (oldest, amount));
        }
        while server == Server::Sporadic && rest > 0 {
            let used = rest.min(self.list[0].1);
            let at = self.list[0].0 + period;
            (rest, self.list[0].1) = (rest - used, self.list[0].1 - used);
            if self.list[0].1 == 0 {
                self.list.remove(0);
            }
            self.push(at, used);
        }
        if self.throttled || !self.is_exhausted(now) {
            return;
        }
        self.overruns += 1;
        self.throttled = server != Server::ConstantSoft;
        self.waits = now;
        while !self.throttled && self.left <= 0 {
            self.left += i128::from(self.budget_at(self.until).max(1));
            self.until += period;
        }
    }

    /// Its next instant, while something in it is ready.
    pub(super) fn event(&self) -> Option<u64> {
        match self.limits.server {
            Server::Periodic => Some(self.until),
            Server::Constant | Server::ConstantSoft => {
                self.throttled.then_some(self.until.max(self.waits))
            }
            Server::Sporadic => self.throttled.then_some(self.list[0].0),
        }
    }

    /// When it can run again, if it waits for budget.
    pub(super) fn comes_back(&self) -> Option<u64> {
        let (mut then, mut at) = (self.clone(), self.event());
        while let Some(event) = at {
            then.replenish(event);
            if !then.throttled {
                break;
            }
            at = then.event();
        }
        at
    }

    pub(super) fn replenish(&mut self, now: u64) {
        match self.limits.server {
            Server::Periodic => {
                while self.until <= now {
                    self.next_period();
                }
            }
            Server::Constant | Server::ConstantSoft => {
                self.catch_up(self.until.max(self.waits));
                while self.until <= now && self.left <= 0 {
                    self.next_period();
                }
            }
            Server::Sporadic => self.join_small(),
        }
        self.throttled = self.is_exhausted(now);
    }

    /// When it is exhausted if it runs on.
    pub(super) fn end(&self, now: u64) -> u64 {
        match self.limits.server {
            Server::Sporadic => now + self.list[0].1,
            _ => now + u64::try_from(self.left.max(0)).expect("small"),
        }
    }

    pub(super) fn deadline(&self) -> u64 {
        match self.limits.server {
            Server::Sporadic => self.list[0].0 + self.limits.period,
            _ => self.until,
        }
    }
}
