//! Checking one `[[domain]]`.

use abi::{Kind, Rights};
use toml::Spanned;

use crate::layout;
use crate::problem::{Problem, is_name, quote};
use crate::program;
use crate::reservation;
use crate::rights;
use crate::schema;
use crate::sharing;
use crate::suggest::{hint, list};
use crate::supervised;
use crate::system::{Capability, Domain, FaultHandler, Map};
use crate::target::Target;
use crate::units::spell_size;
use crate::values::{LONGEST_NAME, MOST_OBJECTS, Values, repeated};

const DEFAULT_SLOTS: u64 = 64;
const MOST_SLOTS: u64 = 1 << 16;
const DEFAULT_STACK: u64 = 16 << 10;
const MOST_STACK: u64 = 16 << 20;
const MOST_LOG: u64 = 16 << 20;
const MOST_THREADS: u64 = 4096;
/// The largest heap.
const MOST_HEAP: u64 = 512 << 20;

/// Reads a domain of a machine with so many CPUs; or all that is wrong with it.
pub fn read(
    values: &Values,
    table: &Spanned<schema::Domain>,
    cpus: u32,
) -> Result<Domain, Vec<Problem>> {
    whole(values, table, cpus).map_err(|first| {
        let mut all = parts(values, table, cpus);
        // What is wrong of the parts together shows only if each is right.
        if all.is_empty() {
            all.push(first);
        }
        all
    })
}

/// What is wrong with each part of a domain by itself.
fn parts(values: &Values, table: &Spanned<schema::Domain>, cpus: u32) -> Vec<Problem> {
    let given = table.get_ref();
    let priority = values.within(&given.priority, 0..=255);
    let cpu = values.number(&given.cpu, 0, 0..=u64::from(cpus) - 1);
    let size = |size: &Option<schema::Word>, most: u64| {
        size.as_ref().and_then(|size| values.size(size, abi::PAGE..=most).err())
    };
    let lasting = given.restart.is_some();
    let caps = given.caps.iter();
    let caps = caps.filter_map(|cap| capability(values, cap, lasting, cpus).err());
    let first = [
        program::read(values, &given.program).err(),
        priority.as_ref().err().cloned(),
        priority.ok().and_then(|priority| max_priority(values, given, priority).err()),
        slots(values, table).err(),
        size(&given.stack, MOST_STACK),
        size(&given.heap, MOST_HEAP),
        size(&given.log, MOST_LOG),
        values.number(&given.threads, 1, 1..=MOST_THREADS).err(),
        cpu.as_ref().err().cloned(),
        cpu.ok().and_then(|cpu| allowed_cpus(values, given, cpus, cpu as u32).err()),
        values.amounts(&given.quota, 0..=MOST_OBJECTS).err(),
        reservation::load(values, given).err(),
        sharing::of_domain(values, given).err(),
        sharing::tasks(values, given).err(),
        fault_handler(values, given).err(),
        supervised::restart(values, table).err(),
        repeated_map(values, given).err(),
        repeated_capability(values, given).err(),
    ];
    let maps = given.maps.iter().filter_map(|one| map(values, one).err());
    let args = given.args.iter().filter_map(|one| argument(values, one).err());
    first.into_iter().flatten().chain(args).chain(maps).chain(caps).collect()
}

/// Reads a domain; or the first that is wrong with it.
fn whole(values: &Values, table: &Spanned<schema::Domain>, cpus: u32) -> Result<Domain, Problem> {
    let given = table.get_ref();
    let priority = values.within(&given.priority, 0..=255)?;
    let (stack, heap) = (given.stack.as_ref(), given.heap.as_ref());
    let quota = values.amounts(&given.quota, 0..=MOST_OBJECTS)?;
    let cpu = values.number(&given.cpu, 0, 0..=u64::from(cpus) - 1)? as u32;
    let (program, origin) = program::read(values, &given.program)?;
    let domain = Domain {
        name: given.name.get_ref().clone(),
        program,
        origin,
        program_at: given.program.span(),
        priority: priority as u8,
        max_priority: max_priority(values, given, priority)?,
        slots: slots(values, table)?,
        stack: stack.map_or(Ok(DEFAULT_STACK), |size| values.size(size, abi::PAGE..=MOST_STACK))?,
        heap: heap.map_or(Ok(0), |size| values.size(size, abi::PAGE..=MOST_HEAP))?,
        threads: values.number(&given.threads, 1, 1..=MOST_THREADS)? as u32,
        log: given.log.as_ref().map(|size| values.size(size, abi::PAGE..=MOST_LOG)).transpose()?,
        cpu,
        cpus: allowed_cpus(values, given, cpus, cpu)?,
        reservation: None,
        load: reservation::load(values, given)?,
        sections: sharing::of_domain(values, given)?,
        tasks: sharing::tasks(values, given)?,
        quota: quota.map(|amount| amount.map_or(0, |(number, _)| number)),
        args: given.args.iter().map(|one| argument(values, one)).collect::<Result<_, _>>()?,
        fault_handler: fault_handler(values, given)?,
        may_fault: given.may_fault,
        restart: supervised::restart(values, table)?,
        maps: maps(values, given)?,
        caps: capabilities(values, given, cpus)?,
    };
    let room = layout::STACKS - layout::BUFFERS;
    let used = u64::from(domain.threads) * (layout::BUFFER_STRIDE + domain.stack + abi::PAGE);
    if used > room {
        let [stack, used, room] = [domain.stack, used, room].map(spell_size);
        let message = format!(
            "{} threads with stacks of {stack} need {used} of address space, there are {room}",
            domain.threads
        );
        return Err(values.problem(table, message, "lower `threads` or `stack`"));
    }
    Ok(domain)
}

/// The CPUs that the domain's threads may use, that of the first one among them.
fn allowed_cpus(
    values: &Values,
    given: &schema::Domain,
    count: u32,
    first: u32,
) -> Result<Option<u64>, Problem> {
    let Some(list) = &given.cpus else { return Ok(None) };
    let mut cpus = 0;
    for item in list.get_ref() {
        cpus |= 1 << values.within(item, 0..=u64::from(count) - 1)?;
    }
    if cpus >> first & 1 == 0 {
        let message = format!("CPU {first}, on which the first thread runs, is not among `cpus`");
        let help = format!("add {first} to `cpus`, or set `cpu` to one of them");
        return Err(values.problem(list, message, help));
    }
    Ok(Some(cpus))
}

fn max_priority(values: &Values, given: &schema::Domain, first: u64) -> Result<u8, Problem> {
    let Some(number) = &given.max_priority else { return Ok(first as u8) };
    let highest = values.within(number, 0..=255)?;
    if highest < first {
        let message = format!("priority {first} is above max_priority {highest}");
        let help = format!("lower `priority`, or raise `max_priority` to {first} at least");
        return Err(values.problem(number, message, help));
    }
    Ok(highest as u8)
}

fn slots(values: &Values, table: &Spanned<schema::Domain>) -> Result<u32, Problem> {
    let given = table.get_ref();
    let (slots, caps) = (&given.slots, given.caps.len() as u64);
    let count = values.number(slots, DEFAULT_SLOTS, 2..=MOST_SLOTS)?;
    if caps < count {
        return Ok(count as u32);
    }
    let message = format!("{caps} capabilities do not fit into a table of {count} slots");
    let help = format!("slot 0 stays empty: write `slots = {}` or more", caps + 1);
    let at = slots.as_ref().map_or(table.span(), |slots| slots.span());
    Err(values.source.problem(&at, message, help))
}

/// Name and value of an argument.
fn argument(
    values: &Values,
    (key, value): (&schema::Word, &Spanned<toml::Value>),
) -> Result<(String, String), Problem> {
    let name = key.get_ref();
    if !is_name(name) {
        let message = format!("{} is not a name of an argument", quote(name));
        return Err(values.problem(key, message, "use letters, digits, `-` and `_`"));
    }
    Ok((name.clone(), values.line(value)?))
}

fn fault_handler(values: &Values, given: &schema::Domain) -> Result<Option<FaultHandler>, Problem> {
    match (&given.fault_handler, &given.fault_badge) {
        (Some(handler), badge) => {
            let endpoint = values.find("endpoint", handler)?;
            let badge = values.number(badge, 0, 0..=u64::MAX)?;
            Ok(Some(FaultHandler { endpoint, badge }))
        }
        (None, Some(badge)) => {
            let help = "add `fault_handler = \"ENDPOINT\"`, or leave `fault_badge` out";
            Err(values.problem(badge, "there is no fault handler", help))
        }
        (None, None) => Ok(None),
    }
}

fn maps(values: &Values, given: &schema::Domain) -> Result<Vec<Map>, Problem> {
    repeated_map(values, given)?;
    given.maps.iter().map(|one| map(values, one)).collect()
}

fn repeated_map(values: &Values, given: &schema::Domain) -> Result<(), Problem> {
    let Some((_, again)) = repeated(&given.maps, |map| Some(map.memory.get_ref())) else {
        return Ok(());
    };
    let message = format!("{} is mapped twice", quote(again.memory.get_ref()));
    Err(values.problem(&again.memory, message, "leave one of the two out"))
}

fn map(values: &Values, given: &schema::Map) -> Result<Map, Problem> {
    let memory = values.find("memory", &given.memory)?;
    Ok(Map { memory, rights: mapping_rights(values, &given.rights)? })
}

fn mapping_rights(values: &Values, word: &schema::Word) -> Result<Rights, Problem> {
    let text = word.get_ref().as_str();
    Ok(match text {
        "r" => Rights::READ,
        "rw" => Rights::READ.or(Rights::WRITE),
        "rx" => Rights::READ.or(Rights::EXECUTE),
        _ if text.contains('w') && text.contains('x') => {
            let message = format!("{} would be writable and executable", quote(text));
            let help = "map the memory \"rw\" or \"rx\"; a program can change a mapping later";
            return Err(values.problem(word, message, help));
        }
        _ => {
            let message = format!("{} are no rights of a mapping", quote(text));
            return Err(values.problem(word, message, "write \"r\", \"rw\" or \"rx\""));
        }
    })
}

fn capabilities(
    values: &Values,
    given: &schema::Domain,
    cpus: u32,
) -> Result<Vec<Capability>, Problem> {
    repeated_capability(values, given)?;
    let lasting = given.restart.is_some();
    given.caps.iter().map(|cap| capability(values, cap, lasting, cpus)).collect()
}

fn repeated_capability(values: &Values, given: &schema::Domain) -> Result<(), Problem> {
    let repeated = repeated(&given.caps, |cap| Some(cap.get_ref().name.get_ref()));
    let Some((_, again)) = repeated else { return Ok(()) };
    let name = &again.get_ref().name;
    let message = format!("two capabilities of the domain are called {}", quote(name.get_ref()));
    Err(values.problem(name, message, "give each a name of its own"))
}

/// A capability; `lasting`: of a domain that is restarted, for which the object has to last.
fn capability(
    values: &Values,
    entry: &Spanned<schema::Capability>,
    lasting: bool,
    cpus: u32,
) -> Result<Capability, Problem> {
    let given = entry.get_ref();
    let target = target(values, entry, cpus)?;
    let kind = target.kind();
    let rights = match &given.rights {
        _ if given.supervisor.is_some() => supervised::client_rights(values, given)?,
        Some(list) => cap_rights(values, list, target)?,
        None => rights::by_default(target),
    };
    let rights = if lasting { supervised::lasting_rights(values, given, rights)? } else { rights };
    if let Some(badge) = &given.badge
        && !matches!(kind, Kind::Endpoint | Kind::Notification)
    {
        let message = format!("a capability to {} has no badge", rights::with_article(kind));
        let help = "only endpoints and notifications tell badges apart: leave `badge` out";
        return Err(values.problem(badge, message, help));
    }
    let badge = values.number(&given.badge, 0, 0..=u64::MAX)?;
    let name = values.name(&given.name, LONGEST_NAME)?;
    Ok(Capability { name, target, rights, badge, is_kept: false })
}

/// The one object that a capability names.
fn target(
    values: &Values,
    entry: &Spanned<schema::Capability>,
    cpus: u32,
) -> Result<Target, Problem> {
    let cap = entry.get_ref();
    let words = [
        ("endpoint", &cap.endpoint),
        ("notification", &cap.notification),
        ("interrupt", &cap.interrupt),
        ("timer", &cap.timer),
        ("memory", &cap.memory),
        ("domain", &cap.domain),
        ("thread", &cap.thread),
        ("reservation", &cap.reservation),
    ];
    let flags =
        [("console", &cap.console), ("system", &cap.system), ("supervisor", &cap.supervisor)];
    let kinds: Vec<&str> = words.iter().map(|it| it.0).chain(flags.map(|it| it.0)).collect();
    let words = words.into_iter().filter_map(|(kind, word)| Some((kind, word.as_ref()?)));
    let flags = flags.into_iter().filter_map(|(kind, flag)| Some((kind, flag.as_ref()?)));
    let (words, flags): (Vec<_>, Vec<_>) = (words.collect(), flags.collect());
    let spans = words.iter().map(|(kind, word)| (kind, word.span()));
    let mut named = spans.chain(flags.iter().map(|(kind, flag)| (kind, flag.span())));
    if let (Some((kind, _)), Some((other, at))) = (named.next(), named.next()) {
        let message = format!("the capability names two objects, `{kind}` and `{other}`");
        let help = "write two capabilities, each with its own name";
        return Err(values.source.problem(&at, message, help));
    }
    match (words.first(), flags.first()) {
        (Some(("reservation", word)), _) => reservation::target(values, word, cpus),
        (Some((kind, word)), _) => named_object(values, kind, word),
        (None, Some((kind, flag))) if !flag.get_ref() => {
            let help = format!("write `{kind} = true`, or leave the capability out");
            Err(values.problem(flag, format!("`{kind}` can only be true"), help))
        }
        (None, Some(("console", _))) => Ok(Target::Console),
        (None, Some(("system", _))) => Ok(Target::System),
        // The supervisor's endpoint comes behind those of the manifest.
        (None, Some(_)) => Ok(Target::Endpoint(values.count("endpoint"))),
        (None, None) => {
            let help = format!("add one of {}", list(&kinds));
            Err(values.problem(entry, "the capability names no object", help))
        }
    }
}

fn named_object(values: &Values, kind: &str, word: &schema::Word) -> Result<Target, Problem> {
    Ok(match kind {
        "endpoint" => Target::Endpoint(values.find("endpoint", word)?),
        "notification" => Target::Notification(values.find("notification", word)?),
        "interrupt" => Target::Interrupt(values.find("interrupt", word)?),
        "timer" => Target::Timer(values.find("timer", word)?),
        "memory" => Target::Memory(values.find("memory", word)?),
        "domain" => Target::Domain(values.find("domain", word)?),
        _ => Target::Thread(values.find("domain", word)?),
    })
}

fn cap_rights(
    values: &Values,
    given: &Spanned<Vec<schema::Word>>,
    target: Target,
) -> Result<Rights, Problem> {
    let (kind, known) = (target.kind(), rights::of(target));
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let mut rights = Rights::NONE;
    for item in given.get_ref() {
        let word = item.get_ref();
        let Some((_, right)) = known.iter().find(|(name, _)| name == word) else {
            let kind = rights::with_article(kind);
            let message = format!("a capability to {kind} has no right {}", quote(word));
            let help = hint(word, &format!("rights to {kind}"), &names);
            return Err(values.problem(item, message, help));
        };
        rights = rights.or(*right);
    }
    if rights == Rights::NONE {
        let help = format!("list some of {}, or leave `rights` out for all", list(&names));
        return Err(values.problem(given, "the capability has no rights", help));
    }
    Ok(rights)
}
