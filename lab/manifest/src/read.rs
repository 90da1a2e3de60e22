//! From text to a [`System`] whose references are resolved. What concerns several objects
//! together is left to [`check`](crate::check).

use abi::object::Resource;
use abi::trace::{Event, Keep};
use toml::de::DeTable;

use crate::budget::Pool;
use crate::domain;
use crate::problem::{Problem, Source};
use crate::sections::{LONGEST_NAME, Sections};
use crate::system::{Endpoint, Interrupt, Memory, Notification, System, Timer, Trace};
use crate::toml_value::{Table, Value};
use crate::units::spell_duration;
use crate::{KERNELS, LOCKINGS, NO_LOCKING};

const SECTIONS: [&str; 9] = [
    "system",
    "pools",
    "trace",
    "endpoint",
    "notification",
    "interrupt",
    "timer",
    "memory",
    "domain",
];
const SYSTEM_KEYS: [&str; 10] = [
    "name",
    "about",
    "kernel",
    "memory",
    "tick",
    "timeslice",
    "cpus",
    "locking",
    "purge",
    "preempt_chains",
];

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
const DEFAULT_PURGE: u32 = 4;
/// The highest interrupt line.
const LAST_LINE: u64 = 23;
/// Objects that a pool or a quota can have at most.
pub const MOST_OBJECTS: u64 = 1 << 20;

/// Reads a manifest.
pub fn system(source: &Source) -> Result<System, Problem> {
    let document = DeTable::parse(&source.text).map_err(|error| {
        let message = format!("this is not TOML: {}", error.message().replace('\n', ", "));
        let help = "tables are `[name]` or `[[name]]`, keys are `key = value`, texts are quoted";
        source.problem(&error.span().unwrap_or(0..0), "", message, help)
    })?;
    let root = Table::whole(source, &document, &SECTIONS)?;
    let start = root.need("system", "begin with `[system]` and `name = \"...\"`")?;
    let mut system = empty(source, &start.table(&SYSTEM_KEYS)?)?;
    let sections = Sections::read(&root, system.cpus)?;
    read_pools(&root, &mut system)?;
    for table in &sections.endpoints.tables {
        let endpoint = endpoint(table, &sections, &system)?;
        system.endpoints.push(endpoint);
    }
    system.notifications = sections
        .notifications
        .names
        .iter()
        .map(|name| Notification { name: name.to_string() })
        .collect();
    for table in &sections.interrupts.tables {
        let interrupt = interrupt(table, &sections, &system)?;
        system.interrupts.push(interrupt);
    }
    for table in &sections.timers.tables {
        let (name, notification, badge) = signal(table, &sections)?;
        system.timers.push(Timer { name, notification, badge });
    }
    for (table, name) in sections.memories.tables.iter().zip(&sections.memories.names) {
        let size = table.need("size", "say how large it is, for instance `size = \"64K\"`")?;
        let host = table.get("host").map_or(Ok(false), |value| value.flag())?;
        let bytes = size.size(abi::PAGE..=RAM[1])?;
        system.memories.push(Memory { name: name.to_string(), bytes, host });
    }
    system.trace = trace(&root, &sections, &system)?;
    if sections.domains.tables.is_empty() {
        let help = "add `[[domain]]` with a `name` and a `program`";
        return Err(root.problem("the system has no domain, so nothing would run", help));
    }
    for table in &sections.domains.tables {
        system.domains.push(domain::read(table, &sections)?);
    }
    Ok(system)
}

/// The system that `[system]` describes, without objects.
fn empty(source: &Source, table: &Table) -> Result<System, Problem> {
    let name = table.need("name", "give the system a name: `name = \"...\"`")?;
    let about = table.get("about").map_or(Ok(String::new()), |value| value.line())?;
    let kernel = table.get("kernel");
    let kernel = kernel.map_or(Ok(KERNELS[0]), |value| value.one_of("kernel", &KERNELS))?;
    let memory = table.get("memory");
    let memory_at = memory.as_ref().map_or(table.span.clone(), |value| value.span.clone());
    let tick = table.get("tick");
    let tick = tick.map_or(Ok(DEFAULT_TICK), |value| value.duration(10 * MICROSECOND..=SECOND))?;
    let cpus = table.get("cpus").map_or(Ok(1), |value| value.number(1..=MOST_CPUS))? as u32;
    Ok(System {
        name: name.name(LONGEST_NAME)?.into(),
        about,
        kernel: kernel.into(),
        memory: memory.map_or(Ok(DEFAULT_RAM), |value| value.size(RAM[0]..=RAM[1]))?,
        tick,
        timeslice: timeslice(table, tick)?,
        cpus,
        locking: locking(table, cpus)?,
        purge: match table.get("purge") {
            Some(value) => value.number(0..=MOST_OBJECTS)? as u32,
            None => DEFAULT_PURGE,
        },
        preempt_chains: table.get("preempt_chains").map_or(Ok(true), |value| value.flag())?,
        pools: Default::default(),
        endpoints: Vec::new(),
        notifications: Vec::new(),
        interrupts: Vec::new(),
        timers: Vec::new(),
        memories: Vec::new(),
        domains: Vec::new(),
        trace: None,
        source: source.clone(),
        memory_at,
    })
}

/// What guards the kernel, if the manifest says.
fn locking(table: &Table, cpus: u32) -> Result<Option<String>, Problem> {
    let Some(value) = table.get("locking") else { return Ok(None) };
    let locking = value.one_of("locking", &LOCKINGS)?;
    if locking == NO_LOCKING && cpus > 1 {
        let message = format!("a kernel without locks cannot have {cpus} CPUs");
        return Err(value.problem(message, format!("take one of {}", LOCKINGS[1..].join(", "))));
    }
    Ok(Some(locking.into()))
}

fn timeslice(table: &Table, tick: u64) -> Result<u64, Problem> {
    let Some(value) = table.get("timeslice") else { return Ok(DEFAULT_SLICE * tick) };
    let slice = value.duration(10 * MICROSECOND..=100 * SECOND)?;
    if !slice.is_multiple_of(tick) {
        let (tick_text, slice_text) = (spell_duration(tick), spell_duration(slice));
        let message = format!("a time slice of {slice_text} is not a multiple of the tick");
        let help = format!(
            "the tick is {tick_text}: {:?} would do",
            spell_duration(slice.next_multiple_of(tick))
        );
        return Err(value.problem(message, help));
    }
    Ok(slice)
}

/// The sizes that the manifest gives; those that it leaves out stay zero.
fn read_pools(root: &Table, system: &mut System) -> Result<(), Problem> {
    let Some(pools) = root.get("pools") else { return Ok(()) };
    let pools = pools.table(&Resource::ALL.map(Resource::name))?;
    for resource in Resource::ALL {
        if let Some(value) = pools.get(resource.name()) {
            let size = value.number(1..=MOST_OBJECTS)?;
            system.pools[resource as usize] =
                Pool { size, given_at: Some(value.span), ..Pool::default() };
        }
    }
    Ok(())
}

/// The trace, if the manifest asks for one.
fn trace(root: &Table, sections: &Sections, system: &System) -> Result<Option<Trace>, Problem> {
    let Some(value) = root.get("trace") else { return Ok(None) };
    let table = value.table(&["memory", "keep"])?;
    let named = table.need("memory", "say where it goes: `memory = \"NAME\"`")?;
    let memory = sections.memories.find(&named)?;
    if system.memories[memory].bytes < 2 * abi::PAGE {
        let message = "this memory has no room for a record behind the trace's header";
        return Err(named.problem(message, "give it two pages at least, `size = \"8K\"`"));
    }
    let keep = match table.get("keep") {
        Some(value) if value.one_of("keep", &["first", "last"])? == "last" => Keep::Last,
        _ => Keep::First,
    };
    Ok(Some(Trace { memory, keep, events: Event::EVERY }))
}

fn endpoint(table: &Table, sections: &Sections, system: &System) -> Result<Endpoint, Problem> {
    let name = table.need("name", "give it a `name`")?.text()?.to_string();
    let Some(value) = table.get("notification") else {
        return Ok(Endpoint { name, notification: None });
    };
    let notification = Some(sections.notifications.find(&value)?);
    if let Some(other) = system.endpoints.iter().find(|other| other.notification == notification) {
        let message = format!("endpoint `{}` has this notification attached already", other.name);
        return Err(value.problem(message, "a notification is attached to one endpoint at most"));
    }
    Ok(Endpoint { name, notification })
}

fn interrupt(table: &Table, sections: &Sections, system: &System) -> Result<Interrupt, Problem> {
    let line = table.need("line", "say which line, for instance `line = 4`")?;
    let number = line.number(0..=LAST_LINE)? as u32;
    if let Some(other) = system.interrupts.iter().find(|other| other.line == number) {
        let message = format!("line {number} belongs to interrupt `{}` already", other.name);
        let help = "a line has one interrupt; let further domains share its notification";
        return Err(line.problem(message, help));
    }
    let (name, notification, badge) = signal(table, sections)?;
    Ok(Interrupt { name, line: number, notification, badge })
}

/// Name, notification and badge of an object that signals.
fn signal(table: &Table, sections: &Sections) -> Result<(String, usize, u64), Problem> {
    let name = table.need("name", "give it a `name`")?.text()?.to_string();
    let help = "say what it signals: `notification = \"NAME\"`";
    let notification = sections.notifications.find(&table.need("notification", help)?)?;
    let badge = table.get("badge").map_or(Ok(1), |value| signalled_bits(&value))?;
    Ok((name, notification, badge))
}

fn signalled_bits(value: &Value) -> Result<u64, Problem> {
    let bits = value.number(0..=u64::MAX)?;
    if bits == 0 {
        return Err(value.problem("a badge of 0 signals nothing", "set at least one bit"));
    }
    Ok(bits)
}
