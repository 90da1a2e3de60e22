//! From a manifest to a [`System`]: every value is checked, every name becomes an index.

use std::path::{Path, PathBuf};

use abi::object::Resource;
use abi::reservation::Inheritance;
use abi::trace::{Event, Keep};

use crate::budget::{self, Pool};
use crate::control;
use crate::devices;
use crate::domain;
use crate::elf::Image;
use crate::files;
use crate::interrupt;
use crate::inventory::Inventory;
use crate::memory;
use crate::problem::{Problem, Problems, Source};
use crate::reader;
use crate::reservation;
use crate::schema::{self, Manifest, Number};
use crate::sharing;
use crate::supervised;
use crate::supervisor;
use crate::system::{Endpoint, Notification, Overheads, System, Timer, Trace};
use crate::units::spell_duration;
use crate::values::{LONGEST_NAME, MOST_OBJECTS, Values, repeated};
use crate::{ALL_KERNELS, KERNELS, LOCKINGS, NO_LOCKING, TREE};

/// RAM that a machine has at least and at most: the host finds all of it in one file.
const RAM: [u64; 2] = [16 << 20, 2 << 30];
const DEFAULT_RAM: u64 = 256 << 20;
const MICROSECOND: u64 = 1_000;
const SECOND: u64 = 1_000_000_000;
const DEFAULT_TICK: u64 = 1_000_000;
/// Ticks in the default time slice.
const DEFAULT_SLICE: u64 = 10;
/// CPUs that a machine may have.
const MOST_CPUS: u64 = 64;
/// Blocked threads that a look-up drops before it looks for interrupts, unless the manifest says
/// otherwise.
const DEFAULT_LAZY_DEQUEUES: u64 = 4;
/// Of the class that all CPUs share: above all threads that have no reservation.
const DEFAULT_SHARED: u64 = 256;
const LAST_LEVEL: u64 = abi::reservation::LEVELS as u64 - 1;
/// Approaches to lent leaves, in the order of their codes.
const INHERITANCES: [&str; Inheritance::ALL.len()] = ["none", "charged", "leaves"];

/// Reads and checks a manifest. What can be checked by itself is, so that all problems show.
pub fn system(folder: &Path, source: &Source) -> Result<System, Problems> {
    let mut manifest = reader::read(source)?;
    reservation::add_default_classes(&mut manifest);
    let values = Values::of(source, &manifest);
    let mut problems = values.wrong_names();
    let mut system = match general(&values, &manifest) {
        Ok(system) => System { folder: folder.to_path_buf(), ..system },
        Err(problem) => {
            problems.push(problem);
            return Err(Problems(problems));
        }
    };
    let found = &mut problems;
    system.endpoints = each(&manifest.endpoint, found, |object| endpoint(&values, object));
    system.timers = each(&manifest.timer, found, |object| timer(&values, object));
    system.memories = each(&manifest.memory, found, |object| memory::read(&values, folder, object));
    found.extend(devices::add(&values, folder, &manifest, &mut system));
    let interrupts = each(&manifest.interrupt, found, |it| interrupt::read(&values, &system, it));
    system.interrupts = interrupts;
    system.mutexes = each(&manifest.mutex, found, |object| sharing::mutex(&values, object));
    for domain in &manifest.domain {
        match domain::read(&values, domain, system.cpus) {
            Ok(domain) => system.domains.push(domain),
            Err(wrong) => found.extend(wrong),
        }
    }
    devices::keep(&mut system);
    files::keep(&mut system);
    let reservations = reservation::read(&values, &manifest, system.cpus);
    let reservations = reservations.unwrap_or_else(|wrong| {
        found.extend(wrong);
        reservation::Found::default()
    });
    found.extend(shared(&values, &manifest));
    found.extend(files::written(&values, &manifest));
    found.extend(supervised::together(&values, &manifest));
    if found.is_empty() {
        reservation::attach(&mut system, &reservations);
        found.extend(interrupt::place(&values, &manifest, &mut system));
        found.extend(memory::mapped_ports(&values, &manifest));
        found.extend(memory::overlapping(&values, &manifest.memory, &system));
        found.extend(reservation::wrong_kernel(&values, &manifest, &system));
        found.extend(reservation::idle_priority(&values, &manifest, &system));
        found.extend(reservation::uncontrolled(&values, &manifest, &system));
        found.extend(sharing::seated(&values, &manifest, &system));
        found.extend(sharing::together(&values, &manifest, &system));
    }
    if found.is_empty() {
        if system.needs_tree() {
            system.kernel = TREE.to_string();
        }
        system.add_logs();
        supervisor::add(&values, &manifest, &mut system)?;
        let trace = manifest.trace.as_ref().map(|it| trace(&values, it, &system));
        system.trace = trace.transpose()?;
        fit(&mut system)?;
        return Ok(system);
    }
    problems.sort_by_key(|problem| (problem.line, problem.column));
    Err(Problems(problems))
}

/// All objects of a kind, and what is wrong with them.
fn each<T, U>(
    objects: &[T],
    problems: &mut Vec<Problem>,
    read: impl Fn(&T) -> Result<U, Problem>,
) -> Vec<U> {
    let mut good = Vec::new();
    for object in objects {
        match read(object) {
            Ok(read) => good.push(read),
            Err(problem) => problems.push(problem),
        }
    }
    good
}

/// Works out the pools and refuses a system that does not fit into them or into the machine.
fn fit(system: &mut System) -> Result<(), Problem> {
    let typical = Image::typical();
    let inventory = Inventory::of(system, &|_| &typical)?;
    let areas = inventory.areas(system, &|_| &typical);
    system.pools = budget::pools(system, &inventory, &areas)?;
    let files: usize = system.memories.iter().map(|memory| memory.contents.len()).sum();
    budget::fits(system, &system.pools, &areas, inventory.bytes() + files as u64)
}

/// The system that `[system]` and `[pools]` describe, without objects.
fn general(values: &Values, manifest: &Manifest) -> Result<System, Problem> {
    let given = manifest.system.get_ref();
    let tick = given.tick.as_ref();
    let tick =
        tick.map_or(Ok(DEFAULT_TICK), |tick| values.duration(tick, 10 * MICROSECOND..=SECOND))?;
    let kernel = given.kernel.as_ref();
    let memory = given.memory.as_ref();
    let cpus = values.number(&given.cpus, 1, 1..=MOST_CPUS)? as u32;
    let pool = |given: Option<_>| {
        given.map_or(Pool::default(), |(size, at)| Pool {
            size,
            given_at: Some(at),
            ..Pool::default()
        })
    };
    let pools: [Pool; Resource::COUNT] =
        values.amounts(&manifest.pools, 1..=MOST_OBJECTS)?.map(pool);
    let notification = |it: &schema::Notification| Notification { name: it.name.get_ref().clone() };
    Ok(System {
        folder: PathBuf::new(),
        name: values.name(&given.name, LONGEST_NAME)?,
        about: given.about.as_ref().map_or(Ok(String::new()), |about| values.line(about))?,
        kernel: kernel
            .map_or(Ok(KERNELS[0].into()), |it| values.one_of("kernel", it, &ALL_KERNELS))?,
        memory: memory.map_or(Ok(DEFAULT_RAM), |size| values.size(size, RAM[0]..=RAM[1]))?,
        memory_at: memory.map_or(manifest.system.span(), |size| size.span()),
        kernel_at: kernel.map_or(manifest.system.span(), |kernel| kernel.span()),
        cpus_at: given.cpus.as_ref().map_or(manifest.system.span(), |cpus| cpus.span()),
        tick,
        timeslice: timeslice(values, given, tick)?,
        cpus,
        locking: locking(values, given, cpus)?,
        lazy_dequeues: values.number(
            &given.lazy_dequeues,
            DEFAULT_LAZY_DEQUEUES,
            0..=MOST_OBJECTS,
        )? as u32,
        shared_priority: values.number(&given.shared_priority, DEFAULT_SHARED, 0..=LAST_LEVEL)?
            as u16,
        preempt_chains: given.preempt_chains.unwrap_or(true),
        inheritance: inheritance(values, given)?,
        max_latency: given
            .max_latency
            .as_ref()
            .map(|word| Ok((values.cost(word)?, word.span())))
            .transpose()?,
        pools,
        endpoints: Vec::new(),
        notifications: manifest.notification.iter().map(notification).collect(),
        interrupts: Vec::new(),
        timers: Vec::new(),
        memories: Vec::new(),
        devices: None,
        attached: Vec::new(),
        mutexes: Vec::new(),
        domains: Vec::new(),
        supervisor: None,
        owned: Vec::new(),
        reservations: Vec::new(),
        control: control::choices(values, manifest)?,
        overheads: overheads(values, manifest)?,
        bounds_required: manifest.analysis.as_ref().is_none_or(|it| it.required != Some(false)),
        trace: None,
        accounts: None,
        panics: Vec::new(),
        source: values.source.clone(),
    })
}

/// What the kernel costs, for the analysis.
fn overheads(values: &Values, manifest: &Manifest) -> Result<Overheads, Problem> {
    let Some(given) = &manifest.analysis else { return Ok(Overheads::default()) };
    let time = |word: &Option<schema::Word>| word.as_ref().map_or(Ok(0), |word| values.cost(word));
    Ok(Overheads {
        release: time(&given.release)?,
        context_switch: time(&given.context_switch)?,
        timer_interrupt: time(&given.timer_interrupt)?,
    })
}

/// What guards the kernel, if the manifest says.
fn locking(values: &Values, given: &schema::General, cpus: u32) -> Result<Option<String>, Problem> {
    let Some(word) = &given.locking else { return Ok(None) };
    let locking = values.one_of("locking", word, &LOCKINGS)?;
    if locking == NO_LOCKING && cpus > 1 {
        let message = format!("a kernel without locks cannot have {cpus} CPUs");
        let help = format!("take one of {}", LOCKINGS[1..].join(", "));
        return Err(values.problem(word, message, help));
    }
    Ok(Some(locking))
}

fn inheritance(values: &Values, given: &schema::General) -> Result<Inheritance, Problem> {
    let Some(word) = &given.inheritance else { return Ok(Inheritance::default()) };
    let name = values.one_of("approach", word, &INHERITANCES)?;
    let at = INHERITANCES.into_iter().position(|known| known == name);
    Ok(Inheritance::ALL[at.unwrap_or(0)])
}

fn timeslice(values: &Values, given: &schema::General, tick: u64) -> Result<u64, Problem> {
    let Some(word) = &given.timeslice else { return Ok(DEFAULT_SLICE * tick) };
    if word.get_ref() == "none" {
        return Ok(System::no_slice(tick));
    }
    let slice = values.duration(word, 10 * MICROSECOND..=100 * SECOND)?;
    if !slice.is_multiple_of(tick) {
        let message =
            format!("a time slice of {} is not a multiple of the tick", spell_duration(slice));
        let [tick, up] = [tick, slice.next_multiple_of(tick)].map(spell_duration);
        return Err(values.problem(word, message, format!("the tick is {tick}: {up:?} would do")));
    }
    Ok(slice)
}

/// The trace that the manifest asks for.
fn trace(values: &Values, given: &schema::Trace, system: &System) -> Result<Trace, Problem> {
    let memory = values.find("memory", &given.memory)?;
    if !system.memories[memory].is_ram() {
        let help = "name a memory without `at` and `port`";
        return Err(values.problem(&given.memory, "a trace is kept in RAM alone", help));
    }
    if system.memories[memory].bytes < 2 * abi::PAGE {
        let message = "this memory has no room for a record behind the trace's header";
        let help = "give it two pages at least, `size = \"8K\"`";
        return Err(values.problem(&given.memory, message, help));
    }
    let keep = given.keep.as_ref();
    let keep = keep.map_or(Ok("first".into()), |it| values.one_of("keep", it, &["first", "last"]));
    let keep = if keep? == "last" { Keep::Last } else { Keep::First };
    Ok(Trace { memory, keep, events: Event::EVERY })
}

fn endpoint(values: &Values, given: &schema::Endpoint) -> Result<Endpoint, Problem> {
    let notification = given.notification.as_ref().map(|it| values.find("notification", it));
    let (notification, serves) = (notification.transpose()?, given.serves);
    Ok(Endpoint { name: given.name.get_ref().clone(), notification, serves })
}

fn timer(values: &Values, given: &schema::Timer) -> Result<Timer, Problem> {
    Ok(Timer {
        name: given.name.get_ref().clone(),
        notification: values.find("notification", &given.notification)?,
        badge: signalled(values, &given.badge)?,
    })
}

/// The bits that an object signals.
pub(crate) fn signalled(values: &Values, badge: &Option<Number>) -> Result<u64, Problem> {
    match badge {
        Some(badge) if *badge.get_ref() == 0 => {
            Err(values.problem(badge, "a badge of 0 signals nothing", "set at least one bit"))
        }
        badge => values.number(badge, 1, 0..=u64::MAX),
    }
}

/// What only several objects together get wrong.
fn shared(values: &Values, manifest: &Manifest) -> Vec<Problem> {
    let mut problems = Vec::new();
    let attached = |it: &schema::Endpoint| it.notification.as_ref().map(|it| it.get_ref().clone());
    if let Some((other, again)) = repeated(&manifest.endpoint, attached)
        && let Some(word) = &again.notification
    {
        let name = other.name.get_ref();
        let message = format!("endpoint `{name}` has this notification attached already");
        let help = "a notification is attached to one endpoint at most";
        problems.push(values.problem(word, message, help));
    }
    let help = "an IRQ has one interrupt object; let further domains share its notification";
    let line = |it: &schema::Interrupt| it.irq.as_ref().map(|irq| *irq.get_ref());
    if let Some((other, again)) = repeated(&manifest.interrupt, line)
        && let Some(irq) = &again.irq
    {
        let (number, name) = (irq.get_ref(), other.name.get_ref());
        let message = format!("IRQ {number} belongs to interrupt `{name}` already");
        problems.push(values.problem(irq, message, help));
    }
    let device = |it: &schema::Interrupt| it.device.as_ref().map(|it| it.get_ref().clone());
    if let Some((other, again)) = repeated(&manifest.interrupt, device)
        && let Some(word) = &again.device
    {
        let name = other.name.get_ref();
        let message = format!("this device's interrupt is `{name}` already");
        problems.push(values.problem(word, message, help));
    }
    if manifest.domain.is_empty() {
        let message = "the system has no domain, so nothing would run";
        let help = "add `[[domain]]` with a `name` and a `program`";
        problems.push(values.source.problem(&(0..0), message, help));
    }
    problems
}
