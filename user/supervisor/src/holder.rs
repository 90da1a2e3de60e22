//! Who runs while a child is silent: the most urgent of all threads that are ready, if that is at
//! least as urgent as the child.

use abi::boot::name_words;
use abi::call::{Fact, Table, ThreadState};
use abi::control::{Reservation, Thread};
use abi::object::Resource;
use abi::reservation::Share;
use rt::{Env, Slot, reservation, sched, system};

use crate::table;

/// The supervisor's own domain.
const OWN: &str = "supervisor";
/// Threads, and reservations, of a machine in which the holder of the CPU is looked for: this work
/// is more urgent than all programs.
const MOST: usize = 32;
/// The deepest that classes nest, and a bit more.
const DEEPEST: usize = 16;

/// How urgent a thread is: the level of the class or leaf below the root of the CPU that it runs
/// in, 0 without a reservation; and its priority.
type Rank = (u64, u64);

/// The reservations of the machine.
type Rows = [Option<Reservation>; MOST];

/// Knows where to look.
pub struct Holders<'a> {
    env: &'a Env,
    system: Slot,
    /// Whether it looks: on several CPUs the table does not tell which thread is whose, and it
    /// reads no large ones.
    looks: bool,
}

impl Holders<'_> {
    /// Asks the machine by this capability.
    pub fn new(env: &Env, system: Slot) -> Holders<'_> {
        let alone = system::fact(Fact::Cpus).is_ok_and(|(cpus, _)| cpus == 1);
        let is_small = |resource: Resource| {
            let row = system::inspect(system, Table::Pool, resource as u64);
            row.is_ok_and(|row| row.results[1] <= MOST as u64)
        };
        let looks = alone && [Resource::Threads, Resource::Reservations].into_iter().all(is_small);
        Holders { env, system, looks }
    }

    /// The name of the domain whose thread runs instead of a child, or zeros, also where there are
    /// more than [`MOST`] threads or reservations: a few system calls for each of these.
    pub fn of(&self, child: usize) -> [u64; 2] {
        let known = table::open(self.env).children().nth(child);
        let Some((_, child)) = known.filter(|_| self.looks) else { return [0; 2] };
        let mut reservations = [const { None }; MOST];
        let rows = sched::reservations(self.system).map(Some);
        reservations.iter_mut().zip(rows).for_each(|(place, row)| *place = row);
        let leaf = child.reservation.and_then(|leaf| reservation::usage(Slot(leaf)).ok());
        let least = leaf.map_or(0, |leaf| level(&reservations, leaf.node.into()));
        let least = (least, child.priority);
        let ready = sched::threads(self.system, 0)
            .filter(|thread| thread.state == ThreadState::Ready as u64)
            .filter_map(|thread| Some((rank(&reservations, &thread)?, self.name(thread.domain))))
            .filter(|(rank, name)| *rank >= least && *name != name_words(OWN));
        ready.max_by_key(|(rank, _)| *rank).map_or([0; 2], |(_, name)| name)
    }

    fn name(&self, domain: u64) -> [u64; 2] {
        let row = system::inspect(self.system, Table::Domain, domain);
        row.map_or([0; 2], |row| [row.words[0], row.words[1]])
    }
}

/// None: it waits for budget.
fn rank(reservations: &Rows, thread: &Thread) -> Option<Rank> {
    let Some(node) = thread.node_after.checked_sub(1) else {
        return Some((0, thread.effective_priority));
    };
    let level = Some(level(reservations, node)).filter(|level| *level > 0)?;
    Some((level, thread.effective_priority))
}

/// How urgent a reservation is below the root of its CPU; 0: it waits for budget.
fn level(reservations: &Rows, node: u64) -> u64 {
    let find = |node| reservations.iter().flatten().find(|row| row.node == node);
    let mut below = find(node);
    for _ in 0..DEEPEST {
        let Some(row) = below.filter(|row| row.throttled == 0) else { return 0 };
        let class = find(row.class);
        if class.as_ref().is_none_or(|class| class.class == u32::MAX.into()) {
            let words = [row.share_a, row.share_b, row.share_c, row.share_d];
            return match Share::decode(row.share, words) {
                Some(Share::Priority(level)) => 1 + u64::from(level),
                _ => 1,
            };
        }
        below = class;
    }
    0
}
