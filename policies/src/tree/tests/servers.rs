//! Servers: what each kind bounds, in the time that a node is seen to run.

use super::random::Dice;
use super::*;
use abi::reservation::{LEAST_PART, SHORTEST};
use proptest::prelude::*;

/// When a node ran.
struct Ran(Vec<(u64, u64)>);

impl Ran {
    /// The time that it had in a window.
    fn within(&self, from: u64, to: u64) -> u64 {
        let part = |(begin, end): &(u64, u64)| (*end).min(to).saturating_sub((*begin).max(from));
        self.0.iter().map(part).sum()
    }

    /// The most that it had in any window of this length: one begins where it begins to run, or
    /// ends where it ceases.
    fn most(&self, length: u64) -> u64 {
        let begins = self.0.iter().map(|(begin, _)| *begin);
        let ends = self.0.iter().map(|(_, end)| end.saturating_sub(length));
        let all = begins.chain(ends).map(|from| self.within(from, from + length));
        all.max().unwrap_or(0)
    }
}

/// A leaf with a server that wakes and blocks at random, and one of higher priority that takes the
/// CPU at random if it is asked to; timers come up to so late.
fn observe(limits: Budget, seed: u64, rival: bool, lateness: u64) -> (Ran, u64) {
    let mut dice = Dice(seed);
    let mut storage = Storage::new(4);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let [served, other] = [1, 2].map(|priority| leaf(&mut tree, root, Share::Priority(priority)));
    assert_eq!(tree.set_budget(served, Some(limits), 0), Ok(()));
    let (mut ran, mut now) = (Ran(vec![]), 0);
    // How likely it is ready.
    let busy = 1 + dice.below(8);
    while now < 40 * limits.period {
        if dice.below(10) <= busy {
            tree.wake(served, now);
        } else {
            tree.block(served, now, true);
        }
        if rival && dice.below(2) == 0 {
            tree.wake(other, now);
        } else {
            tree.block(other, now, true);
        }
        let pick = decide(&mut tree, now);
        let wish = now + 1 + dice.below(limits.period);
        let end = if wish < pick.until { wish } else { pick.until + dice.below(lateness + 1) };
        if pick.leaf == Some(served) {
            ran.0.push((now, end));
        }
        now = end;
    }
    tree.account(0, now);
    assert_eq!(tree.service(served), ran.within(0, NEVER));
    (ran, now)
}

fn limits(server: Server) -> impl Strategy<Value = Budget> {
    (SHORTEST..10 * MS, 1u64..100).prop_map(move |(period, percent)| {
        Budget::new(server, (period * percent / 100).max(LEAST_PART), period)
    })
}

proptest! {
    #[test]
    fn a_periodic_server_has_its_budget_in_each_period(
        limits in limits(Server::Periodic), seed in any::<u64>(), rival in any::<bool>(),
    ) {
        let (ran, end) = observe(limits, seed, rival, 0);
        for period in 0..=end / limits.period {
            let from = period * limits.period;
            prop_assert!(ran.within(from, from + limits.period) <= limits.budget);
        }
    }

    /// Beyond its bandwidth it may have what is left by the window's begin, and what has a deadline
    /// behind the end.
    #[test]
    fn a_constant_server_has_its_bandwidth_in_any_window(
        limits in limits(Server::Constant), seed in any::<u64>(), rival in any::<bool>(),
        periods in 1u64..20,
    ) {
        let (ran, _) = observe(limits, seed, rival, 0);
        prop_assert!(ran.most(periods * limits.period) <= (periods + 2) * limits.budget);
    }

    /// What runs whenever it may has its budget in any window, wherever it begins.
    #[test]
    fn a_sporadic_server_has_its_budget_in_any_window(
        limits in limits(Server::Sporadic), seed in any::<u64>(), periods in 1u64..20,
    ) {
        let (ran, _) = observe(limits, seed, false, 0);
        prop_assert!(ran.most(periods * limits.period) <= periods * limits.budget);
    }

    /// What others have delayed may come together with what follows.
    #[test]
    fn a_delayed_sporadic_server_has_one_budget_more(
        limits in limits(Server::Sporadic), seed in any::<u64>(), periods in 1u64..20,
    ) {
        let (ran, _) = observe(limits, seed, true, 0);
        prop_assert!(ran.most(periods * limits.period) <= (periods + 1) * limits.budget);
    }

    /// What is used too much, since timers come late, is repaid: in the long run it makes up for
    /// one budget and one delay.
    #[test]
    fn late_timers_give_no_bandwidth(
        server in prop::sample::select(vec![Server::Periodic, Server::Constant, Server::Sporadic]),
        percent in 1u64..90, period in SHORTEST..5 * MS, seed in any::<u64>(),
        lateness in 1..MS,
    ) {
        let budget = (period * percent / 100).max(LEAST_PART);
        let limits = Budget::new(server, budget, period);
        let (ran, end) = observe(limits, seed, false, lateness);
        let bound = budget * (end / period + 2) + lateness;
        prop_assert!(ran.within(0, NEVER) <= bound, "{} {bound}", ran.within(0, NEVER));
    }
}

/// When a node runs again that has run from its first instant on for so long, beyond its budget,
/// and whose CPU another one had until `free`; and for how long. It is told its share once more at
/// `told`, which changes nothing but that it is looked at.
fn again(limits: Budget, used: u64, told: u64, free: u64) -> (u64, u64) {
    let mut storage = Storage::new(4);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let [served, other] = [1, 2].map(|priority| leaf(&mut tree, root, Share::Priority(priority)));
    assert_eq!(tree.set_budget(served, Some(limits), 0), Ok(()));
    tree.wake(served, 0);
    assert_eq!(decide(&mut tree, 0).leaf, Some(served));
    tree.wake(other, used);
    let (mut now, mut from) = (used, None);
    loop {
        if now == told {
            assert_eq!(tree.set_share(served, Share::Priority(1), now), Ok(()));
        }
        if now == free {
            tree.block(other, now, true);
        }
        let pick = decide(&mut tree, now);
        match from {
            None if pick.leaf == Some(served) => from = Some(now),
            Some(from) if pick.leaf != Some(served) => return (from, now - from),
            _ => {}
        }
        let next = [told, free].into_iter().filter(|at| *at > now).min().unwrap_or(NEVER);
        now = pick.until.min(next);
    }
}

proptest! {
    /// What was used too much is repaid by a budget in each period that has come, also where the
    /// node is looked at long after that, and by none that is still to come.
    #[test]
    fn a_debt_is_repaid_by_periods_that_have_come(
        server in prop::sample::select(vec![Server::Periodic, Server::Constant]),
        budget in LEAST_PART..MS, others in 1..MS, more in 1..10 * MS, gap in 0..60 * MS,
        told in 0..80 * MS,
    ) {
        let used = budget + more;
        let period = SHORTEST.max(used + others);
        let free = used + gap;
        let (from, length) = again(Budget::new(server, budget, period), used, used + told, free);
        let repaid = (used / budget) * period;
        prop_assert_eq!(from, free.max(repaid), "used {}, free from {}", used, free);
        if free <= repaid {
            prop_assert_eq!(length, budget - used % budget);
        }
    }
}

/// The least budget in the least period comes in each.
#[test]
fn the_least_budget_progresses() {
    for server in [Server::Periodic, Server::Constant, Server::Sporadic] {
        let mut storage = Storage::new(4);
        let mut tree = storage.tree();
        let root = tree.root(0);
        let leaf = leaf(&mut tree, root, Share::Priority(1));
        let limits = Budget::new(server, LEAST_PART, SHORTEST);
        assert_eq!(tree.set_budget(leaf, Some(limits), 0), Ok(()));
        tree.wake(leaf, 0);
        run(&mut tree, 0, 1000 * SHORTEST);
        assert_eq!(tree.service(leaf), 1000 * LEAST_PART, "{server:?}");
        assert_eq!(tree.inspect(leaf).map(|state| state.overruns), Some(1000));
    }
}

/// What is left of a budget counts as unserved if something inside was ready when its period ended,
/// and as idled away if not.
#[test]
fn what_others_leave_no_time_for_is_unserved() {
    let mut storage = Storage::new(4);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let [low, high] = [1, 2].map(|priority| leaf(&mut tree, root, Share::Priority(priority)));
    let limits = Budget::new(Server::Periodic, 3 * MS, 10 * MS);
    assert_eq!(tree.set_budget(low, Some(limits), 0), Ok(()));
    // Nobody is kept from it while nothing is ready, nor while it has its budgets.
    run(&mut tree, 0, 20 * MS);
    tree.wake(low, 20 * MS);
    run(&mut tree, 20 * MS, 40 * MS);
    assert_eq!((tree.service(low), tree.unserved(low)), (6 * MS, Some(0)));
    // Of the next budget it has a millisecond, of three further ones nothing.
    run(&mut tree, 40 * MS, 41 * MS);
    tree.wake(high, 41 * MS);
    run(&mut tree, 41 * MS, 80 * MS);
    tree.block(high, 80 * MS, true);
    run(&mut tree, 80 * MS, 85 * MS);
    assert_eq!(tree.unserved(low), Some((2 + 3 * 3) * MS));
    // A change of the budget does not forget it.
    assert_eq!(tree.set_budget(low, None, 85 * MS), Ok(()));
    assert_eq!(tree.unserved(low), Some(11 * MS));
}

/// Nothing of that is kept from threads that are ready there beside a lent leaf, up to the instant
/// at which another one joins them.
#[test]
fn what_stands_by_is_not_unserved() {
    let mut storage = Storage::new(4);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let [low, high] = [1, 2].map(|priority| leaf(&mut tree, root, Share::Priority(priority)));
    let limits = Budget::new(Server::Periodic, 3 * MS, 10 * MS);
    assert_eq!(tree.set_budget(low, Some(limits), 0), Ok(()));
    tree.wake(low, 0);
    tree.stands_by(low, true, 0);
    tree.wake(high, 0);
    run(&mut tree, 0, 35 * MS);
    assert_eq!(tree.is_stood_by(low), Some(true));
    tree.wake(low, 35 * MS);
    assert_eq!((tree.is_stood_by(low), tree.unserved(low)), (Some(false), Some(0)));
    run(&mut tree, 35 * MS, 45 * MS);
    tree.block(high, 45 * MS, true);
    run(&mut tree, 45 * MS, 46 * MS);
    assert_eq!(tree.unserved(low), Some(3 * MS), "the last period alone");
}

/// A budget that is the period is no limit: nothing waits, and nothing interrupts.
#[test]
fn a_budget_that_is_the_period_is_no_limit() {
    for server in Server::ALL {
        let mut storage = Storage::new(4);
        let mut tree = storage.tree();
        let root = tree.root(0);
        let leaf = leaf(&mut tree, root, Share::Priority(1));
        assert_eq!(tree.set_budget(leaf, Some(Budget::new(server, MS, MS)), 0), Ok(()));
        tree.wake(leaf, 0);
        assert_eq!(decide(&mut tree, 0), Pick { leaf: Some(leaf), until: NEVER });
    }
}

/// Soft servers below earliest deadlines share the CPU as their bandwidths are, and alone have all
/// of it.
#[test]
fn soft_servers_share_by_bandwidth() {
    let mut storage = Storage::new(5);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::EarliestDeadline);
    let leaves = [(6, 10), (3, 12), (3, 20)].map(|(budget, period)| {
        let leaf = leaf(&mut tree, class, Share::Deadline);
        let limits = Budget::new(Server::ConstantSoft, budget * MS, period * MS);
        assert_eq!(tree.set_budget(leaf, Some(limits), 0), Ok(()));
        tree.wake(leaf, 0);
        leaf
    });
    run(&mut tree, 0, 6_000 * MS);
    for (leaf, expected) in leaves.into_iter().zip([3_600, 1_500, 900]) {
        let had = tree.service(leaf) / MS;
        assert!(had.abs_diff(expected) <= 12, "{had} {expected}");
    }
    tree.block(leaves[0], 6_000 * MS, true);
    tree.block(leaves[1], 6_000 * MS, true);
    let before = tree.service(leaves[2]);
    run(&mut tree, 6_000 * MS, 7_000 * MS);
    assert_eq!(tree.service(leaves[2]) - before, 1_000 * MS);
}

/// What a sporadic server gets for what siblings used ahead comes late; what it had before goes on
/// meanwhile.
#[test]
fn what_grows_late_keeps_nothing_back() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let edf = class(&mut tree, Policy::EarliestDeadline);
    let [one, grows, third] = [(); 3].map(|()| leaf(&mut tree, edf, Share::Deadline));
    let of = |server, budget, period| Some(Budget::new(server, budget * MS, period * MS));
    tree.set_budget(one, of(Server::Constant, 500, 1000), 0).expect("fits");
    tree.set_budget(third, of(Server::Constant, 390, 1000), 0).expect("fits");
    tree.set_budget(grows, of(Server::Sporadic, 10, 100), 0).expect("fits");
    tree.wake(one, 0);
    run(&mut tree, 0, 460 * MS);
    tree.wake(grows, 460 * MS);
    run(&mut tree, 460 * MS, 465 * MS);
    tree.remove_node(one, 465 * MS).expect("is there");
    tree.set_budget(grows, of(Server::Sporadic, 60, 100), 465 * MS).expect("fits");
    run(&mut tree, 465 * MS, 500 * MS);
    for end in [600, 700, 800, 900].map(|end| end * MS) {
        let before = tree.service(grows);
        run(&mut tree, end - 100 * MS, end);
        let had = tree.service(grows) - before;
        assert!(had >= 10 * MS, "{had} ns until {end}");
    }
}
