//! Plays tasks that share mutexes on the scheduling tree: who holds what others wait for runs on
//! the most urgent leaf of theirs, as the kernel lends leaves (S2G-05, S4-07).

use crate::planted::{plant, size};
use crate::player::PlayError;
use crate::{QUANTUM, Time};
use abi::reservation::Inheritance;
use analysis::Random;
use analysis::tree::Class;
use policies::tree::{Frame, Node, NodeId, Tree, TreeCpu};

/// The time slice of equals under fixed priorities, in ns.
const SLICE: Time = 10_000_000;
/// Decisions at one instant before it is clear that they are due for ever.
const DECISIONS: u32 = 10_000;

/// A task that shares, on the leaf of its name.
#[derive(Clone, Debug)]
pub struct Sharer {
    /// Of the leaf.
    pub name: String,
    /// The least time between two releases, in ns.
    pub period: Time,
    /// The first release, in ns.
    pub first: Time,
    /// What a job does, one after the other: for how long, in ns, above zero, and with which mutex.
    pub steps: Vec<(Time, Option<usize>)>,
}

/// Plays them on one CPU until an instant: the longest response of each job that has ended, by
/// task. Releases come in time or later, and jobs may take less than they may. Leaves without jobs
/// are rivals: every second one is always ready, others wake whenever a leaf begins to be used, and
/// run for a quantum.
///
/// # Errors
/// The tree refuses the class, or asks for decisions without end.
pub fn play_sharing(
    class: &Class,
    sharers: &[Sharer],
    inheritance: Inheritance,
    random: Random,
    horizon: Time,
) -> Result<Vec<Time>, PlayError> {
    let mut nodes = vec![Node::vacant(); size(class) + 2];
    let (mut frames, mut cpus) = ([Frame::EMPTY; 1], [TreeCpu::NEW; 2]);
    let mut tree = Tree::new(&mut nodes, &mut frames, &mut cpus, SLICE, QUANTUM);
    let planted = plant(&mut tree, 0, class).map_err(PlayError::Refused)?;
    tree.set_inheritance(inheritance);
    let mut rivals = Vec::new();
    for (number, leaf) in planted.open.into_iter().enumerate() {
        let is_busy = number % 2 == 0 && tree.wake(leaf, 0);
        rivals.push(Rival { leaf, until: is_busy.then_some(Time::MAX) });
    }
    let own = |sharer: &Sharer| {
        let of_name = planted.tasks.iter().find(|(_, task)| task.name == sharer.name);
        of_name.map(|(leaf, _)| *leaf)
    };
    let thread = |sharer: &Sharer| Some(Thread::new(own(sharer)?, sharer));
    let threads: Vec<Thread> = sharers.iter().filter_map(thread).collect();
    let mutexes = sharers.iter().flat_map(|it| &it.steps).filter_map(|step| step.1).max();
    let owners = vec![None; mutexes.map_or(0, |most| most + 1)];
    let mut play = Play { tree, sharers, threads, owners, rivals, random, now: 0, running: None };
    while play.now <= horizon {
        play.step()?;
    }
    Ok(play.threads.iter().map(|thread| thread.longest).collect())
}

struct Thread {
    own: NodeId,
    /// The leaf that it is in.
    uses: Option<NodeId>,
    /// When its next job is released, and when the open one was.
    next: Time,
    release: Option<Time>,
    /// The step that its job is at, what is left of that, and whether it has begun.
    step: usize,
    left: Time,
    has_begun: bool,
    /// Its place among those that wait, if it does.
    waits: Option<u64>,
    longest: Time,
}

impl Thread {
    fn new(own: NodeId, sharer: &Sharer) -> Thread {
        Thread {
            own,
            uses: None,
            next: sharer.first,
            release: None,
            step: 0,
            left: 0,
            has_begun: false,
            waits: None,
            longest: 0,
        }
    }
}

/// A leaf without jobs, which sleeps, or is ready until it has had so much.
struct Rival {
    leaf: NodeId,
    until: Option<Time>,
}

struct Play<'a, 't> {
    tree: Tree<'t>,
    sharers: &'a [Sharer],
    threads: Vec<Thread>,
    owners: Vec<Option<usize>>,
    rivals: Vec<Rival>,
    random: Random,
    now: Time,
    running: Option<usize>,
}

impl Play<'_, '_> {
    /// The mutex of the step that a thread's job is at.
    fn mutex(&self, at: usize) -> Option<usize> {
        let thread = &self.threads[at];
        thread.release.and(self.sharers[at].steps[thread.step].1)
    }

    /// Those that wait for a mutex, in the order of their coming.
    fn waiting(&self, mutex: usize) -> Vec<usize> {
        let waits =
            |at: &usize| self.threads[*at].waits.is_some() && self.mutex(*at) == Some(mutex);
        let mut all: Vec<usize> = (0..self.threads.len()).filter(waits).collect();
        all.sort_by_key(|at| self.threads[*at].waits);
        all
    }

    /// The most urgent of those that wait for a mutex; of equals the first one.
    fn first_waiter(&mut self, mutex: usize) -> Option<usize> {
        let (waiting, tree, threads) = (self.waiting(mutex), &mut self.tree, &self.threads);
        let own = |at: usize| threads[at].own;
        let more = |best, other| match tree.is_more_urgent(own(other), own(best)) {
            true => other,
            false => best,
        };
        waiting.into_iter().reduce(more)
    }

    /// The leaf that a thread is to use.
    fn leaf(&mut self, at: usize) -> Option<NodeId> {
        let thread = &self.threads[at];
        let own = thread.own;
        thread.release.filter(|_| thread.waits.is_none())?;
        let owned = self.mutex(at).filter(|mutex| self.owners[*mutex] == Some(at));
        let lent = owned.and_then(|mutex| self.first_waiter(mutex));
        let lent = lent.map(|waiter| self.threads[waiter].own);
        let lent = lent.filter(|lent| self.tree.is_more_urgent(*lent, own));
        Some(lent.unwrap_or(own))
    }

    /// Threads go to the leaves that they are to use: those that wait first, or those that are lent
    /// theirs, as it comes.
    fn settle(&mut self) {
        let mut order: Vec<usize> = (0..self.threads.len()).collect();
        if self.random.below(2) == 0 {
            order.reverse();
        }
        for at in order {
            let (before, leaf) = (self.threads[at].uses, self.leaf(at));
            if before == leaf {
                continue;
            }
            let own = self.threads[at].own;
            let is_away = |leaf: Option<NodeId>| leaf.is_some_and(|leaf| leaf != own);
            if is_away(leaf) {
                self.tree.lend(own, self.now).expect("it is a leaf");
            }
            self.threads[at].uses = None;
            if let Some(before) = before.filter(|leaf| self.is_empty(*leaf)) {
                let ends_job = self.threads[at].release.is_none();
                self.tree.block(before, self.now, ends_job);
            }
            if let Some(leaf) = leaf.filter(|leaf| self.is_empty(*leaf)) {
                self.tree.wake(leaf, self.now);
            }
            self.threads[at].uses = leaf;
            if leaf.is_some() {
                self.wake_rivals();
            }
            if is_away(before) {
                self.tree.take_back(own, self.now).expect("it was away");
            }
        }
    }

    fn wake_rivals(&mut self) {
        for rival in self.rivals.iter_mut().filter(|rival| rival.until.is_none()) {
            rival.until = Some(self.tree.service(rival.leaf) + QUANTUM);
            self.tree.wake(rival.leaf, self.now);
        }
    }

    fn rivals_sleep(&mut self) {
        self.tree.account(0, self.now);
        for rival in &mut self.rivals {
            if rival.until.is_some_and(|until| self.tree.service(rival.leaf) >= until) {
                self.tree.block(rival.leaf, self.now, false);
                rival.until = None;
            }
        }
    }

    fn is_empty(&self, leaf: NodeId) -> bool {
        self.threads.iter().all(|thread| thread.uses != Some(leaf))
    }

    /// What happens at this instant, the decision, and the time until the next one.
    fn step(&mut self) -> Result<(), PlayError> {
        self.rivals_sleep();
        if let Some(at) = self.running.filter(|at| self.threads[*at].left == 0) {
            self.end_step(at);
        }
        for at in 0..self.threads.len() {
            let thread = &mut self.threads[at];
            if thread.release.is_none() && thread.next <= self.now {
                (thread.release, thread.step, thread.has_begun) = (Some(thread.next), 0, false);
                let late = if self.random.below(4) == 0 { self.random.below(4) } else { 0 };
                let period = self.sharers[at].period;
                thread.next += period + late * period / 4;
            }
        }
        self.settle();
        let until = self.decide()?;
        let idle = |thread: &&Thread| thread.release.is_none() || thread.next > self.now;
        let releases = self.threads.iter().filter(idle).map(|thread| thread.next);
        let mut next = releases.fold(until, Time::min).max(self.now + 1);
        if let Some(at) = self.running {
            next = next.min(self.now + self.threads[at].left);
            self.threads[at].left -= next - self.now;
        }
        self.now = next;
        Ok(())
    }

    /// Decides what runs, and until when at most. A thread begins its next step when it runs.
    fn decide(&mut self) -> Result<Time, PlayError> {
        for _ in 0..DECISIONS {
            let pick = self.tree.pick(0, self.now);
            let uses = |thread: &Thread| pick.leaf.is_some() && thread.uses == pick.leaf;
            self.running = self.threads.iter().position(uses);
            let away = self.running.map(|at| self.threads[at].own);
            self.tree.charge_too(0, away.filter(|own| Some(*own) != pick.leaf));
            match self.running.filter(|at| !self.threads[*at].has_begun) {
                Some(at) => self.begin_step(at),
                None if pick.until > self.now => return Ok(pick.until),
                None => {}
            }
        }
        Err(PlayError::Stuck { cpu: 0, now: self.now })
    }

    fn begin_step(&mut self, at: usize) {
        let length = self.sharers[at].steps[self.threads[at].step].0;
        let short = self.random.below(4) == 0;
        let left = if short { 1 + self.random.below(length) } else { length };
        (self.threads[at].left, self.threads[at].has_begun) = (left, true);
        let Some(mutex) = self.mutex(at) else { return };
        match self.owners[mutex] {
            None => self.owners[mutex] = Some(at),
            Some(_) => {
                let last = self.threads.iter().filter_map(|thread| thread.waits).max();
                self.threads[at].waits = Some(last.map_or(0, |last| last + 1));
            }
        }
        self.settle();
    }

    fn end_step(&mut self, at: usize) {
        if let Some(mutex) = self.mutex(at) {
            let heir = self.first_waiter(mutex);
            self.owners[mutex] = heir;
            heir.into_iter().for_each(|heir| self.threads[heir].waits = None);
        }
        let thread = &mut self.threads[at];
        (thread.step, thread.has_begun) = (thread.step + 1, false);
        if thread.step == self.sharers[at].steps.len() {
            let response = thread.release.map_or(0, |release| self.now - release);
            (thread.release, thread.longest) = (None, thread.longest.max(response));
        }
        self.settle();
    }
}
