//! The attacks, by name.

use super::hostile::Herd;
use super::{makes, owns, shares, waits};
use rt::Error;

type Step = fn(&Herd) -> Result<(), Error>;

/// An attack.
pub struct Attack {
    /// Its name.
    pub name: &'static str,
    /// It is one blow at an instant, again and again; else it goes on in a loop.
    pub is_blow: bool,
    /// Its threads run on reservations of theirs.
    pub has_leaves: bool,
    /// Makes what it needs.
    pub gather: Step,
    /// A turn of the loop, or what puts the herd in place for a blow.
    pub strike: Step,
}

const fn in_loop(name: &'static str, gather: Step, strike: Step) -> Attack {
    Attack { name, is_blow: false, has_leaves: false, gather, strike }
}

const fn blow(name: &'static str, gather: Step, strike: Step) -> Attack {
    Attack { is_blow: true, ..in_loop(name, gather, strike) }
}

const fn on_leaves(attack: Attack) -> Attack {
    Attack { has_leaves: true, ..attack }
}

/// All attacks; cases of the recording count them.
pub const ATTACKS: [Attack; 16] = [
    in_loop("none", waits::none, waits::pause),
    blow("queue", waits::queue, waits::stay),
    blow("timers", waits::timers, Herd::open_gate),
    blow("timeouts", waits::timeouts, Herd::open_gate),
    in_loop("notifications", waits::notifications, waits::signals),
    in_loop("priorities", waits::senders, waits::priorities),
    in_loop("cancellations", waits::senders, waits::cancellations),
    in_loop("chains", owns::row, owns::priorities),
    in_loop("rings", owns::row, owns::rings),
    in_loop("futex-domain", owns::domain, owns::wake_domain),
    in_loop("futex-shared", owns::shared, owns::wake_shared),
    in_loop("futex-inherit", owns::inherit, owns::wake_inherit),
    in_loop("creation", waits::stay, makes::creation),
    on_leaves(in_loop("budgets", shares::budgets, shares::pause)),
    on_leaves(blow("curves", shares::curves, Herd::open_gate)),
    on_leaves(blow("misses", shares::misses, Herd::open_gate)),
];
