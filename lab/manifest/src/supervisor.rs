//! The domain that the laboratory adds where others are supervised.

use abi::Rights;
use abi::object::Resource;
use abi::reservation::{Budget, LEVELS, SHORTEST, Server};
use abi::supervision::{
    BEATS, CHILD_BADGE, FAULTS, JOURNAL_BYTES, MISSED, MOST_CHILDREN, NUDGE, NUDGE_BADGE, TIMES,
    WATCH, WATCH_LEAF,
};

use crate::memory::Memory;
use crate::owned;
use crate::problem::Problem;
use crate::schema::Manifest;
use crate::system::{Capability, Domain, Endpoint, Map, Monitor, Notification, Reaction, System};
use crate::target::Target;
use crate::units::spell_duration;
use crate::values::Values;

/// The supervisor's domain, and its program, and its endpoint.
pub const DOMAIN: &str = "supervisor";
/// The memory in which it notes what has happened.
pub const JOURNAL: &str = "supervisor-journal";
/// The notification that wakes the thread that prints.
const NEWS: &str = "supervisor-news";
/// The names of its objects, by kind.
pub const NAMES: [(&str, &str); 9] = [
    ("domain", DOMAIN),
    ("reservation", DOMAIN),
    ("reservation", WATCH),
    ("endpoint", DOMAIN),
    ("notification", BEATS),
    ("notification", NEWS),
    ("notification", TIMES),
    ("notification", WATCH),
    ("memory", JOURNAL),
];
/// Its stack: what it knows of each child stands there.
const STACK: u64 = 64 << 10;
/// Its budget and its period where children have reservations: about five restarts.
const LIMIT: [u64; 2] = [1_000_000, 20_000_000];
/// The longest period that it can be given.
const LONGEST_PERIOD: u64 = 1_000_000_000;
/// Budget and period of the thread that watches heartbeats where anybody has a reservation.
const WATCH_LIMIT: [u64; 2] = [200_000, 20_000_000];
/// Slots for each child, for its domain and its memory, and for what it holds for a moment.
const SLOTS: [u64; 2] = [2, 8];

/// Orders the domains and adds the supervisor, if any are supervised.
pub fn add(values: &Values, manifest: &Manifest, system: &mut System) -> Result<(), Problem> {
    if system.domains.iter().all(|domain| domain.restart.is_none()) {
        return Ok(());
    }
    let booted = order(system);
    system.supervisor = Some(booted);
    system.owned = owned::by_children(system, booted);
    let beats_at = system.notifications.len();
    for name in [BEATS, NEWS] {
        system.notifications.push(Notification { name: name.to_string() });
    }
    // Where `supervisor = true` stands for it.
    assert_eq!(system.endpoints.len(), values.count("endpoint"));
    let endpoint = Target::Endpoint(system.endpoints.len());
    let notification = times(system, booted);
    system.endpoints.push(Endpoint { name: DOMAIN.to_string(), notification, serves: false });
    let journal = Memory::ram(JOURNAL, pages(JOURNAL_BYTES), true);
    system.memories.push(journal);
    let beats = Target::Notification(beats_at);
    for (number, child) in system.domains[booted..].iter_mut().enumerate() {
        child.caps.push(cap(FAULTS, endpoint, Rights::SEND, CHILD_BADGE | number as u64));
        if child.restart.as_ref().is_some_and(|restart| restart.heartbeat.is_some()) {
            child.caps.push(cap(BEATS, beats, Rights::SEND, 1 << number));
        }
    }
    let news = Target::Notification(beats_at + 1);
    let mut caps = vec![
        cap("console", Target::Console, Rights::CONTROL, 0),
        cap(DOMAIN, endpoint, Rights::RECEIVE, 0),
        cap(BEATS, beats, Rights::RECEIVE, 0),
        cap(NEWS, news, Rights::SEND.or(Rights::RECEIVE), 1),
    ];
    if let Some(times) = notification {
        caps.push(cap(TIMES, Target::Notification(times), Rights::RECEIVE, 0));
    }
    let watched = watch(system, booted, endpoint, &mut caps);
    let children = &system.domains[booted..];
    caps.extend(
        children.iter().enumerate().flat_map(|(number, child)| held(system, number, child)),
    );
    caps.extend(system.owned.iter().map(|(target, _)| owned::cap(system, *target)));
    let mut supervisor = domain(values, manifest, system, caps)?;
    if let Some(priority) = watched {
        supervisor.threads += 1;
        supervisor.quota[Resource::Threads as usize] += 1;
        supervisor.max_priority = supervisor.max_priority.max(priority);
        supervisor.args.push(("watch_priority".to_string(), priority.to_string()));
    }
    let limit = limit(values, manifest, system)?;
    supervisor.reservation = limit.map(|limit| system.add_leaf(DOMAIN, LEVELS - 1, limit));
    let shift = |domain: &mut Domain| {
        let restart = domain.restart.as_mut();
        restart.into_iter().for_each(|it| it.depends.iter_mut().for_each(|index| *index += 1));
    };
    system.domains[booted..].iter_mut().for_each(shift);
    system.domains.insert(booted, supervisor);
    Ok(())
}

/// The notification by which the supervisor is told of children that run out of time, if any are
/// to be restarted for that. It comes through the supervisor's endpoint.
fn times(system: &mut System, booted: usize) -> Option<usize> {
    let notification = system.notifications.len();
    let mut is_told = false;
    for (number, child) in system.domains[booted..].iter().enumerate() {
        let Some(leaf) = child.reservation.and_then(|leaf| system.reservations.get_mut(leaf))
        else {
            continue;
        };
        let bit = |reaction, bit: u32| if reaction == Reaction::Restart { 1 << bit } else { 0 };
        let overran = bit(leaf.overrun, number as u32);
        let missed = bit(leaf.miss, number as u32 + MISSED);
        if overran | missed != 0 {
            leaf.monitor = Some(Monitor { notification, missed, overran });
            is_told = true;
        }
    }
    if !is_told {
        return None;
    }
    system.notifications.push(Notification { name: TIMES.to_string() });
    Some(notification)
}

/// What the thread needs that watches heartbeats, if there are any. Its priority is above that of
/// all domains, where there is a higher one: it is to see also what keeps the supervisor from the
/// CPU. With reservations it has one of its own, above all others.
fn watch(
    system: &mut System,
    booted: usize,
    endpoint: Target,
    caps: &mut Vec<Capability>,
) -> Option<u8> {
    let beats = |domain: &Domain| domain.restart.as_ref().is_some_and(|it| it.heartbeat.is_some());
    if !system.domains[booted..].iter().any(beats) {
        return None;
    }
    let notification = Target::Notification(system.notifications.len());
    system.notifications.push(Notification { name: WATCH.to_string() });
    caps.extend([
        cap(WATCH, notification, Rights::SEND.or(Rights::RECEIVE), 1),
        cap(NUDGE, endpoint, Rights::SEND, NUDGE_BADGE),
        cap("system", Target::System, Rights::CONTROL, 0),
    ]);
    if !system.reservations.is_empty() {
        let [budget, period] = WATCH_LIMIT;
        let limit = Budget::new(Server::Sporadic, budget, period);
        let leaf = Target::Reservation(system.add_leaf(WATCH, LEVELS - 1, limit));
        caps.push(cap(WATCH_LEAF, leaf, Rights::RESERVE, 0));
    }
    let highest = system.domains.iter().map(|domain| domain.max_priority).max();
    Some(highest.unwrap_or(0).saturating_add(1))
}

/// Puts domains that boot in front of the supervised ones, and each of these behind those that it
/// depends on. Returns how many boot.
fn order(system: &mut System) -> usize {
    let domains = std::mem::take(&mut system.domains);
    let depends = |index: usize| {
        domains[index].restart.as_ref().map_or(&[][..], |restart| &restart.depends[..])
    };
    let boots = |index: &usize| domains[*index].restart.is_none();
    let (mut order, mut left): (Vec<usize>, Vec<usize>) = (0..domains.len()).partition(boots);
    let booted = order.len();
    while let Some(next) =
        left.iter().position(|one| depends(*one).iter().all(|other| order.contains(other)))
    {
        order.push(left.remove(next));
    }
    assert!(left.is_empty(), "no domain depends on itself");
    let place =
        |index: usize| order.iter().position(|other| *other == index).expect("all are there");
    let mut moved: Vec<Domain> = order.iter().map(|index| domains[*index].clone()).collect();
    moved.iter_mut().for_each(|domain| domain.renumber(place));
    system.domains = moved;
    booted
}

impl Domain {
    /// Names domains by the places that they have now.
    pub(crate) fn renumber(&mut self, place: impl Fn(usize) -> usize) {
        for cap in &mut self.caps {
            cap.target = match cap.target {
                Target::Domain(index) => Target::Domain(place(index)),
                Target::Thread(index) => Target::Thread(place(index)),
                other => other,
            };
        }
        let restart = self.restart.as_mut();
        let depends = restart.into_iter().flat_map(|restart| &mut restart.depends);
        depends.for_each(|index| *index = place(*index));
    }
}

/// What the supervisor holds for a child.
fn held(system: &System, number: usize, child: &Domain) -> Vec<Capability> {
    let readable = Rights::READ.or(Rights::EXECUTE);
    let mut held = vec![cap(&image_name(child), Target::Image(number), readable, 0)];
    if let Some((notification, badge)) = child.restart.as_ref().and_then(|restart| restart.told) {
        held.push(cap(&told_name(child), Target::Notification(notification), Rights::SEND, badge));
    }
    if let Some(leaf) = child.reservation {
        held.push(cap(&leaf_name(child), Target::Reservation(leaf), Rights::RESERVE, 0));
    }
    held.extend(
        child
            .maps
            .iter()
            .map(|map| for_map(child, &system.memories[map.memory].name, map.memory, map.rights)),
    );
    let copied = |own: &Capability| Capability {
        name: cap_name(child, &own.name),
        rights: own.rights.or(Rights::COPY),
        is_kept: true,
        ..own.clone()
    };
    held.extend(child.caps.iter().map(copied));
    held
}

/// What the supervisor holds for a memory that a child maps.
pub fn for_map(child: &Domain, name: &str, memory: usize, rights: Rights) -> Capability {
    cap(&map_name(child, name), Target::Memory(memory), rights, 0)
}

/// The supervisor's names for what it holds for a child: the image, the notification that is told,
/// the leaf that it runs on, a memory that the child maps, and a capability of the child's.
pub fn image_name(child: &Domain) -> String {
    format!("{}.image", child.name)
}

/// See [`image_name`].
pub fn told_name(child: &Domain) -> String {
    format!("{}.told", child.name)
}

/// See [`image_name`].
pub fn leaf_name(child: &Domain) -> String {
    format!("{}.reservation", child.name)
}

/// See [`image_name`].
pub fn map_name(child: &Domain, memory: &str) -> String {
    format!("{}.map.{memory}", child.name)
}

/// See [`image_name`].
pub fn cap_name(child: &Domain, name: &str) -> String {
    format!("{}.cap.{name}", child.name)
}

fn cap(name: &str, target: Target, rights: Rights, badge: u64) -> Capability {
    Capability { name: name.to_string(), target, rights, badge, is_kept: false }
}

fn pages(bytes: u64) -> u64 {
    bytes.next_multiple_of(abi::PAGE)
}

/// What the supervisor may use of the CPU, above all that it makes: where that has reservations, a
/// priority alone would be below it. Its budget waits for the next failure, whenever that comes.
fn limit(values: &Values, manifest: &Manifest, system: &System) -> Result<Option<Budget>, Problem> {
    let given = manifest.supervisor.as_ref();
    let [budget, period] =
        [given.and_then(|it| it.budget.as_ref()), given.and_then(|it| it.period.as_ref())];
    let mut children = system.domains.iter().filter(|domain| domain.restart.is_some());
    if children.all(|child| child.reservation.is_none()) {
        let Some((word, key)) = budget.map(|it| (it, "budget")).or(period.map(|it| (it, "period")))
        else {
            return Ok(None);
        };
        let message = format!("`{key}` means nothing here: no supervised domain has a reservation");
        return Err(values.problem(word, message, "leave it out"));
    }
    let [usual, usual_period] = LIMIT;
    let limit = Budget::new(
        Server::Sporadic,
        budget.map_or(Ok(usual), |word| values.budget(word, LONGEST_PERIOD))?,
        period.map_or(Ok(usual_period), |it| values.duration(it, SHORTEST..=LONGEST_PERIOD))?,
    );
    if limit.budget <= limit.period {
        return Ok(Some(limit));
    }
    let [budget_is, period_is] = [limit.budget, limit.period].map(spell_duration);
    let message = format!("a budget of {budget_is} exceeds its period of {period_is}");
    let at = budget.or(period).map_or(0..0, |word| word.span());
    Err(values.source.problem(&at, message, "lower `budget`, or lengthen `period`"))
}

/// The supervisor's domain.
fn domain(
    values: &Values,
    manifest: &Manifest,
    system: &System,
    caps: Vec<Capability>,
) -> Result<Domain, Problem> {
    let children = system.domains.iter().filter(|domain| domain.restart.is_some());
    let highest = children.map(|child| child.max_priority).max().unwrap_or(0);
    let given = manifest.supervisor.as_ref();
    let priority = match given.and_then(|it| it.priority.as_ref()) {
        None => highest.saturating_add(1),
        Some(number) => {
            let priority = values.within(number, 0..=255)? as u8;
            if priority < highest {
                let message = format!("a supervised domain may have priority {highest}");
                let help = format!("the supervisor needs as much: write {highest} or more");
                return Err(values.problem(number, message, help));
            }
            priority
        }
    };
    let log = given.map_or(&None, |it| &it.log_priority);
    let log = values.number(log, 0, 0..=u64::from(priority))?;
    let mut quota = [0; Resource::COUNT];
    quota[Resource::Threads as usize] = 1;
    let [each, all] = SLOTS;
    let free = each * MOST_CHILDREN as u64 + all;
    let rights = Rights::READ.or(Rights::WRITE);
    let journal = Map { memory: system.memories.len() - 1, rights };
    Ok(Domain {
        slots: (1 + caps.len() as u64 + free) as u32,
        stack: STACK,
        threads: 2,
        quota,
        args: vec![("log_priority".to_string(), log.to_string())],
        maps: vec![journal],
        caps,
        ..Domain::own(DOMAIN, DOMAIN, priority)
    })
}
