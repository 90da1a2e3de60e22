//! Reading one `[[domain]]`.

use abi::object::Resource;
use abi::{Kind, Rights};

use crate::layout;
use crate::problem::{Problem, quote};
use crate::read::MOST_OBJECTS;
use crate::rights;
use crate::sections::{LONGEST_NAME, Sections};
use crate::suggest::{hint, list};
use crate::system::{Capability, Domain, FaultHandler, Map, Target};
use crate::toml_value::{Table, Value, is_name};
use crate::units::spell_size;

/// The keys of a domain.
pub const KEYS: [&str; 15] = [
    "name",
    "program",
    "priority",
    "max_priority",
    "slots",
    "stack",
    "threads",
    "cpu",
    "cpus",
    "quota",
    "args",
    "fault_handler",
    "fault_badge",
    "maps",
    "caps",
];

/// What a capability can name.
const TARGETS: [&str; 9] = [
    "endpoint",
    "notification",
    "interrupt",
    "timer",
    "memory",
    "domain",
    "thread",
    "console",
    "system",
];
const CAP_KEYS: [&str; 12] = [
    "name",
    "rights",
    "badge",
    "endpoint",
    "notification",
    "interrupt",
    "timer",
    "memory",
    "domain",
    "thread",
    "console",
    "system",
];

const DEFAULT_SLOTS: u64 = 64;
const MOST_SLOTS: u64 = 1 << 16;
const DEFAULT_STACK: u64 = 16 << 10;
const MOST_STACK: u64 = 16 << 20;
const MOST_THREADS: u64 = 4096;

/// Reads a domain.
pub fn read(table: &Table, sections: &Sections) -> Result<Domain, Problem> {
    let name = table.need("name", "give the domain a `name`")?.text()?;
    let help = "say which program runs in it: `program = \"...\"`";
    let program = table.need("program", help)?;
    let help = "give the first thread a priority from 0 to 255, for instance `priority = 100`";
    let priority = table.need("priority", help)?;
    let caps = capabilities(table, sections)?;
    let domain = Domain {
        name: name.into(),
        program: program.name(LONGEST_NAME)?.into(),
        program_at: program.span.clone(),
        priority: priority.number(0..=255)? as u8,
        max_priority: max_priority(table, &priority)?,
        slots: slots(table, caps.len() as u64)? as u32,
        stack: stack(table)?,
        threads: number(table, "threads", 1, 1, MOST_THREADS)? as u32,
        cpu: number(table, "cpu", 0, 0, u64::from(sections.cpus) - 1)? as u32,
        cpus: cpus(table, sections.cpus)?,
        quota: quota(table)?,
        args: args(table)?,
        fault_handler: fault_handler(table, sections)?,
        maps: maps(table, sections)?,
        caps,
    };
    let room = layout::STACKS - layout::BUFFERS;
    let used = u64::from(domain.threads) * (layout::BUFFER_STRIDE + domain.stack + abi::PAGE);
    if used > room {
        let message = format!(
            "{} threads with stacks of {} need {} of address space, there are {}",
            domain.threads,
            spell_size(domain.stack),
            spell_size(used),
            spell_size(room)
        );
        return Err(table.problem(message, "lower `threads` or `stack`"));
    }
    Ok(domain)
}

fn number(table: &Table, key: &str, default: u64, low: u64, high: u64) -> Result<u64, Problem> {
    table.get(key).map_or(Ok(default), |value| value.number(low..=high))
}

/// The CPUs that the domain's threads may use, that of the first one among them.
fn cpus(table: &Table, count: u32) -> Result<Option<u64>, Problem> {
    let Some(list) = table.get("cpus") else { return Ok(None) };
    let mut cpus = 0;
    for item in list.items()? {
        cpus |= 1 << item.number(0..=u64::from(count) - 1)?;
    }
    let first = number(table, "cpu", 0, 0, u64::from(count) - 1)?;
    if cpus >> first & 1 == 0 {
        let message = format!("CPU {first}, on which the first thread runs, is not among `cpus`");
        let help = format!("add {first} to `cpus`, or set `cpu` to one of them");
        return Err(list.problem(message, help));
    }
    Ok(Some(cpus))
}

fn max_priority(table: &Table, priority: &Value) -> Result<u8, Problem> {
    let first = priority.number(0..=255)?;
    let Some(value) = table.get("max_priority") else { return Ok(first as u8) };
    let highest = value.number(0..=255)?;
    if highest < first {
        let message = format!("priority {first} is above max_priority {highest}");
        let help = format!("lower `priority`, or raise `max_priority` to {first} at least");
        return Err(value.problem(message, help));
    }
    Ok(highest as u8)
}

fn slots(table: &Table, caps: u64) -> Result<u64, Problem> {
    let slots = number(table, "slots", DEFAULT_SLOTS, 2, MOST_SLOTS)?;
    if caps < slots {
        return Ok(slots);
    }
    let message = format!("{caps} capabilities do not fit into a table of {slots} slots");
    let help = format!("slot 0 stays empty: write `slots = {}` or more", caps + 1);
    Err(table
        .get("slots")
        .map_or_else(|| table.problem(&message, &help), |value| value.problem(&message, &help)))
}

fn stack(table: &Table) -> Result<u64, Problem> {
    table.get("stack").map_or(Ok(DEFAULT_STACK), |value| value.size(abi::PAGE..=MOST_STACK))
}

fn quota(table: &Table) -> Result<[u64; Resource::COUNT], Problem> {
    let mut quota = [0; Resource::COUNT];
    let Some(value) = table.get("quota") else { return Ok(quota) };
    let given = value.table(&Resource::ALL.map(Resource::name))?;
    for resource in Resource::ALL {
        quota[resource as usize] = number(&given, resource.name(), 0, 0, MOST_OBJECTS)?;
    }
    Ok(quota)
}

fn args(table: &Table) -> Result<Vec<(String, String)>, Problem> {
    let Some(value) = table.get("args") else { return Ok(Vec::new()) };
    let mut args = Vec::new();
    let table = value.open_table()?;
    for (key, value) in table.entries() {
        if !is_name(key) {
            let message = format!("{} is not a name of an argument", quote(key));
            return Err(table.key_problem(key, message, "use letters, digits, `-` and `_`"));
        }
        args.push((key.to_string(), value.line()?));
    }
    Ok(args)
}

fn fault_handler(table: &Table, sections: &Sections) -> Result<Option<FaultHandler>, Problem> {
    let badge = table.get("fault_badge");
    let Some(value) = table.get("fault_handler") else {
        let help = "add `fault_handler = \"ENDPOINT\"`, or leave `fault_badge` out";
        let lonely = badge.map(|badge| badge.problem("there is no fault handler", help));
        return lonely.map_or(Ok(None), Err);
    };
    let endpoint = sections.endpoints.find(&value)?;
    let badge = badge.map_or(Ok(0), |value| value.number(0..=u64::MAX))?;
    Ok(Some(FaultHandler { endpoint, badge }))
}

fn maps(table: &Table, sections: &Sections) -> Result<Vec<Map>, Problem> {
    let mut maps: Vec<Map> = Vec::new();
    let Some(value) = table.get("maps") else { return Ok(maps) };
    for item in value.items()? {
        let entry = item.table(&["memory", "rights"])?;
        let value = entry.need("memory", "say which memory: `memory = \"NAME\"`")?;
        let memory = sections.memories.find(&value)?;
        if maps.iter().any(|map| map.memory == memory) {
            let message = format!("{} is mapped twice", quote(sections.memories.names[memory]));
            return Err(value.problem(message, "leave one of the two out"));
        }
        let rights = entry.need("rights", "say how: `rights = \"r\"`, \"rw\" or \"rx\"")?;
        maps.push(Map { memory, rights: mapping_rights(&rights)? });
    }
    Ok(maps)
}

fn mapping_rights(value: &Value) -> Result<Rights, Problem> {
    let text = value.text()?;
    Ok(match text {
        "r" => Rights::READ,
        "rw" => Rights::READ.or(Rights::WRITE),
        "rx" => Rights::READ.or(Rights::EXECUTE),
        _ if text.contains('w') && text.contains('x') => {
            let message = format!("{} would be writable and executable", quote(text));
            let help = "map the memory \"rw\" or \"rx\"; a program can change a mapping later";
            return Err(value.problem(message, help));
        }
        _ => {
            let message = format!("{} are no rights of a mapping", quote(text));
            return Err(value.problem(message, "write \"r\", \"rw\" or \"rx\""));
        }
    })
}

fn capabilities(table: &Table, sections: &Sections) -> Result<Vec<Capability>, Problem> {
    let mut caps: Vec<Capability> = Vec::new();
    let Some(value) = table.get("caps") else { return Ok(caps) };
    for item in value.items()? {
        let entry = item.table(&CAP_KEYS)?;
        let value = entry.need("name", "give the capability a `name`: programs ask for it")?;
        let name = value.name(LONGEST_NAME)?;
        if caps.iter().any(|cap| cap.name == name) {
            let message = format!("two capabilities of the domain are called {}", quote(name));
            return Err(value.problem(message, "give each a name of its own"));
        }
        caps.push(capability(&entry, name, sections)?);
    }
    Ok(caps)
}

fn capability(entry: &Table, name: &str, sections: &Sections) -> Result<Capability, Problem> {
    let mut named = TARGETS.iter().filter_map(|kind| Some((*kind, entry.get(kind)?)));
    let Some((word, value)) = named.next() else {
        let help = format!("add one of {}", list(&TARGETS));
        return Err(entry.problem("the capability names no object", help));
    };
    if let Some((other, value)) = named.next() {
        let message = format!("the capability names two objects, `{word}` and `{other}`");
        return Err(value.problem(message, "write two capabilities, each with its own name"));
    }
    let target = target(word, &value, sections)?;
    let kind = target.kind();
    let rights = entry.get("rights");
    let rights = rights.map_or(Ok(rights::all(kind)), |value| cap_rights(&value, kind))?;
    let badge = match entry.get("badge") {
        Some(value) if !matches!(kind, Kind::Endpoint | Kind::Notification) => {
            let message = format!("a capability to {} has no badge", rights::with_article(kind));
            let help = "only endpoints and notifications tell badges apart: leave `badge` out";
            return Err(value.problem(message, help));
        }
        Some(value) => value.number(0..=u64::MAX)?,
        None => 0,
    };
    Ok(Capability { name: name.into(), target, rights, badge })
}

fn target(word: &str, value: &Value, sections: &Sections) -> Result<Target, Problem> {
    Ok(match word {
        "endpoint" => Target::Endpoint(sections.endpoints.find(value)?),
        "notification" => Target::Notification(sections.notifications.find(value)?),
        "interrupt" => Target::Interrupt(sections.interrupts.find(value)?),
        "timer" => Target::Timer(sections.timers.find(value)?),
        "memory" => Target::Memory(sections.memories.find(value)?),
        "domain" => Target::Domain(sections.domains.find(value)?),
        "thread" => Target::Thread(sections.domains.find(value)?),
        _ if !value.flag()? => {
            let help = format!("write `{word} = true`, or leave the capability out");
            return Err(value.problem(format!("`{word}` can only be true"), help));
        }
        "console" => Target::Console,
        _ => Target::System,
    })
}

fn cap_rights(value: &Value, kind: Kind) -> Result<Rights, Problem> {
    let known = rights::rights_of(kind);
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let mut rights = Rights::NONE;
    for item in value.items()? {
        let word = item.text()?;
        let Some((_, right)) = known.iter().find(|(name, _)| *name == word) else {
            let kind = rights::with_article(kind);
            let message = format!("a capability to {kind} has no right {}", quote(word));
            return Err(item.problem(message, hint(word, &format!("rights to {kind}"), &names)));
        };
        rights = rights.or(*right);
    }
    if rights == Rights::NONE {
        let help = format!("list some of {}, or leave `rights` out for all", list(&names));
        return Err(value.problem("the capability has no rights", help));
    }
    Ok(rights)
}
