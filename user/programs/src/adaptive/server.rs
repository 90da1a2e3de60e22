//! The servers that are controlled: what was seen of each, and a step of control.

use super::log::{Entry, Log};
use super::report::{Report, Sums};
use policies::adaptive::{self, Above, Demand, MOST, Use, decide, left_to_tasks};
use rt::abi::adaptive::Adaptive;
use rt::abi::reservation::{Budget, WHOLE};
use rt::prelude::*;
use rt::{Slot, reservation};

/// A server that is controlled.
struct Server {
    /// Its place among the capabilities, by which the log calls it.
    number: usize,
    slot: Slot,
    /// The numbers of itself and of its class.
    numbers: [u64; 2],
    limit: Budget,
    /// From one decision to the next.
    interval: Duration,
    report: Option<Report>,
    demand: Demand,
    /// As the policy sees it.
    own: adaptive::Server,
    /// The next decision about it.
    next: Instant,
    /// The decision before, and what had been seen by then.
    before: Instant,
    seen: Seen,
    sums: Sums,
    /// What its children have lacked of it since then, in nanoseconds.
    starved: u64,
    /// What the decision before was about, for each of its periods, and its late jobs.
    last: Use,
    late: u64,
}

/// What the kernel counts of a server, in nanoseconds: CPU time, the part of it that servers inside
/// it had, and what was left of its budgets while it was ready.
#[derive(Clone, Copy, Default)]
struct Seen {
    service: u64,
    inside: u64,
    unserved: u64,
}

/// All servers, each behind its class.
pub struct Servers {
    all: [Option<Server>; MOST],
}

impl Servers {
    /// None is controlled.
    pub const NONE: Servers = Servers { all: [const { None }; MOST] };

    /// Takes control: from now on budgets begin at the controller's instants.
    pub fn begin(&mut self, env: &Env, now: Instant) {
        let told = env.adaptive().enumerate();
        for (place, (number, (name, slot, told))) in self.all.iter_mut().zip(told) {
            let report = env.find_mem(name).map(Report);
            *place = Some(Server::new(number, slot, &told, report, now));
            set(slot, told.limit);
        }
        self.sort();
        for at in 0..MOST {
            let seen = self.count(at);
            self.all[at].iter_mut().for_each(|server| server.seen = seen);
        }
    }

    /// Puts classes before what is in them, and those of one level in the order of the
    /// capabilities.
    fn sort(&mut self) {
        let mut depths = [MOST; MOST];
        for (at, depth) in depths.iter_mut().enumerate() {
            let above = |at: &usize| self.class_of(*at);
            *depth = core::iter::successors(Some(at), above).take(MOST).count();
        }
        let depth = |server: &Server| depths[server.number];
        self.all
            .sort_unstable_by_key(|it| it.as_ref().map_or((MOST, 0), |it| (depth(it), it.number)));
        for at in 0..MOST {
            let class = self.class_of(at).filter(|class| *class < at);
            if let (Some(class), Some(server)) = (class, &mut self.all[at]) {
                server.own.above = Above::Adaptive(class);
            }
        }
    }

    /// The place of a server's class, if that is one of these.
    fn class_of(&self, at: usize) -> Option<usize> {
        let [_, class] = self.all[at].as_ref()?.numbers;
        self.all.iter().position(|it| it.as_ref().is_some_and(|it| it.numbers[0] == class))
    }

    /// The next decision, if there will be one.
    pub fn next(&self) -> Option<Instant> {
        self.all.iter().flatten().map(|server| server.next).min()
    }

    /// Decides about all servers whose instant has come, children first (S2B-12), and sets
    /// budgets. If one cannot be set, since another domain has promised what its class had left,
    /// the changes behind it wait until the next decision: so no class promises more than it has.
    /// O([`MOST`]^2) steps, and a system call for each look and each change.
    pub fn adapt(&mut self, now: Instant, log: &mut Log) {
        let mut wanted = [None; MOST];
        for at in (0..MOST).rev() {
            if self.all[at].as_ref().is_some_and(|server| server.next <= now) {
                wanted[at] = self.look(at, now);
            }
        }
        let (servers, count) = self.known();
        let Ok(decision) = decide(&servers[..count], &wanted[..count]) else { return };
        for (server, asked) in self.all.iter_mut().flatten().zip(decision.asked()) {
            server.own.asked = *asked;
        }
        for (changed, budget) in decision.changes() {
            let Some(server) = &mut self.all[changed] else { continue };
            if !set(server.slot, Budget { budget, ..server.limit }) {
                return;
            }
            server.own.budget = budget;
            log.write(&server.entry(now));
        }
    }

    /// What a server's own tasks want, by what it has used and lacked since the decision before.
    fn look(&mut self, at: usize, now: Instant) -> Option<u64> {
        let (seen, left) = (self.count(at), self.left_to_tasks(at));
        let server = self.all[at].as_mut()?;
        let sums = server.report.map_or(server.sums, Report::sums);
        let lacked = sums.since(server.sums);
        let before = server.seen;
        let service = seen.service.saturating_sub(before.service);
        let passed = now.as_nanos().saturating_sub(server.before.as_nanos());
        // What fixed children may have had, and what other children had, is not its own tasks'.
        let taken = u128::from(passed) * u128::from(server.own.taken) / u128::from(WHOLE);
        let others = seen.inside.saturating_sub(before.inside).saturating_add(taken as u64);
        let used = Use {
            jobs: u32::try_from(passed / server.own.period).unwrap_or(u32::MAX),
            consumed: service.saturating_sub(others).saturating_sub(lacked.past),
            extra: lacked.past.saturating_add(lacked.tardy).saturating_add(server.starved),
        };
        // It was released again with this left of its budgets: its class has lacked it.
        let starved = seen.unserved.saturating_sub(before.unserved);
        (server.seen, server.sums, server.before, server.starved) = (seen, sums, now, 0);
        while server.next <= now {
            server.next = server.next + server.interval;
        }
        server.demand.push(used, left);
        (server.last, server.late) = (used, lacked.late);
        let wanted = server.demand.wanted();
        if let Above::Adaptive(class) = server.own.above
            && let Some(class) = &mut self.all[class]
        {
            class.starved = class.starved.saturating_add(starved);
        }
        wanted
    }

    /// What the kernel has counted of a server; nothing of one that is gone.
    fn count(&self, at: usize) -> Seen {
        let usage = |server: &Server| reservation::usage(server.slot).ok();
        let Some(own) = self.all[at].as_ref().and_then(usage) else { return Seen::default() };
        let inside = self.all.iter().flatten();
        let inside = inside.filter(|server| server.own.above == Above::Adaptive(at));
        let inside = inside.filter_map(usage).map(|usage| usage.service).sum();
        let unserved = self.all[at].as_ref().and_then(|it| reservation::unserved(it.slot).ok());
        Seen { service: own.service, inside, unserved: unserved.unwrap_or(0) }
    }

    fn left_to_tasks(&self, at: usize) -> u64 {
        let (servers, count) = self.known();
        left_to_tasks(&servers[..count], at)
    }

    /// As the policy sees them, and how many there are.
    fn known(&self) -> ([adaptive::Server; MOST], usize) {
        let mut servers = [NOTHING; MOST];
        let known = self.all.iter().flatten();
        let count = servers.iter_mut().zip(known).map(|(place, it)| *place = it.own).count();
        (servers, count)
    }
}

/// What stands where there is no server.
const NOTHING: adaptive::Server = adaptive::Server {
    above: Above::Fixed { class: 0, supply: 0 },
    importance: 0,
    period: 0,
    within: 0,
    budget: 0,
    least: 0,
    taken: 0,
    asked: 0,
};

impl Server {
    fn new(
        number: usize,
        slot: Slot,
        told: &Adaptive,
        report: Option<Report>,
        now: Instant,
    ) -> Server {
        let Adaptive { class, supply, taken, importance, least, within, limit, .. } = *told;
        let own = adaptive::Server {
            above: Above::Fixed { class, supply },
            importance,
            period: limit.period,
            within,
            budget: limit.budget,
            least,
            taken,
            asked: limit.budget,
        };
        let interval = Duration::from_nanos(limit.period.saturating_mul(told.every.into()));
        Server {
            number,
            slot,
            numbers: [told.number, class],
            limit,
            interval,
            report,
            demand: Demand::new(told.history as usize),
            own,
            next: now + interval,
            before: now,
            seen: Seen::default(),
            sums: report.map_or(Sums::default(), Report::sums),
            starved: 0,
            last: Use::default(),
            late: 0,
        }
    }

    /// What the log tells of it.
    fn entry(&self, now: Instant) -> Entry {
        let jobs = u64::from(self.last.jobs.max(1));
        Entry {
            at: now.as_nanos(),
            server: self.number,
            asked: self.own.asked,
            budget: self.own.budget,
            consumed: self.last.consumed / jobs,
            mean: self.demand.mean().unwrap_or(0),
            extra: self.last.extra / jobs,
            late: self.late,
        }
    }
}

/// Sets a budget. Whether it is set.
fn set(slot: Slot, budget: Budget) -> bool {
    reservation::set_budget(slot, Some(budget)).is_ok()
}
