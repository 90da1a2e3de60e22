//! All devices of a machine, and what they act on.

use crate::adc::Adc;
use crate::can::Can;
use crate::device::{Device, Outside};
use crate::encoder::Encoder;
use crate::fault::{Fault, What};
use crate::gpio::Gpio;
use crate::plant::{Make, Plant, STEP};
use crate::pwm::Pwm;
use crate::rng::Rng;
use crate::wire::Wire;
use crate::{Frame, KINDS, Parameters, plants};
use serde::{Deserialize, Serialize};

/// What a machine has to control.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The name of the plant.
    pub plant: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// The devices.
    pub devices: Vec<Wired>,
}

/// A device, and where its wires lead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wired {
    /// Its name.
    pub name: String,
    /// One of [`KINDS`].
    pub kind: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// The names of the plant's wires that it has.
    pub wires: Vec<String>,
    /// The line of its interrupt, if it has one.
    pub irq: Option<u8>,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
}

/// Lines of interrupts.
const LINES: u8 = 32;
/// Nanoseconds that a plant goes on for at once: an hour.
const LONGEST: u64 = 3_600_000_000_000;

struct Placed {
    device: Box<dyn Device>,
    wires: Vec<Wire>,
    irq: Option<u8>,
    /// Of its requests for an interrupt, one in so many is lost: between these instants.
    losses: Vec<(u64, u64, u64)>,
    /// Whether it asked when it was looked at last, and that is lost.
    asked: bool,
    lost: bool,
}

/// All devices of a machine.
pub struct Panel {
    plant: Box<dyn Plant>,
    placed: Vec<Placed>,
    dice: Rng,
    /// The instant of the last step.
    stepped: u64,
    /// No device is told of an instant before this one.
    now: u64,
    /// Until when the bus carries something.
    free_at: u64,
    /// Nanoseconds between two records; 0: there are none.
    every: u64,
    record: String,
}

impl Panel {
    /// The devices that were asked for, with a plant from these or from [`plants::ALL`], at the
    /// start of the machine.
    ///
    /// # Errors
    ///
    /// There is no such plant, kind, wire or parameter; what is wrong, in words.
    pub fn new(setup: &Setup, further: &[(&str, Make)], seed: u64) -> Result<Panel, String> {
        let mut known = further.iter().chain(&plants::ALL);
        let Some((_, make)) = known.find(|(name, _)| *name == setup.plant) else {
            let names: Vec<&str> = further.iter().chain(&plants::ALL).map(|it| it.0).collect();
            let (plant, names) = (&setup.plant, names.join(", "));
            return Err(format!("no plant is called `{plant}`: there are {names}"));
        };
        let plant = make(&setup.parameters).map_err(|error| format!("the plant: {error}"))?;
        let dice = Rng::new(seed);
        let placed = setup.devices.iter().map(|one| {
            let placed = Placed::new(one, &*plant, &dice);
            placed.map_err(|error| format!("device `{}`: {error}", one.name))
        });
        let placed = placed.collect::<Result<Vec<_>, _>>()?;
        let (every, record) = (0, String::new());
        Ok(Panel { plant, placed, dice, stepped: 0, now: 0, free_at: 0, every, record })
    }

    /// Records what the plant's wires have at the first step, and each time that so many
    /// nanoseconds have passed.
    pub fn record_every(&mut self, every: u64) {
        self.every = every.next_multiple_of(STEP);
        let names = self.plant.wires().join(",");
        self.record = format!("seconds,{names}\n");
    }

    /// What was recorded, as CSV with a heading.
    pub fn take_record(&mut self) -> String {
        std::mem::take(&mut self.record)
    }

    /// A program reads a register of the device with this index.
    pub fn read(&mut self, index: usize, register: usize, now: u64) -> u64 {
        self.pass_to(now);
        let mut value = 0;
        self.tell(index, |device, outside| value = device.read(register, outside));
        value
    }

    /// A program writes to a register of the device with this index.
    pub fn write(&mut self, index: usize, register: usize, value: u64, now: u64) {
        self.pass_to(now);
        self.tell(index, |device, outside| device.write(register, value, outside));
    }

    /// Time has come to this instant: all devices have done what they do until then.
    pub fn pass_to(&mut self, now: u64) {
        // The plant stands still for what is longer.
        let from = now.saturating_sub(LONGEST) / STEP * STEP;
        self.stepped = self.stepped.max(from);
        loop {
            let own = |(index, one): (usize, &Placed)| Some((one.device.next()?, index));
            let first = self.placed.iter().enumerate().filter_map(own).min();
            let step = self.stepped.saturating_add(STEP);
            match first {
                Some((at, index)) if at <= now && at < step => {
                    self.now = self.now.max(at);
                    self.tell(index, |device, outside| device.wake(outside));
                }
                _ if step <= now => self.step(step),
                _ => break,
            }
        }
        self.now = self.now.max(now);
    }

    /// The next instant at which a device may come to ask for its interrupt. One that asks already
    /// has nothing more to say until its reason is taken away.
    pub fn next(&self) -> Option<u64> {
        let quiet = || self.placed.iter().map(|one| &one.device).filter(|device| !device.asks());
        let watches = quiet().any(|device| device.watches());
        let step = watches.then(|| self.stepped.saturating_add(STEP));
        let own = quiet().filter_map(|device| device.next());
        own.chain(step).min()
    }

    /// The lines of interrupts that devices ask for, a bit each.
    pub fn lines(&mut self) -> u32 {
        let (mut lines, now) = (0, self.now);
        for one in &mut self.placed {
            let asks = one.device.asks();
            if asks && !one.asked {
                let mut losses =
                    one.losses.iter().filter(|(from, to, _)| (*from..*to).contains(&now));
                one.lost = losses.any(|(.., one_in)| self.dice.once_in(*one_in));
            }
            one.asked = asks;
            if let Some(irq) = one.irq.filter(|_| asks && !one.lost) {
                lines |= 1 << irq;
            }
        }
        lines
    }

    fn step(&mut self, at: u64) {
        for wire in self.placed.iter_mut().flat_map(|one| &mut one.wires) {
            wire.arrive(self.stepped, &mut *self.plant);
        }
        self.plant.step(STEP as f64 / 1e9);
        self.stepped = at;
        self.now = self.now.max(at);
        for wire in self.placed.iter_mut().flat_map(|one| &mut one.wires) {
            wire.measure(at, &*self.plant);
        }
        if self.every > 0 && self.stepped.is_multiple_of(self.every) {
            let values = (0..self.plant.wires().len()).map(|at| self.plant.get(at));
            let values: String = values.map(|value| format!(",{value:.6}")).collect();
            self.record.push_str(&format!("{:.6}{values}\n", self.stepped as f64 / 1e9));
        }
        while let Some(frame) = self.plant.send() {
            self.placed.iter_mut().for_each(|one| one.device.receive(frame));
        }
        for index in 0..self.placed.len() {
            self.tell(index, |device, outside| device.step(outside));
        }
    }

    /// Tells a device something, and others what it sends.
    fn tell(&mut self, index: usize, what: impl FnOnce(&mut dyn Device, &mut Outside)) {
        let Some(one) = self.placed.get_mut(index) else { return };
        let (mut sent, Placed { device, wires, .. }) = (Vec::<Frame>::new(), one);
        let mut outside = Outside {
            now: self.now,
            plant: &mut *self.plant,
            wires,
            sent: &mut sent,
            free_at: &mut self.free_at,
        };
        what(&mut **device, &mut outside);
        for frame in sent {
            self.plant.receive(frame);
            let others = self.placed.iter_mut().enumerate().filter(|(at, _)| *at != index);
            others.for_each(|(_, one)| one.device.receive(frame));
        }
    }
}

impl Placed {
    fn new(one: &Wired, plant: &dyn Plant, dice: &Rng) -> Result<Placed, String> {
        let Wired { kind, parameters, wires, irq, faults, .. } = one;
        let none = |device: Box<dyn Device>| parameters.only(&[]).map(|()| device);
        let (device, most): (Box<dyn Device>, usize) = match kind.as_str() {
            "pwm" => (none(Box::new(Pwm::new()))?, 1),
            "adc" => (Box::new(Adc::new(parameters)?), 1),
            "encoder" => (Box::new(Encoder::new(parameters)?), 1),
            "gpio" => (none(Box::<Gpio>::default())?, abi::device::gpio::PINS),
            "can" => (none(Box::<Can>::default())?, 0),
            _ => return Err(format!("no kind is called `{kind}`: {}", KINDS.join(", "))),
        };
        if wires.len() > most || (wires.is_empty() && most > 0) {
            let has = if most == 1 { "one wire".to_string() } else { format!("{most} wires") };
            return Err(format!(
                "a device of kind `{kind}` has {has} at most, not {}",
                wires.len()
            ));
        }
        let known = plant.wires();
        let wire = |name: &String| {
            let at = known.iter().position(|known| known == name);
            let at =
                at.ok_or_else(|| format!("the plant has no wire `{name}`: {}", known.join(", ")));
            Ok(Wire::new(at?, faults, Rng::new(dice.next()), plant))
        };
        if irq.is_some_and(|irq| irq >= LINES) {
            return Err(format!("there are {LINES} lines of interrupts"));
        }
        let wires = wires.iter().map(wire).collect::<Result<_, String>>()?;
        let loss = |fault: &Fault| {
            let What::Lost(one_in) = fault.what else { return None };
            let from = fault.begins(0);
            Some((from, fault.lasts.map_or(u64::MAX, |lasts| from.saturating_add(lasts)), one_in))
        };
        let losses = faults.iter().filter_map(loss).collect();
        Ok(Placed { device, wires, irq: *irq, losses, asked: false, lost: false })
    }
}
