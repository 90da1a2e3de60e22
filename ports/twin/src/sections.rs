//! Sections: for how long the kernel is locked, and how long that is to be.

use crate::hardware::Hardware;
use crate::meter;
use devices::Rng;
use kernel::locks::{Counts, Handoff, Kind, LockPolicy};
use std::marker::PhantomData;
use twin_protocol::{Scatter, Sections, Service, Transfers};

/// What a CPU waits for the lines that a hand-off of the lock moves.
fn transfer(lines: &Transfers, handoff: Handoff, to: u32) -> u64 {
    let way = |from: usize| lines.topology.transfer(from as u32, to);
    handoff.last_owner().map_or(0, way) * lines.hundredths / 100
}

/// How long a section is to take, in units.
fn draw(service: &Service, rng: &Rng) -> u64 {
    match service.scatter {
        Scatter::Deterministic => service.mean,
        Scatter::Exponential => {
            let uniform = ((rng.next() >> 11) + 1) as f64 / (1u64 << 53) as f64;
            (-uniform.ln() * service.mean as f64).round() as u64
        }
    }
}

/// A lock policy whose sections are timed.
pub struct Timed<G>(PhantomData<G>);

impl<G: LockPolicy> LockPolicy for Timed<G> {
    const NAME: &'static str = G::NAME;
    const EXCLUSIVE: bool = G::EXCLUSIVE;
    const SPECULATIVE: bool = G::SPECULATIVE;
    type Relax = G::Relax;
    type Shared = G::Shared;
    type Local = G::Local;
    type Object = G::Object;
    type CachePadding = G::CachePadding;

    fn shared(cpus: usize) -> G::Shared {
        G::shared(cpus)
    }

    fn local(cpu: usize) -> G::Local {
        G::local(cpu)
    }

    #[inline(always)]
    fn is_speculating(local: &G::Local) -> bool {
        G::is_speculating(local)
    }

    #[inline(always)]
    fn counts(local: &G::Local) -> Option<&Counts> {
        G::counts(local)
    }

    #[inline(always)]
    fn is_waited_for(shared: &G::Shared, local: &G::Local) -> bool {
        G::is_waited_for(shared, local)
    }

    #[inline(always)]
    fn begin(shared: &G::Shared, local: &G::Local, kind: Kind) -> Handoff {
        let handoff = G::begin(shared, local, kind);
        Hardware::current().section_begins(handoff);
        handoff
    }

    #[inline(always)]
    fn end(shared: &G::Shared, local: &G::Local, kind: Kind) {
        Hardware::current().section_ends();
        G::end(shared, local, kind);
    }
}

impl Hardware {
    fn section_begins(&self, handoff: Handoff) {
        let me = self.here();
        me.section.set((meter::now(), handoff.is_from(me.number as usize)));
        if let Some(service) = &self.service {
            let way = |lines: &Transfers| transfer(lines, handoff, me.number);
            let transfers = service.transfers.as_ref().map_or(0, way);
            meter::pass(draw(service, &self.lengths) + transfers);
        }
    }

    fn section_ends(&self) {
        let (since, same) = self.here().section.get();
        let Sections { count, time, same: before } = self.sections.get();
        let time = time + meter::now().saturating_sub(since);
        self.sections.set(Sections { count: count + 1, time, same: before + u64::from(same) });
    }
}
