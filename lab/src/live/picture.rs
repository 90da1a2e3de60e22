//! A running system at one instant, more or less: rows with their names.

use super::channel::Answer;
use super::entry::{self, Entry};
use abi::boot::name_bytes;
use abi::call::ThreadState;
use abi::control::{self, Row};
use abi::reservation::{Budget, Policy, Server, Share, Timing, Window};
use anyhow::{Context, Result};
use std::collections::HashSet;

/// The class of a root.
const NONE: u64 = u32::MAX as u64;

/// A running system.
pub struct Picture {
    /// Its name.
    pub system: String,
    /// The process that runs it.
    pub pid: u32,
    /// The kernel's name.
    pub kernel: String,
    /// Nanoseconds since boot.
    pub now: u64,
    /// How many CPUs it has.
    pub cpus: u64,
    /// Its domains.
    pub domains: Vec<Domain>,
    /// Its reservations, each behind its class.
    pub reservations: Vec<Reservation>,
    /// Whether some did not fit into the answer.
    pub cut: bool,
}

/// A domain with its threads.
pub struct Domain {
    /// Its name.
    pub name: String,
    /// The highest priority of its threads.
    pub max_priority: u64,
    /// Slots of its capability table in use, and all.
    pub slots: [u64; 2],
    /// Its threads.
    pub threads: Vec<Thread>,
}

/// A thread.
pub struct Thread {
    /// Its place in the kernel's table.
    pub index: u64,
    /// The name that a program gave it.
    pub name: Option<String>,
    /// What it is doing.
    pub state: &'static str,
    /// What it waits for, if it does.
    pub awaited: Option<String>,
    /// Its own priority.
    pub priority: u64,
    /// The priority that it has now: its own, or a higher one that is lent to it.
    pub effective_priority: u64,
    /// The name of the reservation that it was given.
    pub reservation: Option<String>,
    /// CPU time in nanoseconds, if the kernel counts it.
    pub time: Option<u64>,
    /// Bytes of its stack that were in use, and all, if that was asked for.
    pub stack: Option<[u64; 2]>,
}

impl Thread {
    /// What people call it: its name, or else its place in the kernel's table.
    pub fn called(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.index.to_string())
    }
}

/// A reservation.
#[derive(Clone)]
pub struct Reservation {
    /// Its name.
    pub name: String,
    /// How far below the root of its CPU it is.
    pub depth: usize,
    /// The name of its class.
    pub class: Option<String>,
    /// Its place among all.
    pub node: u64,
    /// The policy of a class.
    pub policy: Option<Policy>,
    /// The policy of its class.
    pub above: Option<Policy>,
    /// What it is among its siblings; none for a root.
    pub share: Option<Share>,
    /// Its limit.
    pub limit: Option<Budget>,
    /// What its jobs are like.
    pub timing: Option<Timing>,
    /// Its windows, of a class of time partitions.
    pub windows: Vec<Window>,
    /// The slot by which the control domain may change it.
    pub slot: Option<u32>,
    /// Whether it waits for budget.
    pub throttled: bool,
    /// CPU time that it has had, in nanoseconds.
    pub service: u64,
    /// How often its budget was exhausted.
    pub overruns: u64,
    /// Jobs that have ended.
    pub jobs: u64,
    /// Jobs that were late.
    pub missed: u64,
    /// The longest time from a job's release to its end, if that is known.
    pub worst: Option<u64>,
    /// What follows when its budget is used up, and when a job is late, if that is not as usual.
    pub reactions: [Option<String>; 2],
}

impl Picture {
    /// The picture that an answer draws.
    pub fn of(answer: &Answer, entry: &Entry) -> Result<Picture> {
        let rows = || answer.rows.iter();
        let machine = rows().find_map(|row| match row {
            Row::Machine(machine) => Some(machine),
            _ => None,
        });
        let machine = machine.context("the answer has no row of the machine")?;
        let reservations = reservations(answer, entry);
        let mut domains: Vec<(u64, Domain)> = rows().filter_map(domain).collect();
        for row in rows() {
            let Row::Thread(row) = row else { continue };
            let owner = domains.iter_mut().find(|(index, _)| *index == row.domain);
            if let Some((_, owner)) = owner {
                let thread = thread(row, &owner.name, machine, (&reservations, entry));
                owner.threads.push(thread);
            }
        }
        Ok(Picture {
            system: entry.system.clone(),
            pid: entry.pid,
            kernel: text([machine.kernel_low, machine.kernel_high]),
            now: machine.now,
            cpus: machine.cpus,
            domains: domains.into_iter().map(|(_, domain)| domain).collect(),
            reservations,
            cut: answer.cut,
        })
    }
}

/// A name of the kernel's, of what can be shown.
fn text(words: [u64; 2]) -> String {
    let bytes = name_bytes(words);
    let shown = |byte: u8| if byte.is_ascii_graphic() { char::from(byte) } else { '?' };
    bytes.into_iter().take_while(|byte| *byte != 0).map(shown).collect()
}

fn domain(row: &Row) -> Option<(u64, Domain)> {
    let Row::Domain(row) = row else { return None };
    let name = text([row.name_low, row.name_high]);
    let domain = Domain {
        name: match (name.is_empty(), row.slots) {
            (false, _) => name,
            (true, 0) => "(idle)".to_string(),
            // The kernel names those that boot.
            (true, _) => format!("number-{}", row.index),
        },
        max_priority: row.max_priority,
        slots: [row.slots_used, row.slots],
        threads: Vec::new(),
    };
    Some((row.index, domain))
}

fn thread(
    row: &control::Thread,
    domain: &str,
    machine: &control::Machine,
    (all, entry): (&[Reservation], &Entry),
) -> Thread {
    let node = row.node_after.checked_sub(1);
    let reservation = node.and_then(|node| all.iter().find(|one| one.node == node));
    let nanoseconds = |ticks: u64| {
        let time = u128::from(ticks) * 1_000_000_000 / u128::from(machine.counter_hz.max(1));
        u64::try_from(time).unwrap_or(u64::MAX)
    };
    Thread {
        index: row.index,
        state: ThreadState::name_of(row.state).unwrap_or("?"),
        name: Some(text([row.name_low, row.name_high])).filter(|name| !name.is_empty()),
        awaited: entry.objects.spelled(row.awaits, domain, &|_| None),
        priority: row.priority,
        effective_priority: row.effective_priority,
        reservation: reservation.map(|one| one.name.clone()),
        time: (row.ticks != u64::MAX).then(|| nanoseconds(row.ticks)),
        stack: (row.stack_used != u64::MAX).then_some([row.stack_used, row.stack]),
    }
}

/// The reservations, each behind its class. Those that are in none that exists stand at the end.
fn reservations(answer: &Answer, entry: &Entry) -> Vec<Reservation> {
    let rows = answer.rows.iter().filter_map(|row| match row {
        Row::Reservation(row) => Some(row),
        _ => None,
    });
    let rows: Vec<&control::Reservation> = rows.collect();
    let held = |node: u64| {
        answer.rows.iter().find_map(|row| match row {
            Row::Held(held) if held.node == node => Some(held),
            _ => None,
        })
    };
    let mut order: Vec<(usize, usize)> = Vec::new();
    let mut seen = HashSet::new();
    // What the guest says may be a circle: each row is taken once.
    let mut open: Vec<(usize, usize)> = (0..rows.len()).rev().map(|index| (index, 0)).collect();
    let roots: Vec<_> =
        open.iter().copied().filter(|(index, _)| rows[*index].class == NONE).collect();
    open.extend(roots);
    while let Some((index, depth)) = open.pop() {
        if !seen.insert(index) {
            continue;
        }
        order.push((index, depth));
        let node = rows[index].node;
        let inside = (0..rows.len()).rev().filter(|inner| rows[*inner].class == node);
        open.extend(inside.map(|inner| (inner, depth + 1)));
    }
    let mut roots = 0;
    let mut made: Vec<Reservation> = Vec::new();
    for (index, depth) in order {
        let row = rows[index];
        let class = made.iter().find(|one| one.node == row.class);
        let is_root = row.class == NONE;
        if is_shared(row) && !rows.iter().any(|inner| inner.class == row.node) {
            continue;
        }
        let name = match is_shared(row) {
            true => Some("cpus".to_string()),
            false => is_root.then(|| format!("cpu{roots}")),
        };
        roots += u32::from(is_root);
        let mut one = reservation(row, held(row.node), entry, (class, depth, name));
        change_windows(&mut one, answer);
        made.push(one);
    }
    made
}

/// The windows that a class had at boot.
fn windows(known: &entry::Held) -> Vec<Window> {
    known
        .windows
        .iter()
        .map(|(end, partition)| Window { end: *end, partition: *partition })
        .collect()
}

/// Gives a class the windows that the answer has of it, if they were changed.
fn change_windows(one: &mut Reservation, answer: &Answer) {
    let of = |row: &Row| match row {
        Row::Window(window) if one.slot.map(u64::from) == Some(window.slot) => {
            Some(Window { end: window.end, partition: u16::try_from(window.partition).ok()? })
        }
        _ => None,
    };
    let changed: Vec<Window> = answer.rows.iter().filter_map(of).collect();
    if !changed.is_empty() {
        one.windows = changed;
    }
}

/// Whether it is the class that all CPUs share: of the roots that one alone goes by deadlines.
fn is_shared(row: &control::Reservation) -> bool {
    row.class == NONE && row.policy == Policy::EarliestDeadline as u64
}

fn reservation(
    row: &control::Reservation,
    held: Option<&control::Held>,
    entry: &Entry,
    (class, depth, name): (Option<&Reservation>, usize, Option<String>),
) -> Reservation {
    let mine = |known: &&entry::Held| {
        known.is_reservation && held.is_some_and(|held| held.slot == u64::from(known.slot))
    };
    let known = entry.held.iter().find(mine);
    let named = name.or_else(|| known.map(|known| known.name.clone()));
    let timing = match held.filter(|held| held.changed != 0) {
        Some(held) => (held.deadline != 0 || held.separation != 0)
            .then_some(Timing { deadline: held.deadline, period: held.separation }),
        None => known
            .and_then(|known| known.timing)
            .map(|[deadline, period]| Timing { deadline, period }),
    };
    let words = [row.share_a, row.share_b, row.share_c, row.share_d];
    let server = Server::ALL.into_iter().find(|server| *server as u64 == row.server);
    Reservation {
        name: named.unwrap_or_else(|| format!("number-{}", row.index)),
        depth,
        class: class.map(|class| class.name.clone()),
        node: row.node,
        policy: Policy::from_code(row.policy),
        above: class.and_then(|class| class.policy),
        share: Share::decode(row.share, words).filter(|_| row.class != NONE || is_shared(row)),
        limit: server.map(|server| Budget { server, budget: row.budget, period: row.period }),
        timing,
        windows: known.map(windows).unwrap_or_default(),
        slot: known.map(|known| known.slot),
        throttled: row.throttled != 0,
        service: row.service,
        overruns: row.overruns,
        jobs: row.jobs,
        missed: row.missed,
        worst: held.map(|held| held.worst),
        reactions: known.map(|known| known.reactions.clone()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
