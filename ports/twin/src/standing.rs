//! What each thread was doing when the machine came to stand.

use crate::locking::Locking;
use crate::port::Twin;
use kernel::access::{Exclusive, Life};
use kernel::events::Machine;
use kernel::manage::Manager;
use kernel::object::thread::flag;
use twin_protocol::Doing;

/// All threads but those that idle, in the order of their places. The machine goes on no more.
pub fn threads<G: Locking>(machine: Machine<Twin<G>>) -> Vec<Doing> {
    let Machine { kernel, cpu } = machine;
    let watcher = cells::watch(None);
    // SAFETY: no CPU goes on, so none touches what it may have left in the middle of a section.
    let manager = Manager { kernel, cpu, all: unsafe { Exclusive::sole() } };
    let idles = kernel.cpus.get().len() as u32;
    let places = (idles..kernel.threads.size()).filter_map(|index| kernel.threads.get(index));
    let doing = |at| {
        let ((outer, inner, name), word) = manager.doing(at);
        // One whose function has returned sleeps until an instant that never comes.
        let timed = at.has(flag::DEADLINE) && at.deadline.comes();
        Doing { domain: (outer, inner), name, index: at.index(), word, timed }
    };
    let threads = places.filter(|at| at.life() == Life::Live).map(doing).collect();
    cells::watch(watcher);
    threads
}
