//! What supervised domains alone hold. It is as at boot when they are restarted.

use abi::Rights;
use abi::supervision::MOST_CHILDREN;

use crate::system::{Capability, Domain, System};
use crate::target::Target;

/// The supervised domains that alone hold an object, a bit each.
type Holders = u32;

/// The timers, notifications and interrupts that only supervised domains hold or make signal, in
/// this order: what could still signal goes first. They are the domains from `booted` on.
pub fn by_children(system: &System, booted: usize) -> Vec<(Target, Holders)> {
    let timers = (0..system.timers.len()).map(Target::Timer);
    let notifications = (0..system.notifications.len()).map(Target::Notification);
    let interrupts = (0..system.interrupts.len()).map(Target::Interrupt);
    let all = timers.chain(notifications).chain(interrupts);
    all.filter_map(|target| Some((target, holders(system, booted, target)?))).collect()
}

/// The supervisor's name for what it resets, and the right that it needs for that.
pub fn cap(system: &System, target: Target) -> Capability {
    let (name, rights) = match target {
        Target::Timer(index) => (&system.timers[index].name, Rights::CONTROL),
        Target::Interrupt(index) => (&system.interrupts[index].name, Rights::CONTROL),
        Target::Notification(index) => (&system.notifications[index].name, Rights::RECEIVE),
        _ => unreachable!("nothing else is reset"),
    };
    let name = format!("{}.own.{name}", target.kind().name());
    Capability { name, target, rights, badge: 0, is_kept: false }
}

/// None: it has no holder, or also one that is not supervised.
fn holders(system: &System, booted: usize, target: Target) -> Option<Holders> {
    let mut holders = holding(system, target, Rights::NONE);
    if let Target::Notification(index) = target {
        holders.extend(touching(system, index));
    }
    let bits = holders.iter().map(|holder| holder.checked_sub(booted));
    let bits: Option<Vec<usize>> = bits.collect();
    let bits = bits?.into_iter().filter(|bit| *bit < MOST_CHILDREN);
    Some(bits.fold(0, |set, bit| set | 1 << bit)).filter(|set| *set != 0)
}

/// Domains that have a capability to it with these rights.
fn holding(system: &System, target: Target, rights: Rights) -> Vec<usize> {
    let has = |domain: &Domain| {
        domain.caps.iter().any(|cap| cap.target == target && cap.rights.contains(rights))
    };
    let domains = system.domains.iter().enumerate();
    domains.filter(|(_, domain)| has(domain)).map(|(index, _)| index).collect()
}

/// Domains that receive a notification's signals through an endpoint, or whose timers, interrupts,
/// restarts or reservations signal it, those in a class for the class.
fn touching(system: &System, index: usize) -> Vec<usize> {
    let mut found = Vec::new();
    for (nth, endpoint) in system.endpoints.iter().enumerate() {
        if endpoint.notification == Some(index) {
            found.extend(holding(system, Target::Endpoint(nth), Rights::RECEIVE));
        }
    }
    for (nth, timer) in system.timers.iter().enumerate() {
        if timer.notification == index {
            found.extend(holding(system, Target::Timer(nth), Rights::NONE));
        }
    }
    for (nth, interrupt) in system.interrupts.iter().enumerate() {
        if interrupt.notification == index {
            found.extend(holding(system, Target::Interrupt(nth), Rights::NONE));
        }
    }
    for (nth, reservation) in system.reservations.iter().enumerate() {
        if reservation.monitor.is_some_and(|monitor| monitor.notification == index) {
            found.extend(holding(system, Target::Reservation(nth), Rights::NONE));
            found.extend(domains(system, |domain| is_inside(system, domain.reservation, nth)));
        }
    }
    let told = |domain: &Domain| {
        domain.restart.as_ref().and_then(|restart| restart.told).is_some_and(|it| it.0 == index)
    };
    found.extend(domains(system, told));
    found
}

/// Whether a reservation is another one or in it, through classes.
fn is_inside(system: &System, one: Option<usize>, other: usize) -> bool {
    let class = |index: &usize| system.reservations[*index].class;
    std::iter::successors(one, class).any(|index| index == other)
}

fn domains(system: &System, which: impl Fn(&Domain) -> bool) -> Vec<usize> {
    let all = system.domains.iter().enumerate();
    all.filter(|(_, domain)| which(domain)).map(|(index, _)| index).collect()
}
