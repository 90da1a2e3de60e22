//! The tree of reservations as a small picture.

use abi::boot::ALL_CPUS;
use abi::reservation::{Budget, Curve, Policy, Server, Share, Timing};
use comfy_table::Table;

use super::plain;
use crate::system::{Reservation, System};
use crate::units::{spell_duration, spell_percent};

impl System {
    /// The reservations in a class, or right below the root of a CPU.
    pub fn reservations_in(&self, class: Option<usize>, cpu: u32) -> Vec<usize> {
        let all = self.reservations.iter().enumerate();
        let inside = all.filter(|(_, one)| one.class == class && one.cpu == cpu);
        inside.map(|(index, _)| index).collect()
    }

    /// The names of the domains whose threads run on a reservation, or a thread that is a task.
    pub fn domains_on(&self, reservation: usize) -> Vec<&str> {
        let domains = self.booted().iter();
        let on = domains.filter(|domain| {
            let mut tasks = domain.tasks.iter().map(|task| task.reservation);
            domain.reservation == Some(reservation) || tasks.any(|it| it == Some(reservation))
        });
        on.map(|domain| domain.name.as_str()).collect()
    }
}

impl Reservation {
    /// What it is among its siblings, in words.
    pub fn spell_share(&self, system: &System) -> String {
        match self.share {
            Share::Priority(priority) => format!("priority {priority}"),
            Share::Deadline => {
                let own = self.limit.filter(|limit| limit.budget < limit.period);
                let due = self.timing.map(|timing| timing.deadline);
                let due = due.or(own.map(|limit| limit.period)).map(spell_duration);
                format!("due in {}", due.unwrap_or_default())
            }
            Share::Curve { guaranteed: None, share } => format!("share {}", spell_curve(share)),
            Share::Curve { guaranteed: Some(own), share } if own == share => spell_curve(own),
            Share::Curve { guaranteed: Some(own), share } => {
                format!("{}, share {}", spell_curve(own), spell_curve(share))
            }
            Share::Partition { number: 0, priority } => format!("background, priority {priority}"),
            Share::Partition { number, .. } => {
                let class = self.class.map(|class| &system.reservations[class]);
                let windows = class.map_or(&[][..], |class| &class.windows);
                let mut begin = 0;
                let mut own = 0;
                for window in windows {
                    own += if window.partition == number { window.end - begin } else { 0 };
                    begin = window.end;
                }
                format!("windows {} of {}", spell_duration(own), spell_duration(begin))
            }
        }
    }

    /// What it may use at most, in words; empty without a limit.
    pub fn spell_limit(&self) -> String {
        let Some(Budget { server, budget, period }) = self.limit else { return String::new() };
        let server = match server {
            Server::Periodic => "periodic",
            Server::Constant => "constant",
            Server::ConstantSoft => "constant-soft",
            Server::Sporadic => "sporadic",
        };
        let limit = format!("{} in {}, {server}", spell_duration(budget), spell_duration(period));
        match self.adaptive {
            Some(adaptive) => format!("{limit}, importance {}", adaptive.importance),
            None => limit,
        }
    }

    /// What messages call a class's policy; none of a leaf.
    pub fn spell_policy(&self) -> Option<&'static str> {
        self.policy.map(|policy| match policy {
            Policy::FixedPriority => "fixed priorities",
            Policy::EarliestDeadline => "EDF",
            Policy::ServiceCurves => "service curves",
            Policy::Partitions => "time partitions",
        })
    }
}

/// A service curve in words, for instance `60% for 10ms, 20%`.
pub fn spell_curve(curve: Curve) -> String {
    let [slope, rest] = [curve.slope, curve.rest].map(|slope| spell_percent(slope.into()));
    match curve.bend {
        0 => rest,
        bend => format!("{slope} for {}, {rest}", spell_duration(bend)),
    }
}

/// Each node with its share, its limit, and what is there: a policy or domains.
pub(super) fn table(system: &System) -> Table {
    let titles = ["reservation", "share", "limit", "policy or domains"];
    let mut table = plain(&titles, usize::MAX);
    for cpu in system.roots() {
        if cpu == ALL_CPUS {
            let priority = format!("priority {}", system.shared_priority);
            table.add_row(["cpus", &priority, "", "EDF, any CPU"]);
        } else {
            table.add_row([format!("cpu{cpu}").as_str(), "", "", "fixed priorities"]);
        }
        below(system, None, cpu, 1, &mut table);
        let others = system.booted().iter();
        for domain in others.filter(|domain| domain.reservation.is_none() && domain.cpu == cpu) {
            let priority = format!("priority {}", domain.priority);
            table.add_row(["  -", &priority, "", &domain.name]);
        }
    }
    table
}

fn below(system: &System, class: Option<usize>, cpu: u32, depth: usize, table: &mut Table) {
    for index in system.reservations_in(class, cpu) {
        let node = &system.reservations[index];
        let what = node.spell_policy().map_or_else(
            || {
                let domains = system.domains_on(index).join(", ");
                match node.timing {
                    Some(Timing { deadline, .. }) if node.share != Share::Deadline => {
                        format!("{domains}, due in {}", spell_duration(deadline))
                    }
                    _ => domains,
                }
            },
            str::to_string,
        );
        let name = format!("{}{}", "  ".repeat(depth), node.name);
        table.add_row([name, node.spell_share(system), node.spell_limit(), what]);
        below(system, Some(index), cpu, depth + 1, table);
    }
}
