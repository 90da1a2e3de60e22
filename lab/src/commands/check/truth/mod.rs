//! Each note is true of the system that it is about, whatever its keys say: random manifests,
//! beside what they mean.

mod plan;
mod stated;

use super::decided::{self, decide};
use super::undeclared::Undeclared;
use super::{notes, overheads};
use crate::machine::MACHINES;
use analysis::Random;
use manifest::System;
use plan::{Node, Plan};
use stated::{Kind, Stated};
use std::collections::{BTreeMap, BTreeSet};

/// Manifests that are made, and how many of them have to be good.
const MADE: u64 = 3_000;
const GOOD: u64 = MADE / 4;

/// The words in backquotes.
fn quoted(note: &str) -> Vec<String> {
    note.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

/// What is said in all notes on a system.
fn said(system: &System) -> Vec<(Kind, String)> {
    let all = notes(system).into_iter().chain(decided::notes(system));
    let kind = |note: &String| {
        let kinds = Kind::ALL.iter().filter(|(_, words)| note.contains(words));
        let [kind] = kinds.map(|it| it.0).collect::<Vec<_>>()[..] else {
            panic!("a note of no kind or of several: {note}")
        };
        kind
    };
    all.map(|note| (kind(&note.text), note.text)).collect()
}

#[test]
fn each_note_is_true_of_any_manifest() {
    let mut seen = BTreeMap::<Kind, u64>::new();
    let mut good = 0;
    for seed in 0..MADE {
        let plan = Plan::of(&mut Random::of(seed));
        let text = plan.text();
        let Ok(system) = manifest::parse("plan.toml", &text) else { continue };
        good += 1;
        let said = said(&system);
        let case = || format!("seed {seed}:\n{text}\n{said:#?}");
        let named: BTreeSet<Stated> = said.iter().filter_map(named).collect();
        assert_eq!(named, plan.stated(), "{}", case());
        let of = |kind: Kind| said.iter().filter(move |it| it.0 == kind).map(|it| it.1.as_str());
        assert!(of(Kind::Ring).all(|note| is_ring(&plan, note)), "{}", case());
        assert_eq!(of(Kind::Ring).next().is_some(), plan.has_ring(), "{}", case());
        let held: BTreeSet<String> = of(Kind::Holds).map(str::to_string).collect();
        is_held(&plan, &held, &case());
        let machines = MACHINES.iter().filter(|machine| machine.most_cpus() < plan.cpus).count();
        assert_eq!(of(Kind::Machine).count(), machines, "{}", case());
        of(Kind::FollowsDemand).for_each(|note| counts(&plan, &system, note, &case()));
        for note in of(Kind::Releases) {
            let period = plan.node(&quoted(note)[2]).period;
            assert!(note.contains(&format!(" {period}ms apart")), "{}", case());
        }
        waits(&plan, &system, &case());
        said.iter().for_each(|(kind, _)| *seen.entry(*kind).or_default() += 1);
    }
    assert!(good >= GOOD, "{good} good ones");
    assert!(Kind::ALL.iter().all(|(kind, _)| seen.get(kind) >= Some(&10)), "{seen:?}");
}

/// A kind with the names in a note, where these say all.
fn named((kind, note): &(Kind, String)) -> Option<Stated> {
    let names: Vec<String> = quoted(note);
    let first = |count: usize| names[..count].to_vec();
    let names = match kind {
        Kind::Holds | Kind::Ring | Kind::Machine => return None,
        // What follows is what to write.
        Kind::HidesHeartbeat => first(names.len() - 3),
        Kind::NoReceiver | Kind::NoSender | Kind::CallsItself | Kind::Releases => names,
        // Programs without a reservation have no limit as they are.
        Kind::Unlimited if names[0].starts_with("domain ") => return None,
        _ => first(1),
    };
    Some((*kind, names))
}

fn is_ring(plan: &Plan, note: &str) -> bool {
    let domain = |name: &String| plan.domains.iter().find(|it| it.name == *name).expect("one");
    let ring: Vec<_> = quoted(note).iter().map(domain).collect();
    let next = ring.iter().cycle().skip(1);
    ring.len() >= 2 && ring.iter().zip(next).all(|(from, to)| plan.may_call(from, to))
}

/// Who holds others longest at each server is named, with its times.
fn is_held(plan: &Plan, notes: &BTreeSet<String>, case: &str) {
    let mut servers = 0;
    for (server, endpoint) in
        plan.domains.iter().flat_map(|it| (0..plan.endpoints.len()).map(move |at| (it, at)))
    {
        let holders = plan.holders(server, endpoint);
        let Some(longest) = holders.iter().map(|it| it.3 - it.2).max() else { continue };
        servers += 1;
        let says = |(caller, node, budget, period): &(&plan::Domain, &Node, u64, u64)| {
            let class = node.policy.map_or(String::new(), |_| format!(" by class `{}`", node.name));
            let has = node.adaptive.map_or("has", |_| "can be left with");
            let (server, caller) = (&server.name, &caller.name);
            let [begins, behind] = [
                format!(
                    "`{server}` has no reservation: unless it says that it serves `e{endpoint}`,"
                ),
                format!(
                    "`{caller}`, which {has} {budget}ms in {period}ms{class}, can so hold the \
                     callers behind it for {longest}ms each time"
                ),
            ];
            notes.iter().any(|note| note.starts_with(&begins) && note.ends_with(&behind))
        };
        let longest = holders.iter().filter(|it| it.3 - it.2 == longest);
        assert!(longest.into_iter().any(says), "{} at e{endpoint}: {case}", server.name);
    }
    assert_eq!(notes.len(), servers, "{case}");
}

/// A budget that follows demand counts as what its siblings leave, and no job in it has a bound.
fn counts(plan: &Plan, system: &System, note: &str, case: &str) {
    let node = plan.node(&quoted(note)[0]);
    let report = decide(system, overheads::given(system)).expect("there is a reservation");
    let inside = format!("/{}/", node.name);
    assert!(!report.bounds().contains_key(&node.name), "{case}");
    let paths = report.document().to_string();
    assert!(
        !paths.contains(&inside)
            || !report.bounds().keys().any(|it| paths.contains(&format!("{inside}{it}\""))),
        "{case}"
    );
    let siblings = || plan.nodes.iter().filter(|it| it.class.is_none() && it.cpu == node.cpu);
    if node.class.is_some() || plan.is_supervised() || siblings().any(|it| it.policy.is_some()) {
        return;
    }
    // In millionths of a CPU, each rounded up.
    let part = |it: &Node| match it.adaptive.or(it.budget.filter(|_| it.is_limited())) {
        Some(keeps) => (keeps * 1_000_000).div_ceil(it.period),
        None => 0,
    };
    let others: u64 = siblings().filter(|it| it.name != node.name).map(part).sum();
    let most = (1_000_000 - others) * node.period;
    let most = most.min(node.period * 1_000_000 - 1);
    let said = note.split(" as ").nth(1).and_then(|it| it.split(',').next()).expect("a time");
    assert_eq!(said, analysis::time(most), "{case}");
}

/// What jobs may wait for without saying so.
fn waits(plan: &Plan, system: &System, case: &str) {
    for domain in plan.domains.iter().filter(|it| it.declared.is_some()) {
        let told = Undeclared::of(system, &format!("domain {}", domain.name));
        let (calls, shares) = plan.hidden_waits(domain);
        assert_eq!(told.calls, calls, "{case}");
        assert_eq!(told.memories, if shares { vec!["m"] } else { vec![] }, "{case}");
    }
}
