//! `lock-cost`: what guarding the kernel adds to a message, uncontended (S1-E01).

use super::{Experiment, Measured, Setup, claims};
use crate::machine::native::{self, Cost};
use anyhow::{Context, Result};
use results::{Fact, Limit};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "lock-cost",
    about: "What each locking adds to a message on one CPU",
    ledger: &["S1-E01", "S1-C01", "S1-C02"],
    machines: &["native"],
    kernels: &manifest::KERNELS,
    metrics: &[METRIC],
    cases: &[],
    parameters: &[("batch", "100 round trips"), ("batches", "2000, lockings taking turns")],
    notes: &[
        "One-way messages of one word between two domains on one CPU: mean ticks of a batch. There \
         is no trap and no page-table switch; percentages are over a message with 400 ticks for \
         both.",
        "`none` is a kernel for one CPU. `none-several` is a kernel with the code for several CPUs \
         and no lock: what it adds is not the lock's.",
    ],
    golden: false,
    modelled: false,
    claims: claims::lock_cost::all,
    measure,
};

/// The metric.
pub const METRIC: &str = "message";
/// The locking that the others are compared with.
pub const BASE: &str = "none";
/// Ticks for trap and page-table switch, on top of a message: stated, not measured.
pub const TRAP_AND_SWITCH: f64 = 400.0;
/// Whether the processor has transactions, as a fact.
pub const TRANSACTIONS: &str = "transactions of the processor";

/// Ticks that a locking may add to a message at most.
const LIMITS: [(&str, f64); 3] = [("big", 30.0), ("elided", 60.0), ("fine", 80.0)];

/// The case of a locking.
pub fn case(locking: &str) -> String {
    format!("locking={locking}")
}

fn measure(setup: &Setup, kernel: &str) -> Result<Measured> {
    let options = ["cost", "--kernel", kernel, "--trips", "100", "--rounds", "2000"];
    let host = native::run::<Vec<Cost>>(&setup.images.kernel, &options)?;
    let mut measured = Measured::default();
    measured.host.insert("processor".to_string(), host.processor.clone());
    measured.host.insert("counter".to_string(), format!("{} Hz", host.hertz));
    if kernel == EXPERIMENT.kernels[0] {
        measured.facts.push(Fact {
            name: TRANSACTIONS.to_string(),
            value: host.transactions.into(),
            unit: String::new(),
            note: "1 if they can commit; without them `elided` is its fall-back".to_string(),
        });
        if !host.transactions {
            let note =
                "THIS PROCESSOR HAS NO TRANSACTIONS: `elided` runs on its fall-back, the lock.";
            measured.notes.push(note.to_string());
        }
    }
    let base = host.found.iter().find(|cost| cost.locking == BASE).context("no base")?;
    let base = per_message(base);
    for cost in &host.found {
        let round = |ticks: &u64| (ticks + cost.messages_in_batch / 2) / cost.messages_in_batch;
        let values = cost.batches.iter().map(round).collect();
        measured.samples.push(kernel, METRIC, &case(&cost.locking), values);
        if cost.locking == BASE {
            continue;
        }
        let added = per_message(cost) - base;
        measured.facts.push(Fact {
            name: format!("{kernel} {}: added", cost.locking),
            value: added.max(0.0).round() as u64,
            unit: "ticks".to_string(),
            note: format!(
                "{:.1} % of a message with trap and switch",
                added / (base + TRAP_AND_SWITCH) * 100.0
            ),
        });
        let limit = LIMITS.iter().find(|(name, _)| *name == cost.locking);
        measured.limits.extend(limit.map(|(name, bound)| Limit {
            name: format!("{kernel}: added by {name} to a message"),
            value: (added * 10.0).round() / 10.0,
            bound: *bound,
            least: false,
            unit: "ticks".to_string(),
        }));
    }
    Ok(measured)
}

/// The median over batches of the mean ticks of a message.
fn per_message(cost: &Cost) -> f64 {
    let mut batches = cost.batches.clone();
    batches.sort_unstable();
    batches[batches.len() / 2] as f64 / cost.messages_in_batch as f64
}
