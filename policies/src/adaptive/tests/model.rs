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

/// Millionths of a CPU, rounded up; no more than a CPU.
pub fn rate(budget: u64, within: u64) -> u64 {
    ((u128::from(budget) * 1_000_000).div_ceil(u128::from(within)) as u64).min(1_000_000)
}

/// What the children of a class have together, and what it has for them.
pub fn sums(servers: &[Server], budgets: &[u64], class: Above) -> (u64, u64) {
    let rates = children(servers, class).map(|at| rate(budgets[at], servers[at].within)).sum();
    let has = match class {
        Above::Fixed { supply, .. } => supply.into(),
        Above::Adaptive(at) => {
            let own = u128::from(budgets[at]) * 1_000_000 / u128::from(servers[at].period);
            (own as u64).saturating_sub(servers[at].taken.into())
        }
    };
    (rates, has)
}

/// All classes that these are in.
pub fn classes(servers: &[Server]) -> Vec<Above> {
    let mut classes: Vec<Above> = Vec::new();
    for server in servers {
        if !classes.iter().any(|class| class.is(server.above)) {
            classes.push(server.above);
        }
    }
    classes
}

/// Whether no class promises more than it has.
pub fn fits(servers: &[Server], budgets: &[u64]) -> bool {
    let fits = |class: &Above| {
        let (promised, has) = sums(servers, budgets, *class);
        promised <= has
    };
    classes(servers).iter().all(fits)
}

/// Whether a sibling is less important than another one.
pub fn is_less(servers: &[Server], at: usize, than: usize) -> bool {
    let (one, other) = (servers[at].importance, servers[than].importance);
    one < other || one == other && at > than
}

/// How many of these servers are above one.
pub fn depth(servers: &[Server], at: usize) -> usize {
    match servers[at].above {
        Above::Fixed { .. } => 0,
        Above::Adaptive(class) => 1 + depth(servers, class),
    }
}

/// The decision, for budgets of some thousand nanoseconds: what each asks for by now, and what it
/// gets.
pub fn decide(servers: &[Server], wanted: &[Option<u64>]) -> (Vec<u64>, Vec<u64>) {
    let mut budgets: Vec<u64> = servers.iter().map(|it| it.budget).collect();
    let mut asked: Vec<u64> = servers.iter().map(|it| it.asked).collect();
    let due = |at: &usize| wanted[*at].is_some();
    for at in (0..servers.len()).rev().filter(due) {
        let most: Vec<u64> = (0..servers.len()).map(|at| asked[at].max(budgets[at])).collect();
        let (inside, _) = sums(servers, &most, Above::Adaptive(at));
        let needed = inside + u64::from(servers[at].taken);
        let mut own = 0;
        while own * 1_000_000 / servers[at].period < needed {
            own += 1;
        }
        asked[at] = wanted[at].expect("it is due").saturating_add(own);
        while budgets[at] > asked[at].max(servers[at].least) {
            budgets[at] -= 1;
        }
    }
    let mut left: Vec<usize> = (0..servers.len()).filter(due).collect();
    while let Some(at) = left.iter().copied().find(|at| {
        let before = |other: &usize| {
            let (one, other_depth) = (depth(servers, *at), depth(servers, *other));
            other_depth < one || other_depth == one && is_less(servers, *at, *other)
        };
        !left.iter().any(before)
    }) {
        left.retain(|other| *other != at);
        grant(servers, at, asked[at], &mut budgets);
    }
    (asked, budgets)
}

/// The most that it asks for and that fits if all less important ones have their least.
fn grant(servers: &[Server], at: usize, asked: u64, budgets: &mut [u64]) {
    let own = &servers[at];
    let mut throttled = budgets.to_vec();
    for other in children(servers, own.above) {
        if is_less(servers, other, at) {
            throttled[other] = servers[other].least;
        }
    }
    throttled[at] = asked.clamp(own.least, own.period - 1);
    let is_above = |budgets: &[u64]| {
        let (promised, has) = sums(servers, budgets, own.above);
        promised > has
    };
    while throttled[at] > budgets[at] && is_above(&throttled) {
        throttled[at] -= 1;
    }
    budgets[at] = throttled[at];
    squeeze(servers, own.above, budgets, |other| is_less(servers, other, at));
    for class in 0..servers.len() {
        squeeze(servers, Above::Adaptive(class), budgets, |_| true);
    }
}

/// Takes a nanosecond after the other from the least important child that has more than its least.
fn squeeze(servers: &[Server], class: Above, budgets: &mut [u64], may: impl Fn(usize) -> bool) {
    loop {
        let (promised, has) = sums(servers, budgets, class);
        if promised <= has {
            return;
        }
        let can = |at: &usize| may(*at) && budgets[*at] > servers[*at].least;
        let all: Vec<usize> = children(servers, class).filter(can).collect();
        let least = all.iter().find(|at| !all.iter().any(|other| is_less(servers, *other, **at)));
        budgets[*least.expect("least budgets fit")] -= 1;
    }
}
