//! A job: the steps of a task's code, one after the other.

use super::locks::{Held, meaning};
use super::objects::{Objects, Wrong};
use crate::random::Random;
use abi::rtsim::{Act, OBJECTS, Step};
use rt::prelude::*;
use rt::{system, time};
use sync::ThreadId;

/// What all jobs of a task have in common.
pub struct Job {
    /// The thread that carries them out.
    pub me: ThreadId,
    /// Nanoseconds of a unit of time.
    pub unit: u64,
    /// Units that a wait takes before it blocks.
    pub blocking: u64,
}

/// A job that is under way.
struct Run<'o, 'r> {
    objects: &'o Objects,
    random: &'r mut Random,
    me: ThreadId,
    unit: u64,
    blocking: u64,
    /// The mutexes that the task owns.
    owned: [Option<Held<'o>>; OBJECTS],
}

impl Job {
    /// Carries out these steps. What they have locked and not unlocked is unlocked at the end.
    pub fn run(&self, steps: &str, objects: &Objects, random: &mut Random) -> Result<(), Wrong> {
        let Job { me, unit, blocking, .. } = *self;
        let owned = [const { None }; OBJECTS];
        let mut run = Run { objects, random, me, unit, blocking, owned };
        for (index, text) in steps.split(';').enumerate() {
            let step = Step::parse(text).ok_or("it is no step");
            let done = step.and_then(|step| run.step(step));
            done.map_err(|what| Wrong { step: index + 1, what })?;
        }
        Ok(())
    }
}

impl<'o> Run<'o, '_> {
    fn step(&mut self, Step { act, numbers }: Step) -> Result<(), &'static str> {
        let [first, second, ..] = numbers;
        match act {
            Act::Fixed | Act::Uniform | Act::Exponential => self.compute(act, numbers),
            Act::Delay | Act::DelayUniform | Act::DelayExponential => {
                time::sleep(self.length(act, numbers).ns());
            }
            Act::Lock => self.lock(first)?,
            Act::Unlock => self.unlock(first)?,
            Act::Signal => self.signal(first, second)?,
            Act::Wait | Act::WaitCounter | Act::WaitQueue => self.wait(act, numbers)?,
            Act::Push | Act::Pop | Act::PushReferences | Act::PopReferences => {
                self.message(act, numbers)?;
            }
            Act::Inc | Act::Dec | Act::Set => self.count(act, first, second)?,
        }
        Ok(())
    }

    /// The length of time, in nanoseconds, that the numbers of a step say.
    fn length(&mut self, act: Act, [first, second, ..]: [u64; 4]) -> u64 {
        match act {
            Act::Uniform | Act::DelayUniform => {
                let (least, most) = (first * self.unit, second * self.unit);
                least + self.random.below(most - least + 1)
            }
            Act::Exponential | Act::DelayExponential => self.random.exponential(first * self.unit),
            _ => first * self.unit,
        }
    }

    fn compute(&mut self, act: Act, numbers: [u64; 4]) {
        system::work(self.length(act, numbers));
    }

    fn lock(&mut self, mutex: u64) -> Result<(), &'static str> {
        let index = self.objects.index(mutex)?;
        let guard = self.objects.mutex(index).lock(self.me).map_err(meaning)?;
        self.owned[index] = Some(guard);
        Ok(())
    }

    fn unlock(&mut self, mutex: u64) -> Result<(), &'static str> {
        let guard = self.owned[self.objects.index(mutex)?].take();
        guard.ok_or("a mutex is unlocked that the task does not own")?.unlock().map_err(meaning)
    }

    /// Wakes a task; if this one does not own the mutex, it does while it wakes the other.
    fn signal(&mut self, mutex: u64, condition: u64) -> Result<(), &'static str> {
        let (mutex, condition) = (self.objects.index(mutex)?, self.objects.index(condition)?);
        let condition = self.objects.condition(condition);
        if let Some(guard) = &self.owned[mutex] {
            return condition.notify_one(guard).map_err(meaning);
        }
        let guard = self.objects.mutex(mutex).lock(self.me).map_err(meaning)?;
        condition.notify_one(&guard).map_err(meaning)?;
        guard.unlock().map_err(meaning)
    }

    fn wait(&mut self, act: Act, [mutex, condition, on, _]: [u64; 4]) -> Result<(), &'static str> {
        let objects = self.objects;
        let (mutex, condition) = (objects.index(mutex)?, objects.index(condition)?);
        let on = if act == Act::Wait { 0 } else { objects.index(on)? };
        let guard = self.owned[mutex].as_mut();
        let guard = guard.ok_or("a task waits with a mutex that it does not own")?;
        let condition = objects.condition(condition);
        let goes_on = || match act {
            Act::WaitCounter => objects.counter(on) != 0,
            Act::WaitQueue => objects.messages(on) != 0,
            _ => false,
        };
        while !goes_on() {
            system::work(self.blocking * self.unit);
            condition.wait(guard).map_err(meaning)?;
            if act == Act::Wait {
                break;
            }
        }
        Ok(())
    }

    fn message(&mut self, act: Act, numbers: [u64; 4]) -> Result<(), &'static str> {
        let [queue, references @ ..] = numbers;
        let queue = self.objects.index(queue)?;
        match act {
            Act::Push => self.objects.push(queue, [0; 3]),
            Act::PushReferences => {
                let mut message = [0; 3];
                for (word, reference) in message.iter_mut().zip(references) {
                    *word = self.objects.index(reference)? as u64 + 1;
                }
                self.objects.push(queue, message)
            }
            _ => {
                let message = self.objects.pop(queue)?;
                if act == Act::PopReferences {
                    for (pointer, reference) in references.into_iter().zip(message) {
                        self.objects.set(self.objects.index(pointer)?, reference);
                    }
                }
                Ok(())
            }
        }
    }

    fn count(&self, act: Act, counter: u64, value: u64) -> Result<(), &'static str> {
        let counter = self.objects.index(counter)?;
        let now = self.objects.counter(counter);
        let next = match act {
            Act::Inc => now.checked_add(1).ok_or("a counter is too great")?,
            Act::Dec => now.checked_sub(1).ok_or("a counter would be below 0")?,
            _ => value,
        };
        self.objects.set(counter, next);
        Ok(())
    }
}
