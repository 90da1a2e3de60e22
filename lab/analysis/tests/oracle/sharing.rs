//! Tasks that share mutexes, played tick by tick under the protocols themselves.

use analysis::blocking::{Protocol, Section, Sharer, Sharing, sum};
use analysis::{Steps, Supply, Task, Workload, fixed_priority};
use proptest::prelude::*;

/// A task of small numbers: what its job does, and when its jobs are released.
#[derive(Clone, Debug)]
struct Played {
    priority: u32,
    execution: u64,
    period: u64,
    first: u64,
    /// From which tick of the job on which mutexes are held, and for how long; in this order.
    sections: Vec<(u64, Section)>,
}

/// A job that is not complete.
#[derive(Clone, Debug, Default)]
struct Job {
    released: u64,
    done: u64,
    held: Vec<usize>,
    waits: Option<usize>,
    /// Ticks in which a task of lower priority ran.
    blocked: u64,
}

struct Schedule<'a> {
    tasks: &'a [Played],
    protocols: &'a [Protocol],
    jobs: Vec<Vec<Job>>,
    /// For each task the longest response and the longest blocking.
    worst: Vec<(u64, u64)>,
}

impl Schedule<'_> {
    fn job(&self, task: usize) -> Option<&Job> {
        self.jobs[task].first()
    }

    fn holder(&self, mutex: usize) -> Option<usize> {
        let holds = |task: &usize| self.job(*task).is_some_and(|job| job.held.contains(&mutex));
        (0..self.tasks.len()).find(holds)
    }

    /// The priority of a task with all that it inherits.
    fn effective(&self, task: usize) -> u32 {
        let Some(job) = self.job(task) else { return 0 };
        let inherited = job.held.iter().flat_map(|mutex| {
            let waits =
                |other: &usize| self.job(*other).is_some_and(|job| job.waits == Some(*mutex));
            let waiting = (0..self.tasks.len()).filter(waits);
            let from = waiting.map(|other| self.effective(other)).max();
            match self.protocols[*mutex] {
                Protocol::Ceiling(ceiling) => Some(ceiling),
                Protocol::Inheritance => from,
            }
        });
        inherited.fold(self.tasks[task].priority, u32::max)
    }

    /// The mutex that a task has to lock before its next tick.
    fn wanted(&self, task: usize) -> Option<usize> {
        let job = self.job(task)?;
        let here = self.tasks[task].sections.iter().find(|(begin, _)| *begin == job.done);
        here?.1.mutexes.iter().copied().find(|mutex| !job.held.contains(mutex))
    }

    /// Locks what a task needs for its next tick; whether it has all.
    fn lock(&mut self, task: usize) -> bool {
        while let Some(mutex) = self.wanted(task) {
            let is_free = self.holder(mutex).is_none();
            let job = &mut self.jobs[task][0];
            match is_free {
                true => job.held.push(mutex),
                false => {
                    job.waits = Some(mutex);
                    return false;
                }
            }
        }
        true
    }

    fn unlock(&mut self, task: usize) {
        for mutex in std::mem::take(&mut self.jobs[task][0].held) {
            let waits =
                |other: &usize| self.job(*other).is_some_and(|job| job.waits == Some(mutex));
            let all = (0..self.tasks.len()).filter(waits);
            if let Some(next) = all.max_by_key(|other| self.effective(*other)) {
                let job = &mut self.jobs[next][0];
                job.waits = None;
                job.held.push(mutex);
            }
        }
    }

    /// The task that runs in a tick. Among equals one is the first whatever it holds, as if time
    /// slices ended: it can meet even a mutex with a ceiling that is not free.
    fn next(&mut self) -> Option<usize> {
        loop {
            let is_ready = |task: &usize| self.job(*task).is_some_and(|job| job.waits.is_none());
            let ready = (0..self.tasks.len()).filter(is_ready);
            let task = ready.max_by_key(|task| (self.effective(*task), usize::MAX - task))?;
            if self.lock(task) {
                return Some(task);
            }
        }
    }

    fn is_first(&self, task: usize) -> bool {
        let is_ready = |task: &usize| self.job(*task).is_some_and(|job| job.waits.is_none());
        let ready = (0..self.tasks.len()).filter(is_ready);
        ready.map(|other| self.effective(other)).max() <= Some(self.effective(task))
    }

    fn run(&mut self, task: usize, now: u64, eager: bool) {
        for other in 0..self.tasks.len() {
            if self.tasks[other].priority > self.tasks[task].priority
                && let Some(job) = self.jobs[other].first_mut()
            {
                job.blocked += 1;
            }
        }
        let done = {
            let job = &mut self.jobs[task][0];
            job.done += 1;
            job.done
        };
        let sections = &self.tasks[task].sections;
        if sections.iter().any(|(begin, section)| begin + section.length == done) {
            self.unlock(task);
        }
        if done == self.tasks[task].execution {
            let job = self.jobs[task].remove(0);
            let (response, blocked) = &mut self.worst[task];
            *response = (*response).max(now + 1 - job.released);
            *blocked = (*blocked).max(job.blocked);
        } else if eager && self.is_first(task) {
            // It locks at this instant, before what is released at it.
            self.lock(task);
        }
    }
}

/// The longest response and blocking of each task until an instant.
fn play(tasks: &[Played], protocols: &[Protocol], until: u64, eager: bool) -> Vec<(u64, u64)> {
    let jobs = vec![Vec::new(); tasks.len()];
    let worst = vec![(0, 0); tasks.len()];
    let mut schedule = Schedule { tasks, protocols, jobs, worst };
    for now in 0..until {
        for (task, jobs) in tasks.iter().zip(&mut schedule.jobs) {
            if now >= task.first && (now - task.first).is_multiple_of(task.period) {
                jobs.push(Job { released: now, ..Job::default() });
            }
        }
        if let Some(task) = schedule.next() {
            schedule.run(task, now, eager);
        }
    }
    schedule.worst
}

fn sharers(tasks: &[Played]) -> Vec<Sharer> {
    let sharer = |task: &Played| Sharer {
        priority: task.priority,
        period: task.period,
        sections: task.sections.iter().map(|(_, section)| section.clone()).collect(),
    };
    tasks.iter().map(sharer).collect()
}

/// The bounds on each task's response, if there is one, and on its blocking. The nearest window
/// is a deadline that is met.
fn bounds(
    tasks: &[Played],
    protocols: &[Protocol],
    window: Option<u64>,
) -> Vec<(Option<u64>, u64)> {
    let sharers = sharers(tasks);
    let sharing = Sharing::of(&sharers, protocols);
    let bound = |index: usize, blocking: u64| {
        let task =
            |task: &Played| Task::new("task", task.execution, task.period).priority(task.priority);
        let mut all: Vec<Task> = tasks.iter().map(task).collect();
        all[index].blocking = blocking;
        let mut steps = Steps::new(1_000_000);
        let workload = Workload::of(&all);
        let found = fixed_priority::response(&workload, index, &Supply::whole(), &mut steps);
        (found.unwrap().map(|bound| bound.response), blocking)
    };
    let of = |index: usize| {
        let whole = bound(index, sum(&sharing.blockers(index)));
        let Some(window) = window.map(|window| window.min(tasks[index].period)) else {
            return whole;
        };
        let within = bound(index, sum(&sharing.blockers_within(index, window)));
        if within.0.is_some_and(|response| response <= window) { within } else { whole }
    };
    (0..tasks.len()).map(of).collect()
}

fn section(begin: u64, mutexes: &[usize], length: u64) -> (u64, Section) {
    (begin, Section { mutexes: mutexes.to_vec(), length })
}

prop_compose! {
    /// A task whose sections are laid out one behind the other, each with a gap before it. Several
    /// mutexes are of one protocol and in the order of their numbers.
    fn task(inherit: usize, ceilings: usize)(
        priority in 1..5u32, period in 12..40u64, first in 0..20u64, rest in 1..3u64,
        parts in prop::collection::vec(
            (0..3u64, 1..4u64, any::<bool>(), 0..inherit, 0..inherit, 0..ceilings), 0..3,
        ),
    ) -> Played {
        let mut at = 0;
        let mut sections = Vec::new();
        for (gap, length, inherits, one, other, ceiling) in parts {
            let mut mutexes = match inherits {
                true => vec![one.min(other), one.max(other)],
                false => vec![inherit + ceiling],
            };
            mutexes.dedup();
            sections.push(section(at + gap, &mutexes, length));
            at += gap + length;
        }
        Played { priority, execution: at + rest, period, first, sections }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn no_task_is_delayed_for_longer(
        tasks in prop::collection::vec(task(2, 2), 2..5), eager in any::<bool>(),
        window in prop::option::of(4..40u64), above in 0..3u32,
    ) {
        // A ceiling is that of the users, or above it.
        let user = |mutex: usize| {
            let uses = |task: &&Played| {
                task.sections.iter().any(|(_, section)| section.mutexes.contains(&mutex))
            };
            tasks.iter().filter(uses).map(|task| task.priority).max().unwrap_or(1)
        };
        let ceiling = |mutex| Protocol::Ceiling(user(mutex) + above);
        let protocols = [Protocol::Inheritance, Protocol::Inheritance, ceiling(2), ceiling(3)];
        let played = play(&tasks, &protocols, 2_000, eager);
        let bounds = bounds(&tasks, &protocols, window);
        for ((bound, blocking), (response, blocked)) in bounds.iter().zip(played) {
            if let Some(bound) = bound {
                prop_assert!(blocked <= *blocking, "{blocked} > {blocking}");
                prop_assert!(response <= *bound, "{response} > {bound}");
            }
        }
    }
}

fn once(priority: u32, first: u64, execution: u64, sections: &[(u64, Section)]) -> Played {
    Played { priority, execution, period: 100, first, sections: sections.to_vec() }
}

/// Two less urgent tasks each hold a mutex that the first one needs.
fn two_holders() -> Vec<Played> {
    vec![
        once(3, 2, 4, &[section(1, &[0], 1), section(2, &[1], 1)]),
        once(2, 1, 8, &[section(1, &[1], 7)]),
        once(1, 0, 6, &[section(1, &[0], 5)]),
    ]
}

#[test]
fn under_inheritance_each_holder_delays_once() {
    let tasks = two_holders();
    let inheritance = [Protocol::Inheritance; 2];
    assert_eq!(bounds(&tasks, &inheritance, Some(100))[0], (Some(4 + 7 + 5), 7 + 5));
    assert_eq!(play(&tasks, &inheritance, 100, true)[0], (4 + 7 + 5, 7 + 5), "it is attained");
}

#[test]
fn under_a_ceiling_one_holder_delays_once() {
    let mut tasks = two_holders();
    let ceilings = [Protocol::Ceiling(3); 2];
    assert_eq!(bounds(&tasks, &ceilings, None)[0], (Some(4 + 7), 7));
    // The first one comes when the section of the second has just begun.
    (tasks[1].first, tasks[0].first) = (0, 1);
    assert_eq!(play(&tasks, &ceilings, 100, true)[0], (4 + 7, 7), "it is attained");
}

#[test]
fn a_task_that_shares_nothing_is_delayed_by_what_goes_before_it() {
    let tasks = [
        once(3, 2, 2, &[section(1, &[0], 1)]),
        once(2, 2, 3, &[]),
        once(1, 0, 9, &[section(1, &[0], 8)]),
    ];
    assert_eq!(bounds(&tasks, &[Protocol::Inheritance], None)[1], (Some(2 + 3 + 8), 8));
    assert_eq!(play(&tasks, &[Protocol::Inheritance], 100, true)[1].1, 7, "a tick had run");
}

/// A mutex is handed over to a less urgent task that has waited for it since before: of a second
/// task that wants it, two sections are in the way, though it is one mutex.
#[test]
fn a_hand_over_lets_a_second_section_through() {
    let inheritance = [Protocol::Inheritance];
    let tasks = [
        once(4, 4, 3, &[section(1, &[0], 1)]),
        once(3, 4, 3, &[section(1, &[0], 1)]),
        once(2, 2, 6, &[section(1, &[0], 4)]),
        once(1, 0, 8, &[section(1, &[0], 6)]),
    ];
    let [_, (_, blocking), ..] = bounds(&tasks, &inheritance, Some(100))[..] else { panic!() };
    let [_, (_, blocked), ..] = play(&tasks, &inheritance, 100, true)[..] else { panic!() };
    assert_eq!((blocked, blocking), (4 + 4, 6 + 4));
    assert!(blocked > 6, "more than the longest section with the mutex");
}
