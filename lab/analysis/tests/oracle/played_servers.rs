//! Servers under one policy, played tick by tick by the kernel's rules.

use crate::schedule::Job;
use analysis::tree::{Class, Entity, Server, ServerKind};
use analysis::{Random, Task};

/// Arrivals that follow from a seed.
pub struct Dice(pub Random);

impl Dice {
    /// Below `most`.
    pub fn roll(&mut self, most: u64) -> u64 {
        self.0.below(most)
    }

    /// Jobs of a task: some at the least distance, some later; most take all their time.
    pub fn jobs(&mut self, index: usize, task: &Task, horizon: i64) -> Vec<Job> {
        let (mut jobs, mut arrival) = (Vec::new(), self.roll(2 * task.period) as i64);
        while arrival < horizon {
            let left = match self.roll(4) {
                0 => 1 + self.roll(task.execution),
                _ => task.execution,
            };
            let ready = arrival + self.roll(task.jitter + 1) as i64;
            let due = arrival + task.deadline as i64;
            jobs.push(Job { task: index, arrival, ready, due, left });
            let more = if self.roll(3) == 0 { self.roll(task.period) } else { 0 };
            arrival += (task.period + more) as i64;
        }
        jobs
    }
}

/// What a server has left.
struct State<'a> {
    server: &'a Server,
    left: i64,
    until: i64,
    active: i64,
    used: i64,
    refills: Vec<(i64, i64)>,
    was_ready: bool,
    throttled: bool,
}

impl State<'_> {
    /// What happens at an instant before anything runs.
    fn begin(&mut self, now: i64, ready: bool) {
        let (period, budget) = (self.server.period as i64, self.server.budget as i64);
        let woken = ready && !self.was_ready;
        match self.server.kind {
            ServerKind::Periodic => {
                if now >= self.until {
                    (self.left, self.until) = (budget, self.until + period);
                }
            }
            ServerKind::HardCbs | ServerKind::SoftCbs => {
                if self.throttled && now >= self.until {
                    (self.left, self.until, self.throttled) = (budget, self.until + period, false);
                } else if woken
                    && !self.throttled
                    && (now >= self.until || self.left * period >= (self.until - now) * budget)
                {
                    (self.left, self.until) = (budget, now + period);
                }
            }
            ServerKind::Sporadic => {
                if !ready && self.was_ready {
                    self.plan_refill();
                }
                let out = self.left <= 0 && self.refills.first().is_some_and(|due| due.0 <= now);
                if woken || out {
                    self.refills.retain(|(at, amount)| {
                        let due = *at <= now;
                        self.left += if due { *amount } else { 0 };
                        !due
                    });
                    self.active = now;
                    self.until = now + period;
                }
            }
        }
        self.was_ready = ready;
    }

    fn plan_refill(&mut self) {
        let used = std::mem::take(&mut self.used);
        if used > 0 {
            self.refills.push((self.active + self.server.period as i64, used));
        }
    }

    /// A tick in which it runs, or (`idle`) has nothing to do.
    fn end(&mut self, ran: bool, idle: bool) {
        if idle && self.server.kind == ServerKind::Periodic {
            self.left = (self.left - 1).max(0);
        }
        if !ran {
            return;
        }
        (self.left, self.used) = (self.left - 1, self.used + 1);
        if self.left > 0 {
            return;
        }
        match self.server.kind {
            ServerKind::SoftCbs => {
                self.left = self.server.budget as i64;
                self.until += self.server.period as i64;
            }
            ServerKind::HardCbs => self.throttled = true,
            ServerKind::Sporadic => self.plan_refill(),
            ServerKind::Periodic => {}
        }
    }
}

/// The tasks of a class, none of whose children are classes.
fn tasks(class: &Class) -> Vec<&Task> {
    let (Class::FixedPriority(entities) | Class::Edf(entities)) = class else { return vec![] };
    let mut tasks = vec![];
    for entity in entities {
        if let Entity::Task(task) = entity {
            tasks.push(task);
        }
    }
    tasks
}

/// The job that a class chooses: the most urgent, ties decided by arrival.
fn choose(class: &Class, jobs: &[Job], now: i64) -> Option<usize> {
    let tasks = tasks(class);
    let by_deadline = matches!(class, Class::Edf(_));
    let key = |job: &Job| match by_deadline {
        true => (job.due, job.arrival),
        false => (-i64::from(tasks[job.task].priority), job.arrival),
    };
    let ready = (0..jobs.len()).filter(|index| jobs[*index].ready <= now);
    // A task's jobs run in their order.
    let first = |index: &usize| {
        let job = jobs[*index];
        !jobs.iter().any(|other| other.task == job.task && other.arrival < job.arrival)
    };
    ready.filter(first).min_by_key(|index| key(&jobs[*index]))
}

/// Plays a root whose entities are tasks, and servers of tasks. The longest responses of all
/// tasks, in the order of a report's leaves.
pub fn longest(root: &Class, horizon: i64, dice: &mut Dice) -> Vec<i64> {
    let (Class::FixedPriority(entities) | Class::Edf(entities)) = root else { return vec![] };
    let by_deadline = matches!(root, Class::Edf(_));
    let alone = |task: &Task| Class::Edf(vec![Entity::Task(task.clone())]);
    let classes: Vec<Class> = entities
        .iter()
        .map(|entity| match entity {
            Entity::Task(task) => alone(task),
            Entity::Server(server) => server.class.clone(),
            Entity::Class(_) | Entity::Open(_) => unreachable!("neither is played"),
        })
        .collect();
    let mut states: Vec<Option<State>> =
        entities.iter().map(|entity| state(entity, dice)).collect();
    let arrivals = |class: &Class| {
        let jobs =
            (0..).zip(tasks(class)).flat_map(|(index, task)| dice.jobs(index, task, horizon));
        jobs.collect::<Vec<Job>>()
    };
    let mut jobs: Vec<Vec<Job>> = classes.iter().map(arrivals).collect();
    let mut worst: Vec<Vec<i64>> =
        classes.iter().map(|class| vec![0; tasks(class).len()]).collect();
    for now in 0..horizon {
        let chosen: Vec<Option<usize>> =
            classes.iter().zip(&jobs).map(|(class, jobs)| choose(class, jobs, now)).collect();
        for (state, chosen) in states.iter_mut().zip(&chosen) {
            if let Some(state) = state {
                state.begin(now, chosen.is_some());
            }
        }
        let can = |place: &usize| {
            let budget =
                states[*place].as_ref().is_none_or(|state| state.left > 0 && !state.throttled);
            chosen[*place].is_some() && budget
        };
        let key = |place: &usize| match (&entities[*place], by_deadline) {
            (Entity::Task(_), true) => jobs[*place][chosen[*place].unwrap_or(0)].due,
            (Entity::Server(_), true) => states[*place].as_ref().map_or(0, |state| state.until),
            (Entity::Task(task), false) => -i64::from(task.priority),
            (Entity::Server(server), false) => -i64::from(server.priority),
            _ => unreachable!("neither is played"),
        };
        let runs = (0..entities.len()).filter(can).min_by_key(key);
        for (place, state) in states.iter_mut().enumerate() {
            if let Some(state) = state {
                state.end(runs == Some(place), chosen[place].is_none());
            }
        }
        if let Some((place, job)) = runs.and_then(|place| Some((place, chosen[place]?))) {
            jobs[place][job].left -= 1;
            if jobs[place][job].left == 0 {
                let done = jobs[place].swap_remove(job);
                let response = &mut worst[place][done.task];
                *response = (*response).max(now + 1 - done.arrival);
            }
        }
    }
    // A report has the tasks of the root first.
    let (own, inside): (Vec<_>, Vec<_>) =
        entities.iter().zip(worst).partition(|(entity, _)| matches!(entity, Entity::Task(_)));
    own.into_iter().chain(inside).flat_map(|(_, worst)| worst).collect()
}

fn state<'a>(entity: &'a Entity, dice: &mut Dice) -> Option<State<'a>> {
    let Entity::Server(server) = entity else { return None };
    // A periodic server has idled since its period began.
    let (period, budget) = (server.period as i64, server.budget as i64);
    let (until, left) = match server.kind {
        ServerKind::Periodic => {
            let until = 1 + dice.roll(server.period) as i64;
            (until, (budget - (period - until)).max(0))
        }
        _ => (0, budget),
    };
    Some(State {
        server,
        left,
        until,
        active: 0,
        used: 0,
        refills: Vec::new(),
        was_ready: false,
        throttled: false,
    })
}
