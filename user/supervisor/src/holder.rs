//! Who runs while a child is silent: the most urgent of all threads that are ready, if that is at
//! least as urgent as the child.

use abi::boot::name_words;
use abi::call::{Fact, Table, ThreadState};
use abi::control::Thread;
use abi::reservation::Share;
use rt::{Env, Slot, reservation, sched, system};

use crate::table;

/// The supervisor's own domain.
const OWN: &str = "supervisor";
/// The deepest that classes nest, and a bit more.
const DEEPEST: usize = 16;

/// How urgent a thread is: the level of the class or leaf below the root of the CPU that it runs
/// in, 0 without a reservation; and its priority.
type Rank = (u64, u64);

/// Knows where to look.
pub struct Holders<'a> {
    env: &'a Env,
    system: Slot,
    /// On several CPUs the table does not tell which thread is whose.
    alone: bool,
}

impl Holders<'_> {
    /// Asks the machine by this capability.
    pub fn new(env: &Env, system: Slot) -> Holders<'_> {
        let alone = system::fact(Fact::Cpus).is_ok_and(|(cpus, _)| cpus == 1);
        Holders { env, system, alone }
    }

    /// The name of the domain whose thread runs instead of a child, or zeros: a system call for
    /// each thread, and some for each reservation.
    pub fn of(&self, child: usize) -> [u64; 2] {
        let known = table::open(self.env).children().nth(child);
        let Some((_, child)) = known.filter(|_| self.alone) else { return [0; 2] };
        let leaf = child.reservation.and_then(|leaf| reservation::usage(Slot(leaf)).ok());
        let least = (leaf.map_or(0, |leaf| self.level(leaf.node.into())), child.priority);
        let ready = sched::threads(self.system, 0)
            .filter(|thread| thread.state == ThreadState::Ready as u64)
            .filter_map(|thread| Some((self.rank(&thread)?, self.name(thread.domain))))
            .filter(|(rank, name)| *rank >= least && *name != name_words(OWN));
        ready.max_by_key(|(rank, _)| *rank).map_or([0; 2], |(_, name)| name)
    }

    /// None: it waits for budget.
    fn rank(&self, thread: &Thread) -> Option<Rank> {
        let Some(node) = thread.node_after.checked_sub(1) else {
            return Some((0, thread.effective_priority));
        };
        let level = Some(self.level(node)).filter(|level| *level > 0)?;
        Some((level, thread.effective_priority))
    }

    /// How urgent a reservation is below the root of its CPU; 0: it waits for budget.
    fn level(&self, node: u64) -> u64 {
        let find = |node| sched::reservations(self.system).find(|row| row.node == node);
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

    fn name(&self, domain: u64) -> [u64; 2] {
        let row = system::inspect(self.system, Table::Domain, domain);
        row.map_or([0; 2], |row| [row.words[0], row.words[1]])
    }
}
