//! `lock-cost`: what guarding the kernel adds to a message, uncontended (S1-E01).

mod simulated;

use super::{Cpus, Experiment, Hardware, Measure, Measured, claims};
use crate::machine::native::Cost;
use anyhow::{Context, Result};
use results::{Fact, Limit};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "lock-cost",
    about: "What each locking adds to a message on one CPU",
    ledger: &["S1-E01", "S1-C01", "S1-C02"],
    machines: &[Measure::Hardware(measure), Measure::Simulated(simulated::measure)],
    cpus: Cpus::Any,
    kernels: &manifest::KERNELS,
    metrics: &[METRIC],
    cases: &[],
    parameters: &[
        ("CPUs", "one, whatever is asked for, so that it can stand beside `lock-scaling`"),
        ("batch", "100 round trips"),
        ("batches", "5 starts of 400, lockings taking turns"),
    ],
    notes: &[
        "One-way messages of one word between two domains on one CPU: mean ticks of a batch. There \
         is no trap and no page-table load.",
        "`none` is a kernel for one CPU. `none-several` is a kernel with the code for several CPUs \
         and no lock: what it adds is not the lock's. What a locking adds is the median over \
         starts of the differences of medians within a start.",
        "On the twin ticks are modelled instructions: what a locking adds is its atomic exchanges \
         and transactions, at what the table of costs says. Barriers are those that a processor \
         with weakly ordered memory needs, counted in a run of its own.",
    ],
    golden: false,
    modelled: false,
    claims: claims::lock_cost::all,
};

/// The metric.
pub const METRIC: &str = "message";
/// The locking that the others are compared with.
pub const BASE: &str = "none";
/// What trap, return and page-table load of a message take, as a fact of machines that have them.
pub const ENTRY: &str = "trap and page-table load";
/// Memory barriers of a round trip under a locking, as a fact of machines that count them.
pub fn barriers(locking: &str) -> String {
    format!("barriers of a round trip, {locking}")
}
/// Whether the processor has transactions, as a fact.
pub const TRANSACTIONS: &str = "transactions of the processor";

/// How much a locking may add to a message at most, in percent of one without locks: processors
/// differ.
const LIMITS: [(&str, f64); 3] = [("big", 75.0), ("elided", 125.0), ("fine", 300.0)];

/// The case of a locking.
pub fn case(locking: &str) -> String {
    format!("locking={locking}")
}

/// How often the program is started, and the batches of each locking in a start.
const STARTS: usize = 5;
const BATCHES: &str = "400";

fn measure(setup: &Hardware, kernel: &str) -> Result<Measured> {
    let options = ["cost", "--kernel", kernel, "--trips", "100", "--rounds", BATCHES];
    let start = |_| setup.run::<Vec<Cost>>(&options);
    let starts = (0..STARTS).map(start).collect::<Result<Vec<_>>>()?;
    let host = starts.first().context("no start")?;
    let mut measured = Measured::default();
    measured.host.insert("processor".to_string(), host.processor.clone());
    measured.host.insert("counter".to_string(), format!("{} Hz", host.hertz));
    if kernel == EXPERIMENT.kernels[0] {
        tell_of_transactions(&mut measured, host.transactions);
    }
    let lockings = || host.found.iter().map(|cost| cost.locking.as_str());
    let of = |locking: &str| -> Vec<&Cost> {
        let all = starts.iter().flat_map(|start| &start.found);
        all.filter(|cost| cost.locking == locking).collect()
    };
    let base: Vec<f64> = of(BASE).into_iter().map(per_message).collect();
    for locking in lockings() {
        let costs = of(locking);
        let ticks = |cost: &&Cost| -> Vec<u64> {
            let messages = cost.messages_in_batch;
            cost.batches.iter().map(|ticks| (ticks + messages / 2) / messages).collect()
        };
        let values = costs.iter().flat_map(ticks).collect();
        measured.samples.push(kernel, METRIC, &case(locking), values);
        if locking != BASE {
            let differences =
                costs.iter().zip(&base).map(|(cost, base)| per_message(cost) - base).collect();
            add(&mut measured, [kernel, locking], middle(differences), middle(base.clone()));
        }
    }
    Ok(measured)
}

fn tell_of_transactions(measured: &mut Measured, usable: bool) {
    measured.facts.push(Fact {
        name: TRANSACTIONS.to_string(),
        value: usable.into(),
        unit: String::new(),
        note: "1 if they can commit; without them `elided` is its fall-back".to_string(),
    });
    if !usable {
        let note = "THIS PROCESSOR HAS NO TRANSACTIONS: `elided` runs on its fall-back, the lock.";
        measured.notes.push(note.to_string());
    }
}

/// What a locking adds to a message of `base` ticks, as a fact and where it has one as a limit.
fn add(measured: &mut Measured, [kernel, locking]: [&str; 2], added: f64, base: f64) {
    measured.facts.push(added_fact([kernel, locking], added));
    let limit = LIMITS.iter().find(|(name, _)| *name == locking);
    measured.limits.extend(limit.map(|(name, bound)| Limit {
        name: format!("{kernel}: added by {name} to a message"),
        value: (added / base * 100.0).round(),
        bound: *bound,
        least: false,
        unit: "% of one without locks".to_string(),
    }));
}

fn added_fact([kernel, locking]: [&str; 2], added: f64) -> Fact {
    Fact {
        name: format!("{kernel} {locking}: added"),
        value: added.max(0.0).round() as u64,
        unit: "ticks".to_string(),
        note: "to a message".to_string(),
    }
}

/// The median over batches of the mean ticks of a message.
fn per_message(cost: &Cost) -> f64 {
    let batches = cost.batches.iter().map(|ticks| *ticks as f64).collect();
    middle(batches) / cost.messages_in_batch as f64
}

/// The upper median; 0 of nothing.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_ticks_are_facts_and_have_limits() {
        let mut measured = Measured::default();
        add(&mut measured, ["fastpath", "big"], 30.04, 40.0);
        add(&mut measured, ["fastpath", "none-several"], 90.0, 40.0);
        let [big, other] = &measured.facts[..] else { panic!("two facts") };
        assert_eq!((&*big.name, big.value), ("fastpath big: added", 30));
        assert_eq!(other.value, 90);
        let [limit] = &measured.limits[..] else { panic!("one limit") };
        assert!(limit.held() && limit.value == 75.0);
        add(&mut measured, ["slowpath", "big"], 30.04, 20.0);
        assert!(!measured.limits[1].held());
    }

    #[test]
    fn a_message_takes_what_the_usual_batch_says() {
        let batches = vec![2_000, 1_000, 90_000];
        let cost = Cost { locking: "big".into(), batches, messages_in_batch: 100, messages: 300 };
        assert_eq!(per_message(&cost), 20.0);
        assert_eq!(middle(Vec::new()), 0.0);
    }
}
