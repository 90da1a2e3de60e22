//! What there is to control: a plant, and the devices that act on it and measure it. A device is
//! memory of a page whose words are its registers, so domains map it as they map any.

use std::path::Path;

use abi::{PAGE, Rights};
use devices::{KINDS, Panel, Parameters, Setup, Wired};
use indexmap::IndexMap;
use toml::{Spanned, Value};

use crate::attached;
use crate::interrupt::INTERVAL_TIMER;
use crate::memory::Memory;
use crate::problem::{Problem, Span, quote};
use crate::program;
use crate::schema::{self, Manifest, Word};
use crate::system::{Origin, System};
use crate::target::Target;
use crate::values::Values;

/// The plant that devices have that need none.
const NONE: &str = "loopback";
/// Lines that a device may get, and the one that is the console's.
const LINES: std::ops::Range<u8> = 0..24;
const CONSOLE: u8 = 4;

/// What a system has to control.
#[derive(Clone, Debug)]
pub struct Devices {
    /// The plant and the devices.
    pub setup: Setup,
    /// For each device the index of the memory that its registers are.
    pub memories: Vec<usize>,
    /// The crate that the plant comes from, if it does not come with Giusto: its folder, relative
    /// to the manifest's, and the path of a function in it.
    pub plant: Option<(String, String)>,
    /// Where the manifest names the plant, or the first device.
    pub at: Span,
}

/// Adds the devices of the manifest, and their memories behind all others: those of the emulator,
/// or simulated ones with what they control.
pub fn add(
    values: &Values,
    folder: &Path,
    manifest: &Manifest,
    system: &mut System,
) -> Vec<Problem> {
    let (real, simulated): (Vec<_>, Vec<_>) =
        manifest.device.iter().partition(|it| attached::is(it));
    match (&real[..], &simulated[..]) {
        ([], _) => control(values, manifest, system),
        (_, []) if manifest.plant.is_none() => attached::add(values, folder, manifest, system),
        ([one, ..], _) => {
            let message = "no machine has this device beside simulated ones";
            let help = "take devices of one sort: virtio-..., or those of a plant";
            vec![values.problem(&one.kind, message, help)]
        }
    }
}

/// Adds what the manifest has to control.
fn control(values: &Values, manifest: &Manifest, system: &mut System) -> Vec<Problem> {
    let Some(first) = manifest.device.first() else {
        let alone = manifest.plant.as_ref();
        let help = "add `[[device]]` with `name`, `kind` and `wire`";
        let problem =
            |plant: &schema::Plant| values.problem(&plant.model, "no device acts on it", help);
        return alone.map(problem).into_iter().collect();
    };
    let mut problems = Vec::new();
    let (mut setup, mut plant, mut at) = (Setup::default(), None, first.name.span());
    setup.plant = NONE.to_string();
    if let Some(given) = &manifest.plant {
        at = given.model.span();
        match model(values, given) {
            Ok((name, origin, parameters)) => {
                (setup.plant, plant, setup.parameters) = (name, origin, parameters)
            }
            Err(problem) => problems.push(problem),
        }
    }
    let known = |setup: &Setup| match &plant {
        // Which wires it has is known when it is built.
        Some(_) => Ok(()),
        None => Panel::new(setup, &[], 1).map(drop),
    };
    if let (Err(error), Some(given)) = (known(&setup), &manifest.plant) {
        problems.push(values.problem(&given.model, error, "docs/devices.md has what there is"));
    }
    let mut free = LINES.rev().filter(|line| {
        let taken = |given: &schema::Interrupt| {
            given.irq.as_ref().is_some_and(|irq| *irq.get_ref() == i128::from(*line))
        };
        ![CONSOLE, INTERVAL_TIMER].contains(line) && !manifest.interrupt.iter().any(taken)
    });
    for given in &manifest.device {
        match device(values, given) {
            Ok(mut one) => {
                let names = |given: &schema::Interrupt| {
                    given.device.as_ref().is_some_and(|name| *name.get_ref() == one.name)
                };
                if manifest.interrupt.iter().any(names) {
                    one.irq = free.next();
                }
                let alone = Setup { devices: vec![one.clone()], ..setup.clone() };
                if problems.is_empty()
                    && let Err(error) = known(&alone)
                {
                    let help = "docs/devices.md has what there is";
                    problems.push(values.problem(&given.name, error, help));
                }
                setup.devices.push(one);
            }
            Err(problem) => problems.push(problem),
        }
    }
    let memories = (system.memories.len()..).take(setup.devices.len()).collect();
    let memory = |one: &Wired| Memory::ram(&one.name, PAGE, false);
    system.memories.extend(setup.devices.iter().map(memory));
    system.devices = Some(Devices { setup, memories, plant, at });
    problems
}

/// Takes the right to destroy from all capabilities to devices: the frame of one that is gone would
/// be another memory's, and the device's still.
pub fn keep(system: &mut System) {
    let Some(devices) = &system.devices else { return };
    for cap in system.domains.iter_mut().flat_map(|domain| &mut domain.caps) {
        if matches!(cap.target, Target::Memory(index) if devices.memories.contains(&index)) {
            cap.rights = Rights(cap.rights.0 & !Rights::DESTROY.0);
        }
    }
}

/// The line of the device that an interrupt is of.
pub fn line(values: &Values, system: &System, word: &Word) -> Result<u32, Problem> {
    let index = values.find("device", word)?;
    if let Some(device) = system.attached.get(index) {
        return Ok(device.irq());
    }
    let devices = system.devices.as_ref().map(|devices| &devices.setup.devices);
    let device = devices.and_then(|all| all.get(index));
    let line = device.and_then(|device| device.irq);
    let help = "let fewer devices interrupt";
    line.map(u32::from).ok_or_else(|| values.problem(word, "no line is free for this one", help))
}

type Model = (String, Option<(String, String)>, Parameters);

fn model(values: &Values, given: &schema::Plant) -> Result<Model, Problem> {
    let (name, origin) = program::read(values, &given.model)?;
    let origin = match origin {
        Origin::Giusto => None,
        Origin::Crate { folder, entry } => Some((folder, entry)),
        Origin::C { .. } | Origin::Elf(_) => {
            let help = "write \"NAME\" or { crate = \"FOLDER\", entry = \"FUNCTION\" }";
            return Err(values.problem(&given.model, "this is no plant", help));
        }
    };
    Ok((name, origin, parameters(values, &given.parameters)?))
}

fn device(values: &Values, given: &schema::Device) -> Result<Wired, Problem> {
    let wires = given.wire.iter().chain(&given.wires).map(|wire| wire.get_ref().clone());
    if let (Some(wire), false) = (&given.wire, given.wires.is_empty()) {
        let message = "this device has both `wire` and `wires`";
        return Err(values.problem(wire, message, "name all of them in `wires`"));
    }
    if given.disk.is_some() || given.forward.is_some() {
        let help = "`disk` is for virtio-blk, `forward` for virtio-net";
        return Err(values.problem(&given.kind, "this device has no such key", help));
    }
    let kinds = [&KINDS[..], &attached::KINDS].concat();
    Ok(Wired {
        name: given.name.get_ref().clone(),
        kind: values.one_of("kind of device", &given.kind, &kinds)?,
        parameters: parameters(values, &given.parameters)?,
        wires: wires.collect(),
        irq: None,
        faults: Vec::new(),
    })
}

fn parameters(
    values: &Values,
    given: &IndexMap<Word, Spanned<Value>>,
) -> Result<Parameters, Problem> {
    let number = |(name, value): (&Word, &Spanned<Value>)| {
        let text = match value.get_ref() {
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            _ => {
                let message = format!("parameter {} is no number", quote(name.get_ref()));
                return Err(values.problem(value, message, "write a number, for instance 0.5"));
            }
        };
        Ok((name.get_ref().clone(), text))
    };
    given.iter().map(number).collect::<Result<_, _>>().map(Parameters)
}
