//! A system with a bit of everything: four domains of four threads each, with capabilities to
//! most things in all of them, and a supervisor in a domain of its own that keeps them going.

use super::archive::{Amounts, Archive, amounts};
use super::board::Board;
use super::host::{DEVICES, Host, PORTS};
use abi::boot::{CONSOLE, Cache, NONE, SYSTEM};
use abi::object::Resource;
use abi::reservation::{Policy, Share};
use abi::{PAGE, Rights};
use kernel::sched::Scheduler;
use kernel::system::System;

/// Domains, their indices from 1.
pub const DOMAINS: u32 = 4;
/// Threads of each domain.
pub const THREADS: u32 = 4;
/// Slots in each domain's capability table.
pub const SLOTS: u64 = 64;
/// The first slot of endpoints.
pub const ENDPOINT: u64 = 1;
/// How many endpoints there are. A notification is attached to the last.
pub const ENDPOINTS: u64 = 4;
/// The first of two slots of notifications; the second one is attached.
pub const NOTIFICATION: u64 = 5;
/// Slot of the domain's timer, which signals the first notification.
pub const TIMER: u64 = 7;
/// Slot of the interrupt of the line with the domain's number; it signals the second one.
pub const INTERRUPT: u64 = 8;
/// Slot of a memory object of four pages.
pub const MEMORY: u64 = 9;
/// Slot of the console.
pub const CONSOLE_SLOT: u64 = 10;
/// Slot of the system capability.
pub const SYSTEM_SLOT: u64 = 11;
/// The first of the slots of the domain's own threads.
pub const THREAD: u64 = 12;
/// The first slot of domains: in the first domain all of them, elsewhere the domain itself.
pub const DOMAIN: u64 = 16;
/// Slot of two pages of device memory, except in the supervisor's domain.
pub const DEVICE: u64 = 18;
/// Slot of four I/O ports, except in the supervisor's domain.
pub const PORT: u64 = 19;
/// The first of three slots of reservations, where there are some: a root, a class, a leaf.
pub const RESERVATION: u64 = 21;
/// The first slot that is free.
pub const FREE: u64 = 24;
/// Index of the supervisor's domain.
pub const SUPERVISOR_DOMAIN: u32 = DOMAINS + 1;
/// Index of the supervisor, behind all other threads.
pub const SUPERVISOR: u32 = DOMAINS * THREADS + 1;
/// The supervisor's slot of the first thread; the others follow.
pub const ALL_THREADS: u64 = 30;
/// The supervisor's priority.
pub const SUPERVISOR_PRIORITY: u8 = 240;
/// The highest priority elsewhere.
pub const MAX_PRIORITY: u8 = 220;
/// Page frames of memory that a town needs.
const PAGES: usize = 1100;

/// What makes one town differ from another.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Each thread has a priority of its own.
    pub unique: bool,
    /// Fault handlers: the first endpoint.
    pub handlers: bool,
    /// Seed of interrupts.
    pub seed: u64,
}

fn priority(plan: &Plan, domain: u32, thread: u32) -> u8 {
    if plan.unique {
        (10 + (thread * 37 + domain * 11) % 101) as u8
    } else {
        (10 + (domain + thread) % 3) as u8
    }
}

fn quotas() -> Amounts {
    amounts(&[
        (Resource::Domains, 2),
        (Resource::Threads, u64::from(THREADS) + 3),
        (Resource::Endpoints, 3),
        (Resource::Notifications, 2),
        (Resource::Memories, 3),
        (Resource::Mappings, 4),
        (Resource::Timers, 2),
        (Resource::Frames, 40),
        (Resource::Tables, 24),
        (Resource::Slots, SLOTS + 100),
        (Resource::Reservations, 5),
        (Resource::Trains, 2),
        (Resource::Stacks, 4),
    ])
}

/// Objects without an owner.
fn common() -> Amounts {
    amounts(&[
        (Resource::Domains, u64::from(SUPERVISOR_DOMAIN)),
        (Resource::Threads, 1),
        (Resource::Tables, 4),
        (Resource::Slots, SLOTS),
        (Resource::Endpoints, ENDPOINTS),
        (Resource::Notifications, 2),
        (Resource::Interrupts, u64::from(DOMAINS)),
        (Resource::Memories, 3 * u64::from(DOMAINS)),
        (Resource::Timers, u64::from(DOMAINS)),
    ])
}

/// Address of the message buffer of a domain's thread.
pub fn buffer(thread: u64) -> u64 {
    0x6000_0000 + thread * 0x2000
}

/// Rights to the endpoint `which` in this domain.
fn endpoint_rights(domain: u32, which: u64) -> Rights {
    let both = Rights::SEND.or(Rights::RECEIVE).or(Rights::GRANT);
    match (domain, which) {
        (SUPERVISOR_DOMAIN, _) => Rights::ALL,
        (1..=2, _) => both.or(Rights::COPY),
        (3, 2) => Rights::SEND,
        (4, 3) => Rights::RECEIVE,
        _ => both,
    }
}

/// The archive of a town, where the kernel has a scheduling tree with reservations.
fn archive(plan: &Plan, tree: bool) -> Archive {
    let mut pools = common();
    for (pool, quota) in pools.iter_mut().zip(quotas()) {
        *pool += quota * u64::from(DOMAINS);
    }
    // Fewer than the quotas promise, so that the pool can be exhausted.
    pools[Resource::Timers as usize] -= 5;
    pools[Resource::Reservations as usize] = if tree { 16 } else { 0 };
    let mut archive = Archive::new(&pools);
    let notifications = [archive.notification(), archive.notification()];
    let last = |which| if which + 1 == ENDPOINTS { notifications[1] } else { NONE };
    let endpoints: Vec<u64> = (0..ENDPOINTS).map(|at| archive.endpoint(last(at))).collect();
    let mut domains: Vec<u64> = (1..=DOMAINS)
        .map(|domain| archive.domain(&format!("domain{domain}"), MAX_PRIORITY, SLOTS, &quotas()))
        .collect();
    let own = [(Resource::Threads, 1), (Resource::Tables, 4), (Resource::Slots, SLOTS)];
    domains.push(archive.domain("supervisor", u8::MAX, SLOTS, &amounts(&own)));
    let threads = threads(&mut archive, plan, &domains, endpoints[0]);
    for (own, domain) in domains.iter().zip(1..) {
        shared(&mut archive, domain, *own, &endpoints, &notifications);
        let rights = Rights(Rights::ALL.0 & !Rights::DESTROY.0 & !Rights::REVOKE.0);
        if domain == SUPERVISOR_DOMAIN {
            for (thread, slot) in threads.iter().zip(ALL_THREADS..) {
                archive.capability(*own, slot, *thread, rights, 0);
            }
            for (other, slot) in domains.iter().zip(DOMAIN..) {
                archive.capability(*own, slot, *other, rights, 0);
            }
        } else {
            let mine = threads.chunks(THREADS as usize).nth(domain as usize - 1);
            for (thread, slot) in mine.into_iter().flatten().zip(THREAD..) {
                archive.capability(*own, slot, *thread, rights, 0);
            }
            let neighbour = domains[(domain % DOMAINS) as usize];
            archive.capability(*own, DOMAIN, *own, Rights::ALL, 0);
            archive.capability(*own, DOMAIN + 1, neighbour, rights, 0);
        }
    }
    if tree {
        reservations(&mut archive, &domains);
    }
    archive
}

/// A class for all, in which each domain may make reservations; the first may do so anywhere.
fn reservations(archive: &mut Archive, domains: &[u64]) {
    let root = archive.root();
    let class = archive.reservation(root, Policy::EarliestDeadline as u64, Share::Priority(100));
    let leaf = archive.reservation(class, 0, Share::Deadline);
    let rights = Rights(Rights::ALL.0 & !Rights::DESTROY.0 & !Rights::REVOKE.0);
    for (own, domain) in domains.iter().zip(1..=DOMAINS) {
        if domain == 1 {
            archive.capability(*own, RESERVATION, root, rights, 0);
        }
        archive.capability(*own, RESERVATION + 1, class, rights, 0);
        let rights = if domain == 2 { Rights::ALL } else { rights };
        archive.capability(*own, RESERVATION + 2, leaf, rights, 0);
    }
}

fn threads(archive: &mut Archive, plan: &Plan, domains: &[u64], handler: u64) -> Vec<u64> {
    let mut threads = Vec::new();
    for domain in 1..=DOMAINS {
        for thread in 0..THREADS {
            let handler = if plan.handlers && thread > 0 { handler } else { NONE };
            let badge = u64::from(domain * 100 + thread);
            let at = if thread == 3 { 0 } else { buffer(u64::from(thread)) };
            let (own, priority) = (domains[domain as usize - 1], priority(plan, domain, thread));
            threads.push(archive.handled_thread(own, priority, at, handler, badge));
        }
    }
    archive.thread(domains[DOMAINS as usize], SUPERVISOR_PRIORITY, buffer(0));
    threads
}

/// What every domain has.
fn shared(archive: &mut Archive, domain: u32, own: u64, endpoints: &[u64], notifications: &[u64]) {
    let number = u64::from(domain);
    for (which, endpoint) in (0..).zip(endpoints) {
        let badge = if domain == 1 { 0 } else { number * 10 + which };
        let rights = endpoint_rights(domain, which);
        archive.capability(own, ENDPOINT + which, *endpoint, rights, badge);
    }
    let rights = Rights(Rights::ALL.0 & !Rights::DESTROY.0 & !Rights::REVOKE.0);
    for (which, notification) in (0..).zip(notifications) {
        let badge = if domain == 1 { 0 } else { 1 << domain };
        archive.capability(own, NOTIFICATION + which, *notification, rights, badge);
    }
    archive.capability(own, CONSOLE_SLOT, CONSOLE, Rights::ALL, 0);
    let system = if domain <= 2 { Rights::COPY } else { Rights::CONTROL };
    archive.capability(own, SYSTEM_SLOT, SYSTEM, system, 0);
    if domain <= DOMAINS {
        let timer = archive.timer(notifications[0], 1 << (8 + domain));
        archive.capability(own, TIMER, timer, rights, 0);
        let interrupt = archive.interrupt(number, notifications[1], 1 << (16 + domain));
        archive.capability(own, INTERRUPT, interrupt, Rights::CONTROL, 0);
        let memory = archive.memory(4);
        archive.capability(own, MEMORY, memory, rights, 0);
        let device = archive.device(DEVICES.start + number * PAGE, 2, Cache::Uncached);
        archive.capability(own, DEVICE, device, rights.or(Rights::PHYSICAL), 0);
        let ports = archive.ports(PORTS.end - 4 * number, 4);
        archive.capability(own, PORT, ports, rights, 0);
    }
}

/// Boots a town.
pub fn boot<S: System<Port = Host>>(plan: &Plan) -> Board<S> {
    Board::boot(&archive(plan, S::Scheduler::TREE), PAGES, plan.seed)
}
