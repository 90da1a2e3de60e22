//! What lies between a device and a plant: a wire, with what is wrong with it.

use crate::fault::{Fault, What};
use crate::plant::{Plant, STEP};
use crate::rng::Rng;
use std::collections::VecDeque;

/// A fault that has a beginning and an end.
struct Wrong {
    what: What,
    from: u64,
    until: u64,
}

/// A wire, as a device has it.
pub struct Wire {
    /// Its index in the plant.
    at: usize,
    wrong: Vec<Wrong>,
    dice: Rng,
    /// What is measured: as at the last step.
    value: f64,
    /// What it measured at earlier steps, the last one first, as far back as it may be late.
    past: VecDeque<f64>,
    /// What was put on it and is late: when it arrives.
    coming: VecDeque<(u64, f64)>,
}

impl Wire {
    /// The wire with this index in a plant, with what is wrong with it.
    pub fn new(at: usize, faults: &[Fault], dice: Rng, plant: &dyn Plant) -> Wire {
        let wrong = |fault: &Fault| {
            let from = fault.begins(dice.next());
            let until = fault.lasts.map_or(u64::MAX, |lasts| from.saturating_add(lasts));
            Wrong { what: fault.what, from, until }
        };
        let wrong = faults.iter().map(wrong).collect();
        let value = plant.get(at);
        Wire { at, wrong, dice, value, past: VecDeque::new(), coming: VecDeque::new() }
    }

    fn wrong(&self, now: u64) -> impl Iterator<Item = What> {
        let lasts = move |wrong: &&Wrong| (wrong.from..wrong.until).contains(&now);
        self.wrong.iter().filter(lasts).map(|wrong| wrong.what)
    }

    fn is_stuck(&self, now: u64) -> bool {
        self.wrong(now).any(|what| what == What::Stuck)
    }

    /// How late it is now.
    fn delay(&self, now: u64) -> u64 {
        let late = |what| if let What::Late(by) = what { by } else { 0 };
        self.wrong(now).map(late).fold(0, u64::saturating_add)
    }

    /// By how much it is wrong this time.
    fn noise(&self, now: u64) -> f64 {
        let noise = |what| match what {
            // From one bound to the other, in 2^16 parts.
            What::Noisy(by) => {
                by as f64 / 1e6 * ((self.dice.next() % 65_537) as f64 / 32_768.0 - 1.0)
            }
            _ => 0.0,
        };
        self.wrong(now).map(noise).sum()
    }

    /// What it measures.
    pub fn get(&self) -> f64 {
        self.value
    }

    /// Something is put on it.
    pub fn set(&mut self, now: u64, value: f64, plant: &mut dyn Plant) {
        if self.is_stuck(now) {
            return;
        }
        let value = value + self.noise(now);
        match self.delay(now) {
            0 => plant.set(self.at, value),
            delay => {
                // What arrives within one step is the last of it.
                let at = now.saturating_add(delay) / STEP * STEP;
                self.coming.pop_back_if(|(other, _)| *other >= at);
                self.coming.push_back((at, value));
            }
        }
    }

    /// A step of the plant is about to begin.
    pub fn arrive(&mut self, now: u64, plant: &mut dyn Plant) {
        while let Some((_, value)) = self.coming.pop_front_if(|(at, _)| *at <= now) {
            plant.set(self.at, value);
        }
    }

    /// The plant has taken a step, and it is now.
    pub fn measure(&mut self, now: u64, plant: &dyn Plant) {
        let longest = self.wrong.iter().map(|wrong| match wrong.what {
            What::Late(by) => (by / STEP) as usize,
            _ => 0,
        });
        self.past.truncate(longest.fold(0, usize::saturating_add));
        self.past.push_front(plant.get(self.at));
        if !self.is_stuck(now) {
            let back = (self.delay(now) / STEP) as usize;
            let seen = self.past.get(back).or(self.past.back());
            self.value = seen.copied().unwrap_or_default() + self.noise(now);
        }
    }
}
