//! Budgets that are advised, as they would stand in the manifest.
//!
//! The analysis looks for the nearest budget in nanoseconds, among siblings of one class, and knows
//! nothing of what classes promise. A manifest has whole microseconds, and is refused where a class
//! promises more than it has. So what is advised is rounded, raised to what is promised inside, and
//! tried on the whole system.

use super::decided::name;
use super::shared::{OnCpu, reports};
use abi::reservation::LEAST_BUDGET;
use analysis::Overheads;
use analysis::tree::{LeafReport, Report};
use manifest::System;

/// A microsecond, in ns: the unit of budgets.
const UNIT: u64 = 1_000;

/// Gives each server a nearest budget that the manifest can have, or none. Two analyses of the
/// whole system for each server at most.
pub fn round(system: &System, overheads: Overheads, cpus: &mut [OnCpu]) {
    for (at, OnCpu { report, .. }) in cpus.iter_mut().enumerate() {
        for server in 0..report.servers.len() {
            let nearest = Trial { system, overheads, at, report, server }.nearest();
            report.servers[server].nearest = nearest;
        }
    }
}

/// A server for which a budget is looked for.
struct Trial<'a> {
    system: &'a System,
    overheads: Overheads,
    /// The place of its CPU among the reports.
    at: usize,
    report: &'a Report,
    server: usize,
}

impl Trial<'_> {
    fn nearest(&self) -> Option<u64> {
        let server = &self.report.servers[self.server];
        let exact = server.nearest?;
        // Below a budget that is not enough whatever is less is better for the siblings.
        let is_in_time = self.leaves_inside(self.report).all(|leaf| leaf.verdict.fits());
        let down = exact < server.budget && !is_in_time;
        let rounded = if down { exact / UNIT } else { exact.div_ceil(UNIT) } * UNIT;
        let rounded = rounded.max(LEAST_BUDGET);
        let is_possible = |budget: u64| (LEAST_BUDGET..=server.period).contains(&budget);
        let first = Some(rounded).filter(|budget| is_possible(*budget));
        let first = first.filter(|budget| self.is_good(*budget));
        let raised = || self.promised_inside(rounded).filter(|budget| is_possible(*budget));
        first.or_else(|| raised().filter(|budget| *budget != rounded && self.is_good(*budget)))
    }

    /// The system with another budget.
    fn with(&self, budget: u64) -> Option<System> {
        let mut system = self.system.clone();
        let server = name(&self.report.servers[self.server].path);
        let node = system.reservations.iter_mut().find(|node| node.name == server)?;
        node.limit.as_mut()?.budget = budget;
        Some(system)
    }

    /// Whether a budget is admitted, everything in the server is in time by it, and all that is
    /// now still is.
    fn is_good(&self, budget: u64) -> bool {
        let Some(system) = self.with(budget).filter(System::is_promised) else { return false };
        let after = reports(&system, self.overheads);
        let Some(OnCpu { report: after, .. }) = after.get(self.at) else { return false };
        let mut both = self.report.leaves.iter().zip(&after.leaves);
        self.leaves_inside(after).all(|leaf| leaf.verdict.fits())
            && both.all(|(before, after)| after.verdict.fits() || !before.verdict.fits())
    }

    /// The least budget from this one on for which the class can promise what it does, if there is
    /// one up to the period. Binary search.
    fn promised_inside(&self, from: u64) -> Option<u64> {
        let is_promised = |budget| self.with(budget).is_some_and(|system| system.is_promised());
        let period = self.report.servers[self.server].period;
        let (mut low, mut high) = (from / UNIT, period / UNIT);
        while low < high {
            let middle = low.midpoint(high);
            if is_promised(middle * UNIT) { high = middle } else { low = middle + 1 }
        }
        Some(high * UNIT).filter(|budget| is_promised(*budget))
    }

    fn leaves_inside<'r>(&self, report: &'r Report) -> impl Iterator<Item = &'r LeafReport> {
        let path = format!("{}/", self.report.servers[self.server].path);
        report.leaves.iter().filter(move |leaf| leaf.path.starts_with(&path))
    }
}
