//! How everything is scheduled: pictures of all domains, threads and reservations, and changes.
//!
//! ```no_run
//! use rt::abi::control::Change;
//! use rt::abi::reservation::{Budget, Server};
//! use rt::{Env, Error, sched};
//!
//! /// Gives the reservation `vision` 8 ms of each 40 ms, unless all have had much already.
//! fn relieve(env: &Env) -> Result<(), Error> {
//!     let had: u64 = sched::reservations(env.cap("system")).map(|row| row.service).sum();
//!     if had > 1_000_000_000 {
//!         return Ok(());
//!     }
//!     let budget = Some(Budget::new(Server::Constant, 8_000_000, 40_000_000));
//!     sched::set(Change::Budget { slot: env.cap("vision").0, budget })
//! }
//! ```

use crate::reservation::{self, Usage};
use crate::stack::Stack;
use crate::system::{self, Row};
use crate::{Error, Slot, thread};
use abi::call::{Fact, Table};
use abi::control::{Change, Domain, Held, Machine, Reservation, Thread};
use core::time::Duration;

/// Changes how a thread or a reservation is scheduled. The slot in the change is the caller's, and
/// needs the right `control`, that of a class that is joined `divide`.
///
/// # Errors
/// As [`thread::set_priority`], [`reservation::set_share`], [`reservation::join`],
/// [`reservation::set_budget`],
/// [`reservation::set_timing`] and [`reservation::set_windows`] say. Nothing has changed then.
pub fn set(change: Change) -> Result<(), Error> {
    match change {
        Change::Priority { slot, priority } => thread::set_priority(Slot(slot), priority),
        Change::Share { slot, share } => reservation::set_share(Slot(slot), share),
        Change::Join { slot, class, share } => reservation::join(Slot(slot), Slot(class), share),
        Change::Budget { slot, budget } => reservation::set_budget(Slot(slot), budget),
        Change::Timing { slot, timing } => {
            let times = |timing: abi::reservation::Timing| {
                [timing.deadline, timing.period].map(Duration::from_nanos).into()
            };
            reservation::set_timing(Slot(slot), timing.map(times))
        }
        Change::Windows { slot, windows } => reservation::set_windows(Slot(slot), windows.list()),
    }
}

/// The machine as a whole; `looks` is 0.
pub fn machine() -> Machine {
    let fact = |fact| system::fact(fact).unwrap_or((0, 0));
    let (kernel_low, kernel_high) = fact(Fact::KernelName);
    let (cpus, counter_hz) = (fact(Fact::Cpus).0, fact(Fact::CounterHz).0);
    Machine { kernel_low, kernel_high, now: system::clock(), cpus, counter_hz, looks: 0 }
}

/// The domains that are alive: a system call each. `system` is the slot of the system capability;
/// without it there are no rows.
pub fn domains(system: Slot) -> impl Iterator<Item = Domain> {
    let alive = rows(system, Table::Domain).filter(|(_, row)| row.results[0] == 1);
    alive.map(|(index, Row { results: [_, max_priority], words })| Domain {
        index,
        name_low: words[0],
        name_high: words[1],
        max_priority,
        threads: words[2] & u64::from(u32::MAX),
        slots_used: words[3] & u64::from(u32::MAX),
        slots: words[3] >> 32,
    })
}

/// All threads: two system calls each, and further ones for the time on each of so many CPUs, if
/// the kernel keeps statistics. How much of its stack each has used is left out.
pub fn threads(system: Slot, cpus: u64) -> impl Iterator<Item = Thread> {
    let all = rows(system, Table::Thread).filter(|(_, row)| row.results[0] != 0);
    all.map(move |(index, Row { results: [state, priorities], words })| {
        let ticks = (0..cpus).map(|cpu| system::time(system, cpu, index));
        let ticks: Option<u64> = ticks.map(Result::ok).sum();
        let name = system::inspect(system, Table::ThreadName, index);
        let [name_low, name_high] = name.map_or([0; 2], |row| row.results);
        Thread {
            index,
            state: state & 0xff,
            awaits: state & !0xff,
            priority: priorities & u64::from(u32::MAX),
            effective_priority: priorities >> 32,
            domain: words[0],
            node_after: words[3],
            ticks: ticks.unwrap_or(u64::MAX),
            stack_used: u64::MAX,
            stack: 0,
            name_low,
            name_high,
        }
    })
}

/// How much of its stack a thread, by its index, has used at most: some system calls for each page
/// of the stack. `None`: it has gone, or its stack pointer is nowhere.
pub fn stack(system: Slot, thread: u64) -> Option<Stack> {
    let row = system::inspect(system, Table::Thread, thread).ok()?;
    let [domain, _, pointer, _] = row.words;
    if row.results[0] == 0 { None } else { Stack::around(system, domain, pointer) }
}

/// All reservations: two system calls each. Kernels without a scheduling tree have none.
pub fn reservations(system: Slot) -> impl Iterator<Item = Reservation> {
    rows(system, Table::Reservation).filter(|(_, row)| row.results[0] != 0).map(
        move |(index, Row { results: [what, place], words: [service, events, budget, period] })| {
            let share = system::inspect(system, Table::Share, index);
            let share = share.unwrap_or(Row { results: [0; 2], words: [0; 4] });
            let [share_a, share_b, share_c, share_d] = share.words;
            Reservation {
                index,
                node: place & u64::from(u32::MAX),
                class: place >> 32,
                policy: what >> 8 & 0xff,
                throttled: what >> 16 & 1,
                server: what >> 24 & 0xff,
                budget,
                period,
                service,
                overruns: events & u64::from(u32::MAX),
                missed: events >> 32,
                jobs: share.results[1],
                share: share.results[0],
                share_a,
                share_b,
                share_c,
                share_d,
            }
        },
    )
}

/// What is known of a reservation by a capability to it alone.
///
/// # Errors
/// As [`reservation::usage`].
pub fn held(slot: Slot) -> Result<Held, Error> {
    let Usage { node, jobs, .. } = reservation::usage(slot)?;
    let (slot, node) = (slot.word(), node.into());
    Ok(Held { slot, node, worst: jobs.worst, latest: jobs.latest, ..Held::default() })
}

/// The rows of a table up to the last one.
fn rows(system: Slot, table: Table) -> impl Iterator<Item = (u64, Row)> {
    (0..).map_while(move |index| Some((index, system::inspect(system, table, index).ok()?)))
}
