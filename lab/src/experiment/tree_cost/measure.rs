use super::{
    DECISION, DEPTHS, EXPERIMENT, KERNELS, NODES, OPERATIONS, PAIR, PLAIN, POLICIES, case, overrun,
    taken,
};
use crate::experiment::measured::{pair, recording, spans};
use crate::experiment::{Emulated, Measured, Setup};
use anyhow::Result;
use results::{Case, Curves, Limit, Source};

/// What a decision among 1,000 leaves in three levels of service curves takes at most.
const MOST: u64 = 600;
/// How much more a pair may take in the tree than with a plain ready queue.
const RATIO: f64 = 1.1;

pub fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    measured.samples.push(
        kernel,
        PAIR,
        "",
        vec![pair(&setup.boot("ping-across", kernel)?, kernel)?],
    );
    if kernel != KERNELS[0] {
        return Ok(measured);
    }
    let recording = recording(&setup.boot(EXPERIMENT.name, kernel)?, "recording", kernel)?;
    let cases = cases();
    for (number, metric) in (1..).zip(&OPERATIONS) {
        measured.push(kernel, metric, &cases, spans(&recording, number)?)?;
    }
    limits(&mut measured, setup, kernel)?;
    overrun::measure(&mut measured, setup, kernel)?;
    taken::measure(&mut measured, setup, kernel)?;
    measured.curves = OPERATIONS.iter().map(|metric| curves(&measured, kernel, metric)).collect();
    Ok(measured)
}

/// All cases, in the program's order.
fn cases() -> Vec<String> {
    let of = |policy| {
        DEPTHS.into_iter().flat_map(move |depth| NODES.map(|nodes| case(policy, nodes, depth)))
    };
    POLICIES.into_iter().flat_map(of).collect()
}

/// What is promised of the tree.
fn limits(measured: &mut Measured, setup: &Setup, kernel: &str) -> Result<()> {
    let deep = case(POLICIES[2], 1_000, 3);
    let decision = measured.median(kernel, DECISION, &deep)?;
    let plain = pair(&setup.boot("ping-across", PLAIN)?, PLAIN)?;
    let ratio = measured.median(kernel, PAIR, "")? / plain as f64;
    measured.limits = vec![
        Limit::most(format!("{DECISION}, {deep}"), decision, MOST as f64, "instructions"),
        Limit::most(format!("{PAIR} by that of {PLAIN}"), ratio, RATIO, "times"),
    ];
    // Logarithmic growth: a leaf more in its place takes steps by the height of a balanced tree.
    let steps = |nodes: u64| (nodes as f64 + 2.0).log2();
    for metric in &OPERATIONS {
        for policy in POLICIES {
            let [few, many] = [NODES[1], NODES[3]];
            let [at_few, at_many] = [few, many].map(|nodes| case(policy, nodes, 1));
            let growth = measured.median(kernel, metric, &at_many)?
                / measured.median(kernel, metric, &at_few)?;
            let name = format!("{metric}, {policy}: {many} leaves by {few}");
            let bound = steps(many) / steps(few);
            measured.limits.push(Limit::most(name, growth, bound, "times"));
        }
    }
    Ok(())
}

/// How a metric grows.
fn curves(measured: &Measured, kernel: &str, metric: &str) -> Curves {
    let of = |policy: &str| {
        let at = |nodes: u64| {
            let median = measured.median(kernel, metric, &case(policy, nodes, 1)).ok()?;
            Some((nodes as f64, median))
        };
        Case::of(policy, Source::Simulated, NODES.into_iter().filter_map(at))
    };
    let title = format!("{metric} in one class, by ready leaves");
    let axes = ["leaves", "instructions"];
    Curves::of(format!("tree-{metric}"), title, axes, POLICIES.map(of).to_vec())
}
