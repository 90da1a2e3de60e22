use super::{BASE, EXPERIMENT, METRIC, TRANSACTIONS, case};
use crate::experiment::measured::{fact, middle};
use crate::experiment::{Hardware, Measured};
use crate::machine::native::Cost;
use anyhow::{Context, Result};
use results::{Fact, Limit};

/// How much a locking may add to a message at most, in percent of one without locks: processors
/// differ.
const LIMITS: [(&str, f64); 3] = [("big", 75.0), ("elided", 125.0), ("fine", 300.0)];

/// How often the program is started.
const STARTS: usize = 5;

pub fn measure(setup: &Hardware, kernel: &str) -> Result<Measured> {
    let batches = setup.asked.number("batches", 400).to_string();
    let options = ["cost", "--kernel", kernel, "--trips", "100", "--rounds", &batches];
    let start = |_| setup.run::<Vec<Cost>>(&options);
    let starts = (0..STARTS).map(start).collect::<Result<Vec<_>>>()?;
    let host = starts.first().context("no start")?;
    let mut measured = Measured::default();
    measured.on_host(host);
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

pub fn tell_of_transactions(measured: &mut Measured, usable: bool) {
    let note = "1 if they can commit; without them `elided` is its fall-back";
    measured.facts.push(fact(TRANSACTIONS, usable.into(), "", note));
    if !usable {
        let note = "THIS PROCESSOR HAS NO TRANSACTIONS: `elided` runs on its fall-back, the lock.";
        measured.notes.push(note.to_string());
    }
}

/// What a locking adds to a message of `base` ticks, as a fact and where it has one as a limit.
pub fn add(measured: &mut Measured, [kernel, locking]: [&str; 2], added: f64, base: f64) {
    measured.facts.push(added_fact([kernel, locking], added));
    let limit = LIMITS.iter().find(|(name, _)| *name == locking);
    measured.limits.extend(limit.map(|(name, bound)| {
        let percent = (added / base * 100.0).round();
        let name = format!("{kernel}: added by {name} to a message");
        Limit::most(name, percent, *bound, "% of one without locks")
    }));
}

pub fn added_fact([kernel, locking]: [&str; 2], added: f64) -> Fact {
    let ticks = added.max(0.0).round() as u64;
    fact(format!("{kernel} {locking}: added"), ticks, "ticks", "to a message")
}

/// The median over batches of the mean ticks of a message.
pub fn per_message(cost: &Cost) -> f64 {
    let batches = cost.batches.iter().map(|ticks| *ticks as f64).collect();
    middle(batches) / cost.messages_in_batch as f64
}
