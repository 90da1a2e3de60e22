//! The rules of S2B-12 once more, in the simplest way: floating point for what is wanted, and
//! budgets that go down a nanosecond at a time.

use super::*;

/// `mean(h) + MAD(h)/2 + mean(e)` of all uses, each with the budget of its control period.
pub fn wanted(uses: &[(Use, u64)], length: usize) -> Option<f64> {
    let samples: Vec<(f64, f64)> = uses
        .iter()
        .filter(|(seen, _)| seen.jobs > 0)
        .map(|(seen, budget)| {
            let lacked = (seen.extra / u64::from(seen.jobs)) as f64;
            match seen.extra {
                0 => ((seen.consumed / u64::from(seen.jobs)) as f64, 0.0),
                _ => (*budget as f64 + lacked, lacked),
            }
        })
        .collect();
    let last = &samples[samples.len().saturating_sub(length)..];
    let n = last.len() as f64;
    let mean = last.iter().map(|(h, _)| h).sum::<f64>() / n;
    let deviation = last.iter().map(|(h, _)| (h - mean).abs()).sum::<f64>() / n;
    let lacked = last.iter().map(|(_, e)| e).sum::<f64>() / n;
    (n > 0.0).then_some(mean + deviation / 2.0 + lacked)
}

/// Millionths of a CPU, rounded up.
pub fn rate(budget: u64, period: u64) -> u64 {
    (u128::from(budget) * 1_000_000).div_ceil(u128::from(period)) as u64
}

/// All rates together.
pub fn rates(siblings: &[Sibling], budgets: &[u64]) -> u64 {
    siblings.iter().zip(budgets).map(|(it, budget)| rate(*budget, it.period)).sum()
}

/// Whether a child is less important than another one, which is soft.
pub fn is_less(siblings: &[Sibling], at: usize, than: usize) -> bool {
    match (siblings[at].kind, siblings[than].kind) {
        (Kind::Soft { importance: a, .. }, Kind::Soft { importance: b, .. }) => {
            a < b || a == b && at > than
        }
        _ => false,
    }
}

pub fn least(sibling: &Sibling) -> u64 {
    match sibling.kind {
        Kind::Soft { least, .. } => least,
        Kind::Hard => sibling.budget,
    }
}

/// The decision, for budgets of some thousand nanoseconds.
pub fn decide(siblings: &[Sibling], supply: u32, adapted: usize, wanted: u64) -> Vec<u64> {
    let mut budgets: Vec<u64> = siblings.iter().map(|it| it.budget).collect();
    let mut throttled = budgets.clone();
    for at in 0..siblings.len() {
        if is_less(siblings, at, adapted) {
            throttled[at] = least(&siblings[at]);
        }
    }
    // The most that fits if all less important ones have their least.
    let own = &siblings[adapted];
    let mut new = wanted.clamp(least(own), own.period - 1);
    loop {
        throttled[adapted] = new;
        if new == least(own) || rates(siblings, &throttled) <= u64::from(supply) {
            break;
        }
        new -= 1;
    }
    budgets[adapted] = new;
    while rates(siblings, &budgets) > u64::from(supply) {
        let can =
            |at: &usize| is_less(siblings, *at, adapted) && budgets[*at] > least(&siblings[*at]);
        let next = (0..siblings.len()).filter(can).min_by(|a, b| {
            if is_less(siblings, *a, *b) {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            }
        });
        budgets[next.expect("least budgets fit")] -= 1;
    }
    budgets
}
