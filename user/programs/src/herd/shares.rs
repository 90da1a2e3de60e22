//! Attacks by threads that run on reservations, which the herd makes in a class that it may divide.

use super::hostile::{BELL, CLASS, Herd, Member, Work};
use abi::reservation::{Budget, Curve, LEAST_BUDGET, Policy, Server, Share, WHOLE};
use rt::{Error, Slot};
use rt::{reservation, signal, system};

/// The row of leaves.
const LEAVES: usize = 1;
/// The class of all leaves, below the leader's in the flock's.
const BELOW: Share = Share::Priority(10);
/// Nanoseconds.
const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// The leader waits; the herd goes on.
pub fn pause(_: &Herd) -> Result<(), Error> {
    system::sleep(MS);
    Ok(())
}

/// A class of a policy for all leaves.
fn class(herd: &Herd, policy: Policy) -> Result<Slot, Error> {
    let class = herd.slot(CLASS);
    reservation::create_class(class, herd.member.env.cap("flock"), policy, BELOW)?;
    Ok(class)
}

/// Starts each thread on its leaf, once that is there.
fn start(herd: &Herd, work: Work) -> Result<(), Error> {
    for number in 0..herd.threads {
        herd.start_one(number, work)?;
        reservation::run_on(herd.of(0, number), herd.of(LEAVES, number))?;
    }
    Ok(())
}

/// Budgets that all are used up and come back in one stretch of time.
pub fn budgets(herd: &Herd) -> Result<(), Error> {
    let class = class(herd, Policy::EarliestDeadline)?;
    // They are the least, so their switches take much of the time.
    let period = 200 * US + herd.threads as u64 * 2 * LEAST_BUDGET;
    for number in 0..herd.threads {
        let leaf = herd.of(LEAVES, number);
        reservation::create_leaf(leaf, class, Share::Deadline)?;
        reservation::set_budget(leaf, Some(Budget::new(Server::Periodic, LEAST_BUDGET, period)))?;
    }
    start(herd, |_, _| {
        loop {
            system::work(1_000);
        }
    })
}

/// Curves that bend at one instant behind the blow, at which all leaves wake.
pub fn curves(herd: &Herd) -> Result<(), Error> {
    let class = class(herd, Policy::ServiceCurves)?;
    let slope = WHOLE / 4 / super::MOST as u32;
    for number in 0..herd.threads {
        let curve = Curve { slope: 2 * slope, bend: 100 * US, rest: slope };
        reservation::create_leaf(herd.of(LEAVES, number), class, Share::curve(curve))?;
    }
    start(herd, |env, number| {
        let member = Member::new(env, number);
        loop {
            member.pass_gate();
            system::sleep_until(member.instant());
            system::work(1_000);
        }
    })
}

/// Deadlines that all are missed at the blow, each with a monitor.
pub fn misses(herd: &Herd) -> Result<(), Error> {
    let class = class(herd, Policy::FixedPriority)?;
    signal::create_notification(herd.slot(BELL))?;
    let deadline = ahead(herd.threads);
    for number in 0..herd.threads {
        let leaf = herd.of(LEAVES, number);
        reservation::create_leaf(leaf, class, Share::Priority(number as u16 % 512))?;
        let timing = core::time::Duration::from_nanos(deadline);
        reservation::set_timing(leaf, Some((timing, timing)))?;
        reservation::set_monitor(leaf, herd.slot(BELL), 1, 0)?;
    }
    start(herd, |env, number| {
        let member = Member::new(env, number);
        loop {
            member.pass_gate();
            system::sleep_until(member.instant() - ahead(member.threads()));
            while system::clock() < member.instant() {
                system::work(500);
            }
        }
    })
}

/// From the release of all jobs to their deadlines.
fn ahead(threads: usize) -> u64 {
    100 * US + threads as u64 * 4 * US
}
