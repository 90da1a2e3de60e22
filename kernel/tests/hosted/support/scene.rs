//! A small system for tests that tell a story: each thread does what the test says.

use super::archive::{Amounts, Archive, amounts};
use super::board::Board;
use super::context::Regs;
use super::host::{DEVICES, Host, PORTS};
use abi::boot::{CONSOLE, Cache, NONE, SYSTEM};
use abi::call::{Call, NOTHING, Timeout, ipc, partners};
use abi::object::Resource;
use abi::reservation::Share;
use abi::{Error, Info, Rights};
use kernel::sched::Scheduler;
use kernel::system::System;

/// Slots in each domain's table.
pub const SLOTS: u64 = 128;
/// The first of four slots of endpoints, in every domain, with every right and no badge.
pub const ENDPOINT: u64 = 1;
/// Slot of an endpoint with the second notification attached.
pub const ATTACHED: u64 = 4;
/// The first of two slots of notifications.
pub const NOTIFICATION: u64 = 5;
/// Slot of eight pages of memory.
pub const MEMORY: u64 = 7;
/// Slot of a timer that signals 8 on the first notification.
pub const TIMER: u64 = 8;
/// Slot of an interrupt, line 3, that signals 16 on the first notification.
pub const INTERRUPT: u64 = 9;
/// Slot of the console.
pub const CONSOLE_SLOT: u64 = 10;
/// Slot of the system capability.
pub const SYSTEM_SLOT: u64 = 11;
/// The first slot of domains.
pub const DOMAIN: u64 = 12;
/// The slot of the first thread less its index: thread `n` is in slot `THREAD + n`.
pub const THREAD: u64 = 19;
/// The first slot that is free.
pub const FREE: u64 = 60;
/// Slot of the CPU's root class, where there is a scheduling tree.
pub const ROOT: u64 = 120;
/// Slot of a leaf in it, above all priorities, on which no thread runs.
pub const LEAF: u64 = 121;
/// Slot of four pages of device memory.
pub const DEVICE: u64 = 122;
/// Slot of the last eight I/O ports.
pub const PORT: u64 = 123;
/// Endpoints that there are.
pub const ENDPOINTS: u64 = 4;

/// Address of the message buffer of the thread with this index.
pub fn buffer(thread: u64) -> u64 {
    0x6000_0000 + thread * 0x2000
}

/// Quotas that suffice for any story.
pub fn plenty() -> Amounts {
    amounts(&[
        (Resource::Domains, 4),
        (Resource::Threads, 60),
        (Resource::Endpoints, 8),
        (Resource::Notifications, 4),
        (Resource::Memories, 4),
        (Resource::Mappings, 8),
        (Resource::Timers, 4),
        (Resource::Frames, 1100),
        (Resource::Tables, 64),
        (Resource::Slots, SLOTS + 512),
        (Resource::Reservations, 16),
        (Resource::Trains, 6),
        (Resource::Stacks, 40),
    ])
}

/// Boots threads, each given by its domain (from 1) and its priority; thread `n` has index `n`,
/// from 1. Faults go to the first endpoint, with the thread's index as badge.
pub fn boot<S: System<Port = Host>>(threads: &[(u32, u8)]) -> Board<S> {
    boot_with(threads, &plenty())
}

/// As [`boot`], with these quotas in every domain.
pub fn boot_with<S: System<Port = Host>>(threads: &[(u32, u8)], quotas: &Amounts) -> Board<S> {
    let count = threads.iter().map(|(domain, _)| *domain).max().unwrap_or(1);
    let mut pools = amounts(&[
        (Resource::Domains, u64::from(count)),
        (Resource::Endpoints, ENDPOINTS),
        (Resource::Notifications, 2),
        (Resource::Interrupts, 1),
        (Resource::Memories, 3),
        (Resource::Timers, 1),
        (Resource::Reservations, 1),
    ]);
    for (pool, quota) in pools.iter_mut().zip(quotas) {
        *pool += quota * u64::from(count);
    }
    let mut archive = Archive::new(&pools);
    let first = archive.notification();
    let second = archive.notification();
    let mut objects: Vec<u64> = (1..ENDPOINTS).map(|_| archive.endpoint(NONE)).collect();
    let handler = objects[0];
    objects.push(archive.endpoint(second));
    objects.extend([first, second, archive.memory(8), archive.timer(first, 8)]);
    objects.extend([archive.interrupt(3, first, 16), CONSOLE, SYSTEM]);
    let domains: Vec<u64> = (1..=count)
        .map(|domain| archive.domain(&format!("domain{domain}"), 255, SLOTS, quotas))
        .collect();
    let device = archive.device(DEVICES.start, 4, Cache::WriteCombining);
    let ports = archive.ports(PORTS.end - 8, 8);
    let all = Rights::ALL.or(Rights::PHYSICAL);
    for domain in &domains {
        for (object, slot) in objects.iter().zip(ENDPOINT..) {
            let rights = if slot == MEMORY { all } else { Rights::ALL };
            archive.capability(*domain, slot, *object, rights, 0);
        }
        archive.capability(*domain, DEVICE, device, all, 0);
        archive.capability(*domain, PORT, ports, all, 0);
        for (other, slot) in domains.iter().zip(DOMAIN..) {
            archive.capability(*domain, slot, *other, Rights::ALL, 0);
        }
    }
    if S::Scheduler::TREE {
        let root = archive.root();
        let leaf = archive.reservation(root, 0, Share::Priority(300));
        let rights = Rights(Rights::ALL.0 & !Rights::DESTROY.0 & !Rights::REVOKE.0);
        for domain in &domains {
            archive.capability(*domain, ROOT, root, rights, 0);
            archive.capability(*domain, LEAF, leaf, Rights::ALL, 0);
        }
    }
    for (index, (domain, priority)) in (1..).zip(threads) {
        let domain = domains[*domain as usize - 1];
        let thread = archive.handled_thread(domain, *priority, buffer(index), handler, index);
        for domain in domains.iter().filter(|_| THREAD + index < FREE) {
            archive.capability(*domain, THREAD + index, thread, Rights::ALL, 0);
        }
    }
    let board = Board::boot(&archive, pages(&pools), 1);
    board.check();
    board
}

fn pages(pools: &Amounts) -> usize {
    let frames: u64 = [Resource::Domains, Resource::Threads, Resource::Frames, Resource::Tables]
        .iter()
        .map(|resource| pools[*resource as usize])
        .sum();
    let slots = pools[Resource::Slots as usize] + 64 * pools[Resource::Domains as usize];
    (frames + slots / 16 + pools[Resource::Threads as usize] / 4) as usize + 200
}

/// A call on this slot.
pub fn call(slot: u64, info: Info) -> Regs {
    Regs::call(Call::Call as u64, &[slot, info.0])
}

/// A reply and an open wait on this slot.
pub fn reply_wait(slot: u64, info: Info) -> Regs {
    Regs::call(Call::ReplyWait as u64, &[slot, info.0])
}

/// Both halves, without timeouts.
pub fn send_receive(send: u64, receive: u64, info: Info) -> Regs {
    timed(send, receive, info, Timeout::Never, 0)
}

/// Both halves, with the same kind of timeout.
pub fn timed(send: u64, receive: u64, info: Info, timeout: Timeout, until: u64) -> Regs {
    let pair = partners(send as u32, receive as u32);
    Regs::call(ipc(timeout, timeout), &[pair, info.0, until])
}

/// A send.
pub fn send(slot: u64, info: Info) -> Regs {
    send_receive(slot, NOTHING.into(), info)
}

/// A receive.
pub fn receive(slot: u64) -> Regs {
    send_receive(NOTHING.into(), slot, Info(0))
}

/// A wait for a release that has come: the job ends, or the start-up, and the next job begins.
pub fn begin_job() -> Regs {
    timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, 0)
}

/// Any other system call.
pub fn system(call: Call, args: &[u64]) -> Regs {
    Regs::call(call as u64, args)
}

impl<S: System<Port = Host>> Board<S> {
    /// The thread `who`, which must be running, makes a call; then what follows happens.
    #[track_caller]
    pub fn does(&self, who: u32, regs: Regs) {
        assert_eq!(self.running(), Some(who), "another thread runs");
        self.call(regs);
        self.settle();
        self.check();
    }

    /// As [`Board::does`], for a call that must come back at once with success.
    #[track_caller]
    pub fn succeeds(&self, who: u32, regs: Regs) {
        self.does(who, regs);
        self.sees(who, Ok(()));
    }

    /// As [`Board::does`], for a call that must come back at once with this error.
    #[track_caller]
    pub fn fails(&self, who: u32, regs: Regs, error: Error) {
        self.does(who, regs);
        self.sees(who, Err(error));
        assert!(!self.regs.get().status().in_receive(), "the receive half failed");
    }

    /// Checks who runs, and the status that it sees.
    #[track_caller]
    pub fn sees(&self, who: u32, status: Result<(), Error>) {
        assert_eq!(self.running(), Some(who), "another thread runs");
        assert_eq!(self.regs.get().status().result(), status, "the status of thread {who}");
    }

    /// Checks who runs, and that its receive half failed with this error.
    #[track_caller]
    pub fn sees_in_receive(&self, who: u32, error: Error) {
        self.sees(who, Err(error));
        assert!(self.regs.get().status().in_receive(), "the send half failed");
    }

    /// Lets time pass.
    #[track_caller]
    pub fn wait(&self, by: u64) {
        self.host.advance(by);
        self.settle();
        self.check();
    }
}
