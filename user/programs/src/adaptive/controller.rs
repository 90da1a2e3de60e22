//! The budget controller: at the releases of servers it looks at what they have used and lacked,
//! decides by [`policies::adaptive`], and sets budgets.

use core::cmp::Reverse;

use super::log::{Entry, Log};
use super::report::{Report, Sums};
use policies::adaptive::{Demand, Kind, SIBLINGS, Sibling, Use, decide};
use rt::abi::adaptive::Adaptive;
use rt::abi::reservation::Budget;
use rt::prelude::*;
use rt::{Kind as Object, Slot, cap, reservation, system, time};

/// A server that is controlled.
struct Server {
    slot: Slot,
    told: Adaptive,
    report: Option<Report>,
    demand: Demand,
    budget: u64,
    /// The next decision about it.
    next: Instant,
    /// The decision before, and what had been seen by then.
    before: Instant,
    service: u64,
    sums: Sums,
}

/// All servers, in the order of the capabilities.
struct Servers {
    all: [Option<Server>; SIBLINGS],
    log: Log,
}

/// Controls the reservations that its manifest calls adaptive and for which it has `control`; each
/// may have a memory of its capability's name, where its tasks report. Memory `decisions`: a log.
/// Arguments `from` (microseconds since boot, when it begins), `milliseconds` (how long it does,
/// 0: for ever) and `control` (`false`: it changes nothing). With capability `system` it ends the
/// run, with a line `had` for each reservation that it holds.
pub fn controller(env: &Env) {
    let begin = Instant::BOOT + env.number("from", 50_000).us();
    let end = match env.number("milliseconds", 0) {
        0 => Instant::from_nanos(u64::MAX),
        milliseconds => begin + milliseconds.ms(),
    };
    time::sleep_until(begin);
    let mut servers = Servers { all: [const { None }; SIBLINGS], log: Log::of(env) };
    if env.arg("control") != Some("false") {
        servers.begin(env, begin);
    }
    while let Some(next) = servers.next().filter(|next| *next < end) {
        time::sleep_until(next);
        servers.adapt(next);
    }
    time::sleep_until(end);
    let Some(machine) = env.find_cap("system") else { return };
    tell(env);
    system::shutdown(machine, 0).expect("the run ends");
}

/// What each reservation has had, microseconds of CPU time and jobs.
fn tell(env: &Env) {
    let console = env.console();
    for (name, slot) in env.caps() {
        let is_reservation = cap::inspect(slot).is_ok_and(|held| held.kind == Object::Reservation);
        if let (true, Ok(usage)) = (is_reservation, reservation::usage(slot)) {
            let (had, jobs) = (usage.service / 1_000, usage.jobs);
            println!(console, "had {name} {had} {} {}", jobs.ended, jobs.missed);
        }
    }
}

impl Servers {
    /// Takes control: from now on budgets begin at the controller's instants.
    fn begin(&mut self, env: &Env, now: Instant) {
        for (place, (name, slot, told)) in self.all.iter_mut().zip(env.adaptive()) {
            let report = env.find_mem(name).map(Report);
            *place = Some(Server {
                slot,
                told,
                report,
                demand: Demand::new(told.history as usize),
                budget: told.limit.budget,
                next: now + interval(&told),
                before: now,
                service: reservation::usage(slot).map_or(0, |usage| usage.service),
                sums: report.map_or(Sums::default(), Report::sums),
            });
            set(slot, told.limit);
        }
    }

    /// The next decision, if there will be one.
    fn next(&self) -> Option<Instant> {
        self.all.iter().flatten().map(|server| server.next).min()
    }

    /// Decides about all servers whose instant has come, the most important first: those behind it
    /// then ask for what it leaves.
    fn adapt(&mut self, now: Instant) {
        let mut due = [0; SIBLINGS];
        let mut count = 0;
        for (at, server) in self.all.iter().enumerate() {
            if server.as_ref().is_some_and(|server| server.next <= now) {
                (due[count], count) = (at, count + 1);
            }
        }
        let importance = |at: usize| self.all[at].as_ref().map_or(0, |it| it.told.importance);
        due[..count].sort_unstable_by_key(|at| (Reverse(importance(*at)), *at));
        for at in &due[..count] {
            self.adapt_one(*at, now);
        }
    }

    fn adapt_one(&mut self, at: usize, now: Instant) {
        let Some(server) = &mut self.all[at] else { return };
        let (seen, late) = server.look(now);
        server.demand.push(seen, server.budget);
        let (Some(wanted), Some(mean)) = (server.demand.wanted(), server.demand.mean()) else {
            return;
        };
        let (class, supply) = (server.told.class, server.told.supply);
        let mut siblings = [(0, Sibling { period: 1, budget: 0, kind: Kind::Hard }); SIBLINGS];
        let (mut count, mut adapted) = (0, 0);
        let of_class = self.all.iter().enumerate().filter_map(|(at, it)| Some((at, it.as_ref()?)));
        for (other, it) in of_class.filter(|(_, it)| it.told.class == class) {
            if other == at {
                adapted = count;
            }
            (siblings[count], count) = ((other, it.sibling()), count + 1);
        }
        let all = siblings.map(|(_, sibling)| sibling);
        let Ok(decision) = decide(&all[..count], supply, adapted, wanted) else { return };
        let jobs = u64::from(seen.jobs.max(1));
        for (changed, budget) in decision.changes() {
            let changed = siblings[changed].0;
            let Some(server) = &mut self.all[changed] else { continue };
            if !set(server.slot, Budget { budget, ..server.told.limit }) {
                continue;
            }
            server.budget = budget;
            self.log.write(&Entry {
                at: now.as_nanos(),
                server: changed,
                adapted: at,
                budget,
                consumed: seen.consumed / jobs,
                mean,
                extra: seen.extra / jobs,
                late,
            });
        }
    }
}

impl Server {
    /// What it has used and lacked since the decision before, and its late jobs.
    fn look(&mut self, now: Instant) -> (Use, u64) {
        let service = reservation::usage(self.slot).map_or(self.service, |usage| usage.service);
        let sums = self.report.map_or(self.sums, Report::sums);
        let lacked = sums.since(self.sums);
        let used = service.saturating_sub(self.service);
        let period = self.told.limit.period;
        let passed = now.as_nanos().saturating_sub(self.before.as_nanos());
        (self.service, self.sums, self.before) = (service, sums, now);
        while self.next <= now {
            self.next = self.next + interval(&self.told);
        }
        let seen = Use {
            jobs: u32::try_from(passed / period).unwrap_or(u32::MAX),
            consumed: used.saturating_sub(lacked.past),
            extra: lacked.past.saturating_add(lacked.tardy),
        };
        (seen, lacked.late)
    }

    fn sibling(&self) -> Sibling {
        let Adaptive { importance, least, limit, .. } = self.told;
        Sibling {
            period: limit.period,
            budget: self.budget,
            kind: Kind::Soft { importance, least },
        }
    }
}

/// From one decision to the next.
fn interval(told: &Adaptive) -> Duration {
    Duration::from_nanos(told.limit.period.saturating_mul(told.every.into()))
}

/// Sets a budget. Whether it is set: if another domain has promised what the class had left, all
/// stays as it was until the next decision.
fn set(slot: Slot, budget: Budget) -> bool {
    reservation::set_budget(slot, Some(budget)).is_ok()
}
