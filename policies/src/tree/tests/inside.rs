//! What a holder of one class could try against its siblings, by whatever it does inside that.

use super::random::Dice;
use super::*;
use proptest::prelude::*;

/// A class that a victim and a thief share, and what the thief may do: all, but only inside its
/// own.
struct Siblings<'a, 'b> {
    tree: &'a mut Tree<'b>,
    victim: NodeId,
    thief: Thief,
    /// The service of the thief's class at each instant at which that was looked at.
    had: Vec<(u64, u64)>,
}

/// Who holds a class and does whatever can be done inside that.
pub(super) struct Thief {
    pub(super) dice: Dice,
    pub(super) own: NodeId,
    /// Another class that it holds, to and from which it moves what is in the first.
    pub(super) other: Option<NodeId>,
    /// What is in its classes.
    pub(super) inside: Vec<NodeId>,
}

/// The budget of its class, and the period of that.
pub(super) const LIMIT: u64 = 2 * MS;
pub(super) const PERIOD: u64 = 10 * MS;
const DEPTH: usize = 4;
/// Classes that may be inside others.
pub(super) const INNER: [Policy; 3] =
    [Policy::FixedPriority, Policy::EarliestDeadline, Policy::ServiceCurves];
/// So few nodes that all of them may wait for budget at once.
const FEW: usize = 8;

impl Thief {
    /// In its class there are others with little budget for a long time, and in these
    /// leaves with more; beside them a leaf.
    pub(super) fn begin(&mut self, tree: &mut Tree<'_>) {
        let share = self.dice.share(tree.policy(self.own));
        self.inside.extend(tree.create(self.own, None, share));
        for _ in 0..2 {
            let policy = self.dice.one_of(&INNER);
            let share = self.dice.share(tree.policy(self.own));
            let Ok(inner) = tree.create(self.own, Some(policy), share) else { continue };
            let (server, budget) = (self.dice.one_of(&Server::ALL), MS / 2 + self.dice.below(MS));
            let budget = Budget::new(server, budget, 1_000 * MS);
            let _ = tree.set_budget(inner, Some(budget), 0);
            self.inside.push(inner);
            for _ in 0..2 {
                let share = self.dice.share(Some(policy));
                let Ok(leaf) = tree.create(inner, None, share) else { continue };
                let budget = self.dice.budget();
                let _ = tree.set_budget(leaf, budget, 0);
                tree.wake(leaf, 0);
                self.inside.push(leaf);
            }
        }
    }

    fn any(&mut self, tree: &Tree<'_>) -> Option<NodeId> {
        self.inside.retain(|at| tree.inspect(*at).is_some());
        (!self.inside.is_empty()).then(|| self.dice.one_of(&self.inside))
    }

    fn any_class(&mut self, tree: &Tree<'_>) -> NodeId {
        let classes = self.inside.iter().filter(|at| tree.policy(**at).is_some());
        let classes: Vec<NodeId> = classes.copied().chain([self.own]).chain(self.other).collect();
        self.dice.one_of(&classes)
    }

    /// Something inside changes.
    pub(super) fn meddle(&mut self, tree: &mut Tree<'_>, now: u64) {
        let any = self.any(tree);
        let kind = self.dice.below(13);
        let has_room = self.inside.len() < FEW;
        match (kind, any) {
            (0..=2, _) if has_room => {
                let parent = self.any_class(tree);
                let inner = tree.path(parent).count() <= DEPTH && self.dice.below(2) == 0;
                let policy = inner.then(|| self.dice.one_of(&INNER));
                let share = self.dice.share(tree.policy(parent));
                self.inside.extend(tree.create(parent, policy, share));
            }
            (3, Some(at)) => {
                let to = self.any_class(tree);
                let share = self.dice.share(tree.policy(to));
                if tree.path(to).count() <= DEPTH {
                    let _ = tree.join(at, to, share, now);
                }
            }
            (4, Some(at)) => {
                // Another one may have its name later.
                if tree.remove_node(at, now).is_ok() {
                    self.inside.retain(|other| *other != at);
                }
            }
            (5 | 6, Some(at)) => {
                let budget = self.dice.budget();
                // A class that waits for long has inside it what waits shortly.
                let long = tree.policy(at).is_some();
                let budget = budget.map(|budget| Budget {
                    period: if long { budget.period * 300 } else { budget.period },
                    ..budget
                });
                let _ = tree.set_budget(at, budget, now);
            }
            (7, Some(at)) => {
                let share = self.dice.share(None);
                let _ = tree.set_share(at, share, now);
            }
            (8, Some(_)) => {
                let (at, windows) = (self.any_class(tree), self.dice.windows());
                let epoch = (now + self.dice.below(2 * MS)).saturating_sub(MS);
                let frame = Frame::new(&windows, epoch);
                let _ = frame.and_then(|frame| tree.set_frame(at, frame, now));
            }
            (9, Some(at)) => tree.block(at, now, true),
            // All that wait for no budget: the class can have been idle for long, then.
            (10, Some(_)) => {
                for at in self.inside.clone() {
                    if tree.inspect(at).is_some_and(|state| !state.is_throttled) {
                        tree.block(at, now, true);
                    }
                }
            }
            (11, Some(at)) => _ = tree.wake(at, now),
            // Whatever instant is said.
            (_, Some(at)) => {
                let ago = self.dice.one_of(&[MS, 9 * MS, 300 * MS]);
                let since = now.saturating_sub(self.dice.below(ago));
                tree.wake_late(at, since, now);
            }
            (_, None) => {}
        }
    }
}

impl<'a, 'b> Siblings<'a, 'b> {
    /// By earliest deadlines or by guaranteed curves, the victim is promised 80 %.
    fn new(
        tree: &'a mut Tree<'b>,
        (policy, server): (Policy, Server),
        inner: Policy,
        dice: Dice,
    ) -> Siblings<'a, 'b> {
        let class = class(tree, policy);
        let share = |percent: u32| match policy {
            Policy::ServiceCurves => {
                let curve = Curve { slope: percent * 10_000, rest: percent * 10_000, bend: 0 };
                Share::Curve { guaranteed: Some(curve), share: curve }
            }
            _ => Share::Deadline,
        };
        let victim = leaf(tree, class, share(80));
        let own = tree.create(class, Some(inner), share(15)).expect("fits");
        if policy == Policy::EarliestDeadline {
            let budget = Budget::new(Server::Constant, 80 * MS, 100 * MS);
            assert_eq!(tree.set_budget(victim, Some(budget), 0), Ok(()));
            let timing = Timing { deadline: 100 * MS, period: 100 * MS };
            assert_eq!(tree.set_timing(victim, Some(timing), 0), Ok(()));
            assert_eq!(tree.set_budget(own, Some(Budget::new(server, LIMIT, PERIOD)), 0), Ok(()));
        }
        let thief = Thief { dice, own, other: None, inside: Vec::new() };
        Siblings { tree, victim, thief, had: Vec::new() }
    }

    /// Plays so many jobs of the victim of this length, each 100 ms. How late the last one of them
    /// was at most.
    fn play(&mut self, jobs: u64, job: u64) -> u64 {
        let mut next = 0;
        self.play_with(jobs, job, |siblings, now| {
            while next <= now {
                siblings.thief.meddle(siblings.tree, now);
                next += siblings.thief.dice.one_of(&[10 * US, MS, 9 * MS, 150 * MS]);
            }
        })
    }

    /// The same beside what is done at each decision.
    fn play_with(&mut self, jobs: u64, job: u64, mut act: impl FnMut(&mut Self, u64)) -> u64 {
        let (mut now, mut ended, mut late) = (0, 0, 0);
        let mut begun: Option<u64> = None;
        while ended < jobs {
            let release = ended * 100 * MS;
            let had = self.tree.service(self.victim);
            if let Some(begin) = begun
                && had - begin >= job
            {
                self.tree.block(self.victim, now, true);
                (begun, ended) = (None, ended + 1);
                late = late.max(now.saturating_sub(release + 100 * MS));
                continue;
            }
            if begun.is_none() && now >= release {
                self.tree.wake(self.victim, now);
                begun = Some(had);
            }
            act(self, now);
            let pick = decide(self.tree, now);
            let left = match begun {
                Some(begin) if pick.leaf == Some(self.victim) => job - (had - begin),
                Some(_) => NEVER,
                None => release - now,
            };
            let end = pick.until.min(now.saturating_add(left)).min(now + MS);
            self.tree.account(0, end);
            now = end;
            self.had.push((now, self.tree.service(self.thief.own)));
        }
        late
    }

    /// The most budgets of the thief's class in a window of so many of its periods.
    fn budgets_in(&self, periods: u64) -> u64 {
        let mut begin = 0;
        let mut most = 0;
        for (at, service) in &self.had {
            while self.had[begin].0 + periods * PERIOD < *at {
                begin += 1;
            }
            most = most.max((service - self.had[begin].1).div_ceil(LIMIT));
        }
        most
    }
}

proptest! {
    /// The victim, promised 80 of 100 ms, is never late; and a hard budget is served in no window
    /// more often than it comes back there, and once more at both ends.
    #[test]
    fn nothing_inside_a_class_harms_its_siblings(
        seed in any::<u64>(),
        inner in proptest::sample::select(&INNER[..]),
        server in proptest::sample::select(&Server::ALL[..]),
    ) {
        let mut storage = Storage::new(40);
        let mut tree = storage.tree();
        let policy = (Policy::EarliestDeadline, server);
        let mut siblings = Siblings::new(&mut tree, policy, inner, Dice(seed));
        siblings.thief.begin(siblings.tree);
        let late = siblings.play(12, 79 * MS);
        prop_assert_eq!(late, 0, "by {} us", late / US);
        if server != Server::ConstantSoft {
            for periods in [1, 3, 10] {
                prop_assert!(siblings.budgets_in(periods) <= periods + 2);
            }
        }
    }

    /// The same of what a guaranteed curve promises, but for a quantum.
    #[test]
    fn nothing_inside_a_class_harms_a_guarantee(
        seed in any::<u64>(),
        inner in proptest::sample::select(&INNER[..]),
    ) {
        let mut storage = Storage::new(40);
        let mut tree = storage.tree();
        let policy = (Policy::ServiceCurves, Server::Periodic);
        let mut siblings = Siblings::new(&mut tree, policy, inner, Dice(seed));
        siblings.thief.begin(siblings.tree);
        let late = siblings.play(12, 79 * MS);
        prop_assert!(late <= 2 * QUANTUM, "by {} us", late / US);
    }
}

/// Inside the thief's class one waits for a long budget, and in it one whose budget has come back
/// long ago. What becomes ready beside it has not been there since then.
#[test]
fn what_could_not_be_chosen_was_not_ready() {
    for server in Server::ALL {
        let mut storage = Storage::new(40);
        let mut tree = storage.tree();
        let policy = (Policy::EarliestDeadline, server);
        let mut siblings = Siblings::new(&mut tree, policy, Policy::FixedPriority, Dice(1));
        let Siblings { tree, thief: Thief { own, .. }, .. } = &mut siblings;
        let inner = tree.create(*own, Some(Policy::FixedPriority), Share::Priority(1)).unwrap();
        let long = Budget::new(Server::Constant, 150 * US, 100_000 * MS);
        assert_eq!(tree.set_budget(inner, Some(long), 0), Ok(()));
        let [first, second] = [2, 1].map(|at| leaf(tree, inner, Share::Priority(at)));
        let short = Budget::new(Server::Periodic, 100 * US, 2 * MS);
        assert_eq!(tree.set_budget(first, Some(short), 0), Ok(()));
        tree.wake(first, 0);
        tree.wake(second, 0);
        let late = siblings.play_with(12, 79 * MS, |siblings, now| {
            if now >= 990 * MS && siblings.tree.inspect(second).unwrap().parent == Some(inner) {
                let own = siblings.thief.own;
                assert_eq!(siblings.tree.join(second, own, Share::Priority(3), now), Ok(()));
            }
        });
        assert_eq!(late, 0, "{server:?}: by {} us", late / US);
    }
}
