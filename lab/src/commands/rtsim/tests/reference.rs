//! A plain simulator of fixed priorities on one CPU, in steps of a unit, in which `fixed` and waits
//! that block take time, and nothing else. Without inheritance mutexes and conditions serve in
//! order of arrival, with it by effective priority (S2G-03).

use rtsim::{Activation, Inheritance, Instruction, Operand, Task, TaskSet, Time};
use std::collections::{BTreeMap, VecDeque};

/// What the simulation of a task set gives.
pub struct Played {
    /// The response times of each task, in units.
    pub responses: Vec<Vec<u64>>,
    /// For how many units each task had each effective priority.
    pub had: Vec<BTreeMap<u64, u64>>,
}

/// A task while it is simulated.
struct Live<'s> {
    task: &'s Task,
    /// Releases that no job has begun with.
    released: VecDeque<u64>,
    job: Option<Job>,
    waits: Option<Waits>,
    responses: Vec<u64>,
}

/// A job that is under way.
struct Job {
    release: u64,
    /// The next instruction, and what is left of one that takes time.
    at: usize,
    left: Option<u64>,
    /// Whether the task has locked the mutex of its `signal` for that alone.
    borrows: bool,
}

/// What a task waits for.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    Mutex(usize),
    Condition(usize),
}

/// An object, as what it is used.
#[derive(Clone, Default)]
struct Object {
    owner: Option<usize>,
    /// Tasks that wait for it, in the order of arrival.
    waiting: Vec<usize>,
    count: u64,
    messages: VecDeque<[usize; 3]>,
    refers_to: usize,
}

struct World<'s> {
    set: &'s TaskSet,
    inheritance: Inheritance,
    tasks: Vec<Live<'s>>,
    objects: Vec<Object>,
}

/// Simulates a task set.
pub fn play(set: &TaskSet, inheritance: Inheritance) -> Played {
    let live = |task| {
        let (released, responses) = (VecDeque::new(), Vec::new());
        Live { task, released, job: None, waits: None, responses }
    };
    let tasks = set.tasks.iter().map(live).collect();
    let mut world =
        World { set, inheritance, tasks, objects: vec![Object::default(); set.objects.len()] };
    let mut had = vec![BTreeMap::new(); set.tasks.len()];
    for now in 0..set.duration {
        world.release(now);
        // What takes no time happens until a task computes, or none can run.
        while let Some(index) = world.most_urgent() {
            if world.computes(index) {
                break;
            }
            world.go_on(index, now);
        }
        for (had, priority) in had.iter_mut().zip(world.priorities()) {
            *had.entry(priority).or_default() += 1;
        }
    }
    Played { responses: world.tasks.into_iter().map(|live| live.responses).collect(), had }
}

impl World<'_> {
    fn release(&mut self, now: u64) {
        for live in &mut self.tasks {
            let Task { phase, activation, .. } = *live.task;
            let is_release = match activation {
                Activation::Period(period) => now >= phase && (now - phase).is_multiple_of(period),
                _ => now == phase,
            };
            live.released.extend(is_release.then_some(now));
            live.begin();
        }
    }

    /// The effective priorities of all tasks.
    fn priorities(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.tasks.iter().map(|live| live.task.priority).collect();
        for _ in 0..all.len() {
            for (index, live) in self.tasks.iter().enumerate() {
                for heir in self.heirs(live.waits) {
                    all[heir] = all[heir].min(all[index]);
                }
            }
        }
        all
    }

    /// To whom a wait lends.
    fn heirs(&self, waits: Option<Waits>) -> Vec<usize> {
        match waits {
            Some(Waits::Mutex(mutex)) if self.inheritance != Inheritance::None => {
                self.objects[mutex].owner.into_iter().collect()
            }
            Some(Waits::Condition(condition)) if self.inheritance == Inheritance::Conditions => {
                let own = self.set.helpers.iter().filter(|(helped, _)| *helped == condition);
                own.map(|(_, helper)| *helper).collect()
            }
            _ => Vec::new(),
        }
    }

    fn most_urgent(&self) -> Option<usize> {
        let (all, tasks) = (self.priorities(), &self.tasks);
        let is_ready = |index: &usize| tasks[*index].job.is_some() && tasks[*index].waits.is_none();
        (0..tasks.len()).filter(is_ready).min_by_key(|&index| all[index])
    }

    /// Whether the task spends a unit on its instruction.
    fn computes(&mut self, index: usize) -> bool {
        let Some(job) = &self.tasks[index].job else { return false };
        let length = match self.tasks[index].task.phases[0].code.get(job.at) {
            Some(Instruction::Compute(Time::Fixed(length))) => *length,
            Some(Instruction::Wait(..)) => self.set.blocking,
            Some(&Instruction::WaitCounter(.., on) | &Instruction::WaitQueue(.., on))
                if self.waits_for(on) =>
            {
                self.set.blocking
            }
            _ => return false,
        };
        let Some(job) = &mut self.tasks[index].job else { return false };
        let units = job.left.get_or_insert(length);
        let spends = *units > 0;
        *units -= u64::from(spends);
        spends
    }

    /// Whether a counter is 0, or a queue empty.
    fn waits_for(&self, on: Operand) -> bool {
        let on = &self.objects[self.object(on)];
        on.count == 0 && on.messages.is_empty()
    }

    fn object(&self, Operand { object, through }: Operand) -> usize {
        if through { self.objects[object].refers_to } else { object }
    }

    /// An instruction that takes no time, or the end of one, or that of the job.
    fn go_on(&mut self, index: usize, now: u64) {
        let live = &mut self.tasks[index];
        let Some(job) = &mut live.job else { return };
        job.left = None;
        let Some(instruction) = live.task.phases[0].code.get(job.at) else {
            live.responses.push(now - job.release);
            live.job = None;
            if live.task.activation == Activation::Forever {
                live.released.push_back(now);
            }
            return live.begin();
        };
        if self.carry_out(index, instruction)
            && let Some(job) = &mut self.tasks[index].job
        {
            job.at += 1;
        }
    }

    /// Whether the task goes on with the next instruction.
    fn carry_out(&mut self, index: usize, instruction: &Instruction) -> bool {
        match *instruction {
            Instruction::Lock(mutex) => self.lock(index, self.object(mutex)),
            Instruction::Unlock(mutex) => self.unlock(self.object(mutex)),
            Instruction::Signal(mutex, condition) => {
                return self.signal(index, self.object(mutex), self.object(condition));
            }
            Instruction::Wait(mutex, condition) => {
                self.wait(index, self.object(mutex), self.object(condition));
            }
            Instruction::WaitCounter(mutex, condition, on)
            | Instruction::WaitQueue(mutex, condition, on) => {
                let waits = self.waits_for(on);
                if waits {
                    self.wait(index, self.object(mutex), self.object(condition));
                }
                return !waits;
            }
            Instruction::Inc(counter) => self.at(counter).count += 1,
            Instruction::Dec(counter) => self.at(counter).count -= 1,
            Instruction::Push(queue) => self.at(queue).messages.push_back([0; 3]),
            Instruction::Pop(queue) => drop(self.at(queue).messages.pop_front()),
            Instruction::PushReferences(queue, to) => {
                let message = to.map(|operand| self.object(operand));
                self.at(queue).messages.push_back(message);
            }
            Instruction::PopReferences(queue, pointers) => {
                let message = self.at(queue).messages.pop_front().unwrap_or_default();
                for (pointer, to) in pointers.iter().zip(message) {
                    self.at(*pointer).refers_to = to;
                }
            }
            _ => {}
        }
        true
    }

    fn at(&mut self, operand: Operand) -> &mut Object {
        let index = self.object(operand);
        &mut self.objects[index]
    }

    fn lock(&mut self, index: usize, mutex: usize) {
        let object = &mut self.objects[mutex];
        match object.owner {
            None => object.owner = Some(index),
            Some(_) => {
                object.waiting.push(index);
                self.tasks[index].waits = Some(Waits::Mutex(mutex));
            }
        }
    }

    fn unlock(&mut self, mutex: usize) {
        self.objects[mutex].owner = None;
        if let Some(next) = self.take_first(mutex) {
            self.objects[mutex].owner = Some(next);
            self.tasks[next].waits = None;
        }
    }

    /// Takes the task out that is first among those that wait for an object.
    fn take_first(&mut self, object: usize) -> Option<usize> {
        let priorities = self.priorities();
        let waiting = &mut self.objects[object].waiting;
        let place = match self.inheritance {
            Inheritance::None => Some(0).filter(|_| !waiting.is_empty()),
            _ => (0..waiting.len()).min_by_key(|place| priorities[waiting[*place]]),
        };
        place.map(|place| waiting.remove(place))
    }

    fn wait(&mut self, index: usize, mutex: usize, condition: usize) {
        self.unlock(mutex);
        self.objects[condition].waiting.push(index);
        self.tasks[index].waits = Some(Waits::Condition(condition));
    }

    /// Wakes a task, which waits for the mutex then. False: the mutex is to be locked before.
    fn signal(&mut self, index: usize, mutex: usize, condition: usize) -> bool {
        let owns = self.objects[mutex].owner == Some(index);
        let Some(job) = &mut self.tasks[index].job else { return true };
        let borrows = std::mem::replace(&mut job.borrows, !owns);
        if !owns {
            self.lock(index, mutex);
            return false;
        }
        if let Some(woken) = self.take_first(condition) {
            self.lock(woken, mutex);
        }
        if borrows {
            self.unlock(mutex);
        }
        true
    }
}

impl Live<'_> {
    /// The next job begins, if there is one and none is under way.
    fn begin(&mut self) {
        if self.job.is_none() {
            let next = self.released.pop_front();
            let job = |release| Job { release, at: 0, left: None, borrows: false };
            self.job = next.map(job);
        }
    }
}
