//! What each thread was doing when the machine came to stand, what was given up, and whose a thread
//! is.

use crate::locking::Locking;
use crate::port::Twin;
use kernel::access::{Exclusive, Life, Ref};
use kernel::events::Machine;
use kernel::manage::Manager;
use kernel::object::Thread;
use kernel::object::thread::flag;
use twin_protocol::Doing;

/// Looks at a machine that stands.
fn look<G: Locking, R>(machine: Machine<Twin<G>>, look: impl FnOnce(&Manager<Twin<G>>) -> R) -> R {
    let Machine { kernel, cpu } = machine;
    let watcher = cells::watch(None);
    // SAFETY: no CPU goes on meanwhile, so none touches what it may have left in the middle of a
    // section, and nothing is changed here.
    let seen = look(&Manager { kernel, cpu, all: unsafe { Exclusive::sole() } });
    cells::watch(watcher);
    seen
}

/// All threads but those that idle, in the order of their places.
pub fn threads<G: Locking>(machine: Machine<Twin<G>>) -> Vec<Doing> {
    look(machine, |manager| {
        let kernel = manager.kernel;
        let idles = kernel.cpus.get().len() as u32;
        let places = (idles..kernel.threads.size()).filter_map(|index| kernel.threads.get(index));
        let doing = |at| {
            let ((outer, inner, name), word) = manager.doing(at);
            // One whose function has returned sleeps until an instant that never comes.
            let timed = at.has(flag::DEADLINE) && at.deadline.comes();
            Doing { domain: (outer, inner), name, index: at.index(), word, timed }
        };
        places.filter(|at| at.life() == Life::Live).map(doing).collect()
    })
}

/// The names of the manifest's domain that a thread is in, and of the inner one, if it is in one.
pub fn domains<G: Locking>(
    machine: Machine<Twin<G>>,
    thread: Ref<Thread<Twin<G>>>,
) -> impl Iterator<Item = [u64; 2]> {
    let ((outer, inner, _), _) = look(machine, |manager| manager.doing(thread));
    [outer].into_iter().chain(inner)
}

/// By the index of an endpoint, how many messages were given up there.
pub fn given_up<G: Locking>(machine: Machine<Twin<G>>) -> Vec<(u32, u32)> {
    look(machine, |manager| {
        let endpoints = &manager.kernel.endpoints;
        let places = (0..endpoints.size()).filter_map(|index| endpoints.get(index));
        let counted = places.filter(|at| at.life() == Life::Live);
        let counted = counted.map(|at| (at.index(), manager.all.open(at).given_up.get().into()));
        counted.filter(|(_, count)| *count > 0).collect()
    })
}
