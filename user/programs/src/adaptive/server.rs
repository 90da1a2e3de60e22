//! The servers that are controlled: what was seen of each, and a step of control.

use super::log::{Entry, Log};
use super::report::{Report, Sums};
use policies::adaptive::{self, Above, Demand, MOST, Use, decide, left_to_tasks};
use rt::abi::adaptive::Adaptive;
use rt::abi::reservation::{Budget, WHOLE};
use rt::prelude::*;
use rt::{Slot, reservation};

/// What the controller is told of a server.
#[derive(Clone, Copy)]
struct Told {
    /// Its place among the capabilities, by which the log calls it.
    number: usize,
    name: &'static str,
    slot: Slot,
    own: Adaptive,
}

/// A server that is controlled.
struct Server {
    told: Told,
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
    /// What the log tells of it.
    entry: Entry,
}

/// What the kernel counts of a server: CPU time in nanoseconds, the part of it that servers inside
/// it had, and how often its budget was used up.
#[derive(Clone, Copy, Default)]
struct Seen {
    service: u64,
    inside: u64,
    overruns: u32,
}

/// All servers, each behind its class.
pub struct Servers {
    all: [Option<Server>; MOST],
}

impl Servers {
    /// None is controlled.
    pub const NONE: Servers = Servers { all: [const { None }; MOST] };

    /// Takes control: from now on budgets begin at the controller's instants.
    pub fn begin(env: &Env, now: Instant) -> Servers {
        let mut servers = Servers::NONE;
        let told = in_order(env);
        for (place, told_here) in servers.all.iter_mut().zip(told) {
            let Some(here) = told_here else { break };
            let report = env.find_mem(here.name).map(Report);
            *place = Some(Server::new(here, class_of(&here.own, &told), report, now));
            set(here.slot, here.own.limit);
        }
        for at in 0..MOST {
            let seen = servers.count(at);
            servers.all[at].iter_mut().for_each(|server| server.seen = seen);
        }
        servers
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
            if !set(server.told.slot, Budget { budget, ..server.told.own.limit }) {
                return;
            }
            server.own.budget = budget;
            log.write(&Entry { at: now.as_nanos(), budget, ..server.entry });
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
        let overruns = seen.overruns.wrapping_sub(before.overruns);
        let starved = used.starved(server.own.budget, service, overruns);
        (server.seen, server.sums, server.before, server.starved) = (seen, sums, now, 0);
        while server.next <= now {
            server.next = server.next + interval(&server.told.own);
        }
        server.demand.push(used, left);
        let wanted = server.demand.wanted();
        let jobs = u64::from(used.jobs.max(1));
        server.entry = Entry {
            wanted: wanted.unwrap_or(0),
            consumed: used.consumed / jobs,
            mean: server.demand.mean().unwrap_or(0),
            extra: used.extra / jobs,
            late: lacked.late,
            ..server.entry
        };
        if let Above::Adaptive(class) = server.own.above
            && let Some(class) = &mut self.all[class]
        {
            class.starved = class.starved.saturating_add(starved);
        }
        wanted
    }

    /// What the kernel has counted of a server; nothing of one that is gone.
    fn count(&self, at: usize) -> Seen {
        let usage = |server: &Server| reservation::usage(server.told.slot).ok();
        let Some(own) = self.all[at].as_ref().and_then(usage) else { return Seen::default() };
        let inside = self.all.iter().flatten();
        let inside = inside.filter(|server| server.own.above == Above::Adaptive(at));
        let inside = inside.filter_map(usage).map(|usage| usage.service).sum();
        Seen { service: own.service, inside, overruns: own.overruns }
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
    fn new(told: Told, class: Option<usize>, report: Option<Report>, now: Instant) -> Server {
        let Adaptive { class: number, supply, taken, importance, least, within, limit, .. } =
            told.own;
        let fixed = Above::Fixed { class: number, supply };
        let own = adaptive::Server {
            above: class.map_or(fixed, Above::Adaptive),
            importance,
            period: limit.period,
            within,
            budget: limit.budget,
            least,
            taken,
            asked: limit.budget,
        };
        Server {
            told,
            report,
            demand: Demand::new(told.own.history as usize),
            own,
            next: now + interval(&told.own),
            before: now,
            seen: Seen::default(),
            sums: report.map_or(Sums::default(), Report::sums),
            starved: 0,
            entry: Entry { server: told.number, ..Entry::default() },
        }
    }
}

/// What the environment tells of all servers, classes before what is in them, and of one level in
/// the order of the capabilities.
fn in_order(env: &Env) -> [Option<Told>; MOST] {
    let mut told = [None; MOST];
    for (place, (number, (name, slot, own))) in told.iter_mut().zip(env.adaptive().enumerate()) {
        *place = Some(Told { number, name, slot, own });
    }
    let all = told;
    let above = |own: &Adaptive| Some(all[class_of(own, &all)?]?.own);
    let depth = |told: &Told| core::iter::successors(Some(told.own), above).take(MOST).count();
    told.sort_unstable_by_key(|told| told.map_or((MOST, 0), |told| (depth(&told), told.number)));
    told
}

/// The place of a server's class, if that is one of these.
fn class_of(own: &Adaptive, told: &[Option<Told>]) -> Option<usize> {
    told.iter().position(|it| it.is_some_and(|it| it.own.number == own.class))
}

/// From one decision to the next.
fn interval(told: &Adaptive) -> Duration {
    Duration::from_nanos(told.limit.period.saturating_mul(told.every.into()))
}

/// Sets a budget. Whether it is set.
fn set(slot: Slot, budget: Budget) -> bool {
    reservation::set_budget(slot, Some(budget)).is_ok()
}
