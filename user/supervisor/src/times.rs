//! Children that run out of time. The kernel signals a bit for each that has used its budget up,
//! and one for each whose job has missed its deadline, through the supervisor's endpoint.

use abi::supervision::{Child, MISSED, Reason, TIMES};
use rt::{Env, Slot, Wait, ipc, reservation};

use crate::policy::Set;

/// What was told of and is not done yet.
pub struct Times {
    /// None: no child is restarted for that.
    notification: Option<Slot>,
    overran: Set,
    missed: Set,
}

impl Times {
    /// Nothing was told yet.
    pub fn new(env: &Env) -> Times {
        Times { notification: env.find_cap(TIMES), overran: 0, missed: 0 }
    }

    /// These bits were signalled.
    pub fn take(&mut self, bits: u64) {
        self.overran |= bits as Set;
        self.missed |= (bits >> MISSED) as Set;
    }

    /// These children are gone: what they did is past.
    pub fn forget(&mut self, set: Set) {
        // With no time to wait it fails if there is no signal.
        let told = self.notification.map(|slot| ipc::receive(slot, Wait::ZERO));
        if let Some(Ok(bits)) = told {
            self.take(bits.badge);
        }
        self.overran &= !set;
        self.missed &= !set;
    }

    /// A child that has run out of time, and how, if there is one.
    pub fn next(&mut self) -> Option<(usize, Reason)> {
        let (set, reason) = match self.overran {
            0 => (&mut self.missed, Reason::Missed),
            _ => (&mut self.overran, Reason::Overran),
        };
        let child = (*set != 0).then(|| set.trailing_zeros() as usize)?;
        *set &= *set - 1;
        Some((child, reason))
    }
}

/// Which overrun of a child it is, or which of its jobs: its leaf counts across restarts.
pub fn count(child: &Child, reason: Reason) -> u64 {
    let usage = child.reservation.and_then(|leaf| reservation::usage(Slot(leaf)).ok());
    usage.map_or(0, |usage| match reason {
        Reason::Missed => usage.jobs.ended + 1,
        _ => usage.overruns.into(),
    })
}
