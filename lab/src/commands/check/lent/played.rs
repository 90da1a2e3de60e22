//! Leaves that share mutexes, played millisecond by millisecond: who holds what a job waits for
//! runs on that one's leaf, if that is more urgent. No response is above its bound.

use crate::commands::check::decided::decide;
use analysis::{Overheads, Random};
use std::collections::BTreeMap;

const SETS: u64 = 400;
const HORIZON: u64 = 1_500;
const MUTEXES: usize = 2;

/// A task: period, deadline and first release in ms, and what a job does: for how long, and with
/// which mutex.
struct Drawn {
    period: u64,
    deadline: u64,
    first: u64,
    steps: Vec<(u64, Option<usize>)>,
}

impl Drawn {
    fn of(random: &mut Random) -> Drawn {
        let step = |random: &mut Random| {
            let mutex = random.below(MUTEXES as u64 + 1) as usize;
            (1 + random.below(3), Some(mutex).filter(|mutex| *mutex < MUTEXES))
        };
        let steps: Vec<_> = (0..1 + random.below(3)).map(|_| step(random)).collect();
        let period = 20 + random.below(60);
        let deadline = period - random.below(period / 3);
        Drawn { period, deadline, first: random.below(12), steps }
    }

    fn execution(&self) -> u64 {
        self.steps.iter().map(|(length, _)| length).sum()
    }
}

fn manifest_of(tasks: &[Drawn], policy: &str, shares: bool) -> String {
    let mut text = "[system]\nname = \"a\"\n[[mutex]]\nname = \"m0\"\n[[mutex]]\nname = \"m1\"\n"
        .to_string()
        + &format!("[[reservation]]\nname = \"all\"\npolicy = \"{policy}\"\npriority = 300\n");
    let mut own = format!(
        "[[domain]]\nname = \"d\"\nprogram = \"busy\"\npriority = 9\nthreads = {}\n",
        tasks.len()
    );
    for (at, task) in tasks.iter().enumerate() {
        let [period, deadline] = [task.period, task.deadline].map(|time| format!("\"{time}ms\""));
        let times = format!("period = {period}\ndeadline = {deadline}\n");
        let priority = match policy {
            "edf" => String::new(),
            _ => format!("priority = {}\n", 100 - at),
        };
        text += &format!("[[reservation]]\nname = \"r{at}\"\nin = \"all\"\n{times}{priority}");
        let section = |(length, mutex): &(u64, Option<usize>)| {
            let mutex = mutex.filter(|_| shares)?;
            Some(format!("{{ mutex = \"m{mutex}\", length = \"{length}ms\" }}"))
        };
        let sections: Vec<_> = task.steps.iter().filter_map(section).collect();
        own += &format!(
            "[[domain.task]]\nname = \"t{at}\"\npriority = 9\nreservation = \"r{at}\"\n\
             execution = \"{}ms\"\n{times}sections = [{}]\n",
            task.execution(),
            sections.join(", ")
        );
    }
    text + &own
}

/// The bounds of leaves in ms, by their numbers.
fn bounds(text: &str) -> BTreeMap<usize, u64> {
    let system = manifest::parse("a.toml", text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    let bounds = decide(&system, Overheads::default()).expect("there are leaves").bounds();
    bounds.into_iter().map(|(name, it)| (name[1..].parse().unwrap(), it / 1_000_000)).collect()
}

/// A job that has not ended.
struct Job {
    task: usize,
    release: u64,
    /// Less is more urgent.
    key: (u64, usize),
    step: usize,
    done: u64,
}

/// What is played: tasks, jobs that have not ended, and the owners of mutexes.
struct Play<'a> {
    tasks: &'a [Drawn],
    jobs: Vec<Job>,
    owners: [Option<usize>; MUTEXES],
}

impl Play<'_> {
    /// The mutex of the step that a job is at.
    fn wants(&self, job: &Job) -> Option<usize> {
        self.tasks[job.task].steps[job.step].1
    }

    /// The mutex that it waits for.
    fn waits(&self, job: &Job) -> Option<usize> {
        let is_owned = |it: &usize| self.owners[*it].is_some_and(|owner| owner != job.task);
        self.wants(job).filter(is_owned)
    }

    /// Its own urgency, or that of a more urgent one that waits for it.
    fn urgency(&self, job: &Job) -> (u64, usize) {
        let held = self.wants(job).filter(|it| self.owners[*it] == Some(job.task));
        let lends = |other: &&Job| held.is_some() && self.waits(other) == held;
        let lent = self.jobs.iter().filter(lends).map(|other| other.key);
        lent.chain([job.key]).min().unwrap_or(job.key)
    }

    /// One millisecond: a job that ends then.
    fn tick(&mut self) -> Option<Job> {
        let ready = (0..self.jobs.len()).filter(|at| self.waits(&self.jobs[*at]).is_none());
        let first = ready.min_by_key(|at| self.urgency(&self.jobs[*at]))?;
        let (task, mutex) = (self.jobs[first].task, self.wants(&self.jobs[first]));
        mutex.into_iter().for_each(|mutex| self.owners[mutex] = Some(task));
        let job = &mut self.jobs[first];
        job.done += 1;
        if job.done < self.tasks[task].steps[job.step].0 {
            return None;
        }
        (job.step, job.done) = (job.step + 1, 0);
        let is_over = job.step == self.tasks[task].steps.len();
        let ended = is_over.then(|| self.jobs.remove(first));
        if let Some(mutex) = mutex {
            let waiting = self.jobs.iter().filter(|it| self.waits(it) == Some(mutex));
            self.owners[mutex] = waiting.min_by_key(|it| it.key).map(|it| it.task);
        }
        ended
    }
}

/// The longest response of each task.
fn play(tasks: &[Drawn], by_deadlines: bool) -> Vec<u64> {
    let mut longest = vec![0; tasks.len()];
    let mut play = Play { tasks, jobs: Vec::new(), owners: [None; MUTEXES] };
    for now in 0..HORIZON {
        for (task, one) in tasks.iter().enumerate() {
            if now >= one.first && (now - one.first).is_multiple_of(one.period) {
                let key = if by_deadlines { (now + one.deadline, task) } else { (0, task) };
                play.jobs.push(Job { task, release: now, key, step: 0, done: 0 });
            }
        }
        if let Some(job) = play.tick() {
            longest[job.task] = longest[job.task].max(now + 1 - job.release);
        }
    }
    longest
}

#[test]
fn no_response_is_above_its_bound() {
    let mut random = Random::of(1);
    let (mut compared, mut beyond) = (0, 0);
    for _ in 0..SETS {
        let tasks: Vec<Drawn> = (0..2 + random.below(3)).map(|_| Drawn::of(&mut random)).collect();
        for policy in ["edf", "fixed-priority"] {
            let text = manifest_of(&tasks, policy, true);
            let (bounds, alone) = (bounds(&text), bounds(&manifest_of(&tasks, policy, false)));
            for (task, longest) in play(&tasks, policy == "edf").into_iter().enumerate() {
                beyond += u64::from(alone.get(&task).is_some_and(|bound| longest > *bound));
                let Some(bound) = bounds.get(&task) else { continue };
                compared += 1;
                assert!(longest <= *bound, "r{task} took {longest} ms of {bound}\n{text}");
            }
        }
    }
    // Without what others execute for them bounds do not hold.
    assert!(compared > SETS && beyond > 10, "{compared} compared, {beyond} beyond");
}
