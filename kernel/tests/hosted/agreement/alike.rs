//! Kernels that behave alike.

use super::runner::{
    Runner, Told, boot_all, keep_unique, leave_senders, priority, repeatable, same,
};
use crate::support::effort::{INTERPRETED, seeds, steps};
use crate::support::programs::{Action, MANAGE, Mix, TALK};
use crate::support::rng::Rng;
use crate::support::state::{Fact, tells_who_runs};
use crate::support::town::Plan;
use proptest::prelude::*;
use std::ops::Range;

const DIRECT: [&str; 4] = ["direct-lazy", "fastpath", "slowpath", "direct-eager"];
const STRICT: [&str; 2] = ["strict-lazy", "strict-eager"];
const BY_PRIORITY: [&str; 3] = ["ipc-ordered", "ipc-heap", "ipc-scan"];
/// These two without a restriction.
const SORTED: [&str; 2] = ["ipc-ordered", "ipc-heap"];

/// How kernels are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Everything, ready queue and timer included.
    Exactly,
    /// As above, while the priority is not changed of a thread that is queued to send.
    ExactlyBut,
    /// What programs and devices can tell; priorities stay unique.
    Outcome,
    /// The same, with equal priorities, up to a choice between equals.
    UpToEquals,
}

/// Runs one seed. Returns the actions on which the kernels agreed, and whether they disagreed
/// about equals in the end.
fn run(names: &[&str], how: How, unique: bool, seed: u64, actions: u64, mix: &Mix) -> (u64, bool) {
    let told = Told::new(seed);
    let rng = Rng::new(seed);
    let plan = Plan { unique, handlers: rng.once_in(2), seed };
    let exactly = matches!(how, How::Exactly | How::ExactlyBut);
    let noise = if exactly { rng.pick(&[0, 3, 20]) } else { 0 };
    let runners = boot_all(names, &plan, noise);
    let (first, others) = runners.split_first().expect("several kernels");
    for at in 0..actions {
        told.action.set(at);
        let action = next(first.as_ref(), how, unique, &rng, mix);
        runners.iter().for_each(|runner| runner.act(&action));
        if first.ended() {
            assert!(others.iter().all(|other| other.ended()), "one run goes on");
            return (at, false);
        }
        let mut expected = first.observe(exactly);
        if how == How::UpToEquals {
            expected.retain(|fact| fact.0 != "ready at level");
        }
        for other in others {
            let mut seen = other.observe(exactly);
            if how == How::UpToEquals {
                seen.retain(|fact| fact.0 != "ready at level");
                if seen != expected {
                    equals(first.as_ref(), other.as_ref(), expected, seen);
                    return (at, true);
                }
            }
            same(first.as_ref(), other.as_ref(), [&expected, &seen]);
            let thread = first.running().unwrap_or(1 + at as u32 % 8);
            let buffers = [first.buffer(thread), other.buffer(thread)];
            assert!(buffers[0] == buffers[1], "the message buffers of thread {thread} differ");
        }
        runners.iter().for_each(|runner| runner.check());
    }
    (actions, false)
}

fn next(first: &dyn Runner, how: How, unique: bool, rng: &Rng, mix: &Mix) -> Action {
    let mut action = first.choose(rng, mix);
    if unique {
        action = keep_unique(first.machine(), action);
    } else if how == How::ExactlyBut {
        action = leave_senders(first, action);
    }
    action
}

/// Two kernels differ only in which of two threads of one priority runs.
fn equals(one: &dyn Runner, other: &dyn Runner, mut a: Vec<Fact>, mut b: Vec<Fact>) {
    let priorities = [one, other].map(|runner| priority(runner.machine(), runner.running()));
    a.retain(|fact| !tells_who_runs(fact));
    b.retain(|fact| !tells_who_runs(fact));
    same(one, other, [&a, &b]);
    assert!(one.running() != other.running(), "one thread runs and sees different results");
    assert!(priorities[0] == priorities[1], "threads of different priorities run: {priorities:?}");
}

/// Runs several seeds. Returns the actions, and how many runs disagreed about equals.
fn runs(names: &[&str], how: How, unique: bool, range: Range<u64>) -> (u64, u64) {
    let (mut total, mut differ) = (0, 0);
    for seed in seeds(range) {
        let mix = [TALK, MANAGE][seed as usize % 2];
        let (actions, differs) = run(names, how, unique, seed, steps(1_500), &mix);
        total += actions;
        differ += u64::from(differs);
    }
    (total, differ)
}

#[test]
fn direct_kernels() {
    let (actions, _) = runs(&DIRECT, How::Outcome, true, 0x8100_0000..0x8100_0006);
    assert!(INTERPRETED || actions > 5_000, "{actions} actions");
}

#[test]
fn strict_kernels() {
    let (actions, _) = runs(&STRICT, How::Outcome, true, 0x8200_0000..0x8200_0008);
    assert!(INTERPRETED || actions > 8_000, "{actions} actions");
}

#[test]
fn kernels_whose_senders_queue_by_priority() {
    for (names, how, unique) in [
        (&BY_PRIORITY[..], How::Exactly, true),
        (&BY_PRIORITY[..], How::ExactlyBut, false),
        (&SORTED[..], How::Exactly, false),
    ] {
        let (actions, _) = runs(names, how, unique, 0x8300_0000..0x8300_0004);
        assert!(INTERPRETED || actions > 4_000, "{actions} actions");
    }
}

/// The condition on priorities is needed: with equal ones, the kernels of a family come to differ,
/// and it is about equals.
#[test]
fn equals_may_take_turns_differently() {
    for family in
        [&DIRECT[..2], &["direct-lazy", "slowpath"], &["direct-lazy", "direct-eager"], &STRICT]
    {
        let (_, differ) = runs(family, How::UpToEquals, false, 0x8400_0000..0x8400_0008);
        assert!(INTERPRETED || differ > 0, "{family:?} never differ");
    }
}

proptest! {
    #![proptest_config(repeatable(8))]
    #[test]
    fn any_seed(seed: u64, actions in 1..steps(300), talk: bool) {
        let mix = if talk { &TALK } else { &MANAGE };
        run(&DIRECT, How::Outcome, true, seed, actions, mix);
        run(&STRICT, How::Outcome, true, seed, actions, mix);
        run(&BY_PRIORITY, How::Exactly, true, seed, actions, mix);
        run(&SORTED, How::Exactly, false, seed, actions, mix);
    }
}
