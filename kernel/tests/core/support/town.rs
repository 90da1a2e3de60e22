//! A system with a bit of everything: four domains of four threads each, and capabilities to
//! most things in all of them.

use super::archive::{Amounts, Archive, amounts};
use super::board::Board;
use super::host::Host;
use abi::Rights;
use abi::boot::{CONSOLE, NONE, SYSTEM};
use abi::object::Resource;
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
/// Slots of the first threads of all domains.
pub const FIRST_THREADS: u64 = 20;
/// The first slot that is free.
pub const FREE: u64 = 24;
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
    match (domain, thread) {
        // The supervisor.
        (1, 0) => 200,
        _ if plan.unique => (10 + (thread * 37 + domain * 11) % 101) as u8,
        _ => (10 + thread / 2) as u8,
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
    ])
}

/// What belongs to nobody.
fn common() -> Amounts {
    amounts(&[
        (Resource::Domains, u64::from(DOMAINS)),
        (Resource::Endpoints, ENDPOINTS),
        (Resource::Notifications, 2),
        (Resource::Interrupts, u64::from(DOMAINS)),
        (Resource::Memories, u64::from(DOMAINS)),
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
        (1, _) => Rights::ALL,
        (2, _) => both.or(Rights::COPY),
        (3, 2) => Rights::SEND,
        (4, 3) => Rights::RECEIVE,
        _ => both,
    }
}

/// The archive of a town.
pub fn archive(plan: &Plan) -> Archive {
    let mut pools = common();
    for (pool, quota) in pools.iter_mut().zip(quotas()) {
        *pool += quota * u64::from(DOMAINS);
    }
    let mut archive = Archive::new(&pools);
    let notifications = [archive.notification(), archive.notification()];
    let endpoints: Vec<u64> = (0..ENDPOINTS)
        .map(|which| archive.endpoint(if which + 1 == ENDPOINTS { notifications[1] } else { NONE }))
        .collect();
    let name = |domain| format!("domain{domain}");
    let domains: Vec<u64> =
        (1..=DOMAINS).map(|domain| archive.domain(&name(domain), 220, SLOTS, &quotas())).collect();
    let mut threads = Vec::new();
    for domain in 1..=DOMAINS {
        let own = domains[domain as usize - 1];
        for thread in 0..THREADS {
            let handler = if plan.handlers && thread > 0 { endpoints[0] } else { NONE };
            let badge = u64::from(domain * 100 + thread);
            let at = if thread == 3 { 0 } else { buffer(u64::from(thread)) };
            threads.push((
                domain,
                archive.handled_thread(own, priority(plan, domain, thread), at, handler, badge),
            ));
        }
    }
    for domain in 1..=DOMAINS {
        let own = domains[domain as usize - 1];
        let number = u64::from(domain);
        for (which, endpoint) in (0..).zip(&endpoints) {
            let badge = if domain == 1 { 0 } else { number * 10 + which };
            let rights = endpoint_rights(domain, which);
            archive.capability(own, ENDPOINT + which, *endpoint, rights, badge);
        }
        for (which, notification) in (0..).zip(&notifications) {
            let badge = if domain == 1 { 0 } else { 1 << domain };
            let rights = Rights(Rights::ALL.0 & !Rights::DESTROY.0);
            archive.capability(own, NOTIFICATION + which, *notification, rights, badge);
        }
        let timer = archive.timer(notifications[0], 1 << (8 + domain));
        archive.capability(own, TIMER, timer, Rights::ALL, 0);
        let interrupt = archive.interrupt(number, notifications[1], 1 << (16 + domain));
        archive.capability(own, INTERRUPT, interrupt, Rights::CONTROL, 0);
        let memory = archive.memory(4);
        let rights = Rights(Rights::ALL.0 & !Rights::DESTROY.0);
        archive.capability(own, MEMORY, memory, rights, 0);
        archive.capability(own, CONSOLE_SLOT, CONSOLE, Rights::ALL, 0);
        let rights = if domain == 1 { Rights::ALL } else { Rights::COPY };
        archive.capability(own, SYSTEM_SLOT, SYSTEM, rights, 0);
        let mine = threads.iter().filter(|(of, _)| *of == domain);
        for ((_, thread), slot) in mine.zip(THREAD..) {
            archive.capability(own, slot, *thread, Rights::ALL, 0);
        }
        let first = threads.iter().step_by(THREADS as usize);
        for ((_, thread), slot) in first.zip(FIRST_THREADS..) {
            let rights = if domain == 1 { Rights::CONTROL } else { Rights::COPY };
            archive.capability(own, slot, *thread, rights, 0);
        }
        for (other, slot) in (1..=DOMAINS).zip(DOMAIN..) {
            let (rights, named) = match (domain, other) {
                (1, _) => (Rights::CONTROL.or(Rights::COPY), other),
                (_, 1) => (Rights::ALL, domain),
                _ => continue,
            };
            archive.capability(own, slot, domains[named as usize - 1], rights, 0);
        }
    }
    archive
}

/// Boots a town.
pub fn boot<S: System<Port = Host>>(plan: &Plan) -> Board<S> {
    Board::boot(&archive(plan), PAGES, plan.seed)
}
