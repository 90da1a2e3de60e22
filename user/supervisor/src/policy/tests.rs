//! The policy against a model that keeps everything and looks at all of it each time.

extern crate std;

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::vec::Vec;

/// A child of the model: what it depends on by number, all its restarts, how it is.
#[derive(Clone, Debug)]
struct Plain {
    at_most: usize,
    within: u64,
    depends: Vec<usize>,
    restarts: Vec<u64>,
    state: State,
}

#[derive(Clone, Debug)]
struct Model(Vec<Plain>);

impl Model {
    /// Whether a child depends on another, by any way.
    fn needs(&self, child: usize, other: usize) -> bool {
        let direct = &self.0[child].depends;
        direct.contains(&other) || direct.iter().any(|one| self.needs(*one, other))
    }

    fn affected(&self, child: usize) -> BTreeSet<usize> {
        (0..self.0.len()).filter(|one| *one == child || self.needs(*one, child)).collect()
    }

    fn is_there(&self, child: usize) -> bool {
        matches!(self.0[child].state, State::Up | State::Ended)
    }

    fn mark_down(&mut self, child: usize, why: State) {
        for one in self.affected(child) {
            if self.is_there(one) {
                self.0[one].state = State::Waiting;
            }
        }
        self.0[child].state = why;
    }

    fn revive(&mut self, child: usize) -> BTreeSet<usize> {
        let mut made = BTreeSet::new();
        // As long as there is another one whose dependencies are all there.
        loop {
            let next = self.affected(child).into_iter().find(|one| {
                let wanted = *one == child || self.0[*one].state == State::Waiting;
                let able = self.0[*one].depends.iter().all(|other| self.is_there(*other));
                wanted && able && !made.contains(one)
            });
            let Some(one) = next else { return made };
            self.0[one].state = State::Up;
            made.insert(one);
        }
    }

    fn fail(&mut self, child: usize, now: u64) -> Option<BTreeSet<usize>> {
        let one = &mut self.0[child];
        let latest = one.restarts.iter().filter(|at| now - **at < one.within).count();
        if latest >= one.at_most {
            self.mark_down(child, State::GivenUp);
            return None;
        }
        one.restarts.push(now);
        self.mark_down(child, State::Waiting);
        Some(self.revive(child))
    }
}

#[derive(Clone, Debug)]
enum Act {
    Fail(usize),
    Stop(usize),
    Restart(usize),
    End(usize),
    NotMade(usize),
}

fn child() -> impl Strategy<Value = (u64, u64, u32)> {
    (0..=4u64, 1..40u64, any::<u32>())
}

fn act() -> impl Strategy<Value = (u64, Act)> {
    let who = 0..12usize;
    let act = prop_oneof![
        6 => who.clone().prop_map(Act::Fail),
        1 => who.clone().prop_map(Act::Stop),
        2 => who.clone().prop_map(Act::Restart),
        1 => who.clone().prop_map(Act::End),
        1 => who.prop_map(Act::NotMade),
    ];
    (0..12u64, act)
}

fn set(members: &BTreeSet<usize>) -> Set {
    members.iter().fold(0, |set, one| set | 1 << one)
}

proptest! {
    #[test]
    fn it_does_what_the_model_does(
        children in prop::collection::vec(child(), 1..12),
        acts in prop::collection::vec(act(), 0..80),
    ) {
        let rule = |(nth, (at_most, within, depends)): (usize, &(u64, u64, u32))| {
            let depends = depends & depends >> 7 & ((1 << nth) - 1);
            Rule { at_most: *at_most, within: *within, depends }
        };
        let rules: Vec<Rule> = children.iter().enumerate().map(rule).collect();
        let mut policy = Policy::new(rules.iter().copied());
        let mut model = Model(rules.iter().map(|rule| Plain {
            at_most: rule.at_most as usize,
            within: rule.within,
            depends: each(rule.depends).collect(),
            restarts: Vec::new(),
            state: State::Waiting,
        }).collect());
        for child in 0..rules.len() {
            prop_assert_eq!(policy.revive(child), set(&model.revive(child)));
        }
        let mut now = 0;
        for (passed, act) in acts {
            now += passed;
            let (Act::Fail(who) | Act::Stop(who) | Act::Restart(who) | Act::End(who)
                | Act::NotMade(who)) = act;
            let who = who % rules.len();
            prop_assert_eq!(policy.affected(who), set(&model.affected(who)));
            match act {
                Act::Fail(_) if model.is_there(who) => {
                    let verdict = match model.fail(who, now) {
                        Some(made) => Verdict::Restart(set(&made)),
                        None => Verdict::GiveUp,
                    };
                    prop_assert_eq!(policy.fail(who, now), verdict);
                }
                Act::Fail(_) => {}
                Act::Stop(_) => {
                    policy.mark_down(who, State::Stopped);
                    model.mark_down(who, State::Stopped);
                }
                Act::NotMade(_) => {
                    policy.mark_down(who, State::GivenUp);
                    model.mark_down(who, State::GivenUp);
                }
                Act::Restart(_) => {
                    let able = policy.can_be_up(who);
                    if able {
                        policy.mark_down(who, State::Waiting);
                        model.mark_down(who, State::Waiting);
                        policy.forgive(who);
                        model.0[who].restarts.clear();
                    }
                    let made = if able { model.revive(who) } else { BTreeSet::new() };
                    prop_assert_eq!(if able { policy.revive(who) } else { 0 }, set(&made));
                    prop_assert_eq!(able, !made.is_empty());
                }
                Act::End(_) => {
                    policy.end(who);
                    if model.0[who].state == State::Up {
                        model.0[who].state = State::Ended;
                    }
                }
            }
            for (child, plain) in model.0.iter().enumerate() {
                prop_assert_eq!(policy.state(child), plain.state, "child {} at {}", child, now);
            }
        }
    }
}

#[test]
fn none_that_is_up_lacks_what_it_depends_on() {
    let rule = |depends| Rule { at_most: 1, within: 100, depends };
    let mut policy = Policy::new([rule(0), rule(1), rule(2)].into_iter());
    assert_eq!(policy.revive(0), 0b111);
    assert_eq!(policy.fail(1, 10), Verdict::Restart(0b110));
    assert_eq!(policy.fail(1, 109), Verdict::GiveUp, "the second within the window");
    assert_eq!(policy.fail(0, 110), Verdict::Restart(0b001), "what was given up stays down");
    assert_eq!([1, 2].map(|child| policy.state(child)), [State::GivenUp, State::Waiting]);
    policy.forgive(1);
    assert_eq!(policy.revive(1), 0b110);
}
