//! Budgets that follow demand (S2B-12): what each level has at least, and can get at most.

use crate::commands::{spaced, table};
use analysis::time;
use manifest::{System, spell_percent};
use serde_json::{Value, json};

/// A reservation whose budget follows demand; times are in nanoseconds of each period.
pub struct Follows {
    name: String,
    /// Reservations above it.
    depth: usize,
    importance: u32,
    period: u64,
    begins: u64,
    least: u64,
    most: u64,
}

/// All of a system, each behind its class; in a class the most important first.
pub fn all(system: &System) -> Vec<Follows> {
    let mut all = Vec::new();
    system.roots().into_iter().for_each(|cpu| below(system, None, cpu, 0, &mut all));
    all
}

fn below(system: &System, class: Option<usize>, cpu: u32, depth: usize, all: &mut Vec<Follows>) {
    let mut children = system.reservations_in(class, cpu);
    children.sort_by_key(|child| {
        std::cmp::Reverse(system.reservations[*child].adaptive.map(|own| own.importance))
    });
    for index in children {
        let node = &system.reservations[index];
        let most = system.most_budget(index);
        if let (Some(own), Some(limit), Some(most)) = (node.adaptive, node.limit, most) {
            all.push(Follows {
                name: node.name.clone(),
                depth,
                importance: own.importance,
                period: limit.period,
                begins: limit.budget,
                least: own.least,
                most,
            });
        }
        below(system, Some(index), cpu, depth + 1, all);
    }
}

/// A table; empty if there is nothing to tell.
pub fn text(all: &[Follows]) -> String {
    let shallowest = all.iter().map(|one| one.depth).min().unwrap_or(0);
    let mut rows =
        table(&["adaptive", "importance", "period", "begins with", "at least", "at most"]);
    for one in all {
        let name = format!("{}{}", "  ".repeat(one.depth - shallowest), one.name);
        let part = |budget: u64| {
            let rate = u128::from(budget) * 1_000_000 / u128::from(one.period);
            format!("{}, {}", time(budget), spell_percent(rate as u64))
        };
        let period = time(one.period);
        let importance = one.importance.to_string();
        rows.add_row([name, importance, period, time(one.begins), part(one.least), part(one.most)]);
    }
    spaced(rows)
}

impl Follows {
    /// For programs.
    pub fn document(&self) -> Value {
        json!({
            "name": self.name,
            "importance": self.importance,
            "period_ns": self.period,
            "budget_ns": self.begins,
            "least_ns": self.least,
            "most_ns": self.most,
        })
    }
}
