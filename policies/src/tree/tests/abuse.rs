//! What a holder of rights to one node could try against its siblings.

use super::*;
use abi::reservation::SHORTEST;

/// A class of earliest deadlines in which a victim is promised 80 % and ten budgets a second, whose
/// jobs take 79 of 100 ms.
struct Victim {
    leaf: NodeId,
    next: u64,
    /// What it had had when its job began.
    begun: Option<u64>,
}

const JOB: u64 = 79 * MS;
const END: u64 = 1_000 * MS;

impl Victim {
    fn new(tree: &mut Tree<'_>, class: NodeId) -> Victim {
        let leaf = leaf(tree, class, Share::Deadline);
        let period = 100 * MS;
        let budget = Budget::new(Server::Constant, 80 * MS, period);
        assert_eq!(tree.set_budget(leaf, Some(budget), 0), Ok(()));
        let timing = Timing { deadline: period, period };
        assert_eq!(tree.set_timing(leaf, Some(timing), 0), Ok(()));
        Victim { leaf, next: 0, begun: None }
    }

    /// Its job ends or begins. What it has left of one.
    fn step(&mut self, tree: &mut Tree<'_>, now: u64) -> u64 {
        let left = |tree: &Tree<'_>, begun| JOB - (tree.service(self.leaf) - begun);
        if self.begun.is_some_and(|begun| left(tree, begun) == 0) {
            tree.block(self.leaf, now, true);
            self.begun = None;
        }
        if self.begun.is_none() && now >= self.next {
            tree.wake(self.leaf, now);
            self.begun = Some(tree.service(self.leaf));
            self.next += 100 * MS;
        }
        self.begun.map_or(MS, |begun| left(tree, begun))
    }
}

/// Plays the victim beside what `thief` does to its own leaf, which is ready, each time that it has
/// run; the victim keeps its deadlines, and the thief has no more than what the class has left, but
/// for a period.
fn is_harmless(
    server: Server,
    mut thief: impl FnMut(&mut Tree<'_>, NodeId, NodeId, u64) -> NodeId,
) {
    let mut storage = Storage::new(16);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::EarliestDeadline);
    let mut victim = Victim::new(&mut tree, class);
    let limits = Budget::new(server, MS, 10 * MS);
    let mut own = leaf(&mut tree, class, Share::Deadline);
    assert_eq!(tree.set_budget(own, Some(limits), 0), Ok(()));
    tree.wake(own, 0);
    let (mut now, mut stolen) = (0, 0);
    while now < END {
        let left = victim.step(&mut tree, now);
        let pick = decide(&mut tree, now);
        let end = pick.until.min(now + 900 * US).min(now + left);
        tree.account(0, end);
        if pick.leaf == Some(own) {
            stolen += end - now;
            own = thief(&mut tree, class, own, end);
        }
        now = end;
    }
    let jobs = tree.inspect(victim.leaf).expect("it exists").jobs;
    assert_eq!((jobs.ended, jobs.missed), (10, 0), "{server:?}: the thief had {stolen} ns");
    // A soft server may have what the victim leaves.
    let most = if server == Server::ConstantSoft { END } else { END / 5 + 11 * MS };
    assert!(stolen <= most, "{server:?}: the thief had {stolen} ns");
}

const HARD: [Server; 3] = [Server::Periodic, Server::Constant, Server::Sporadic];

#[test]
fn a_budget_that_is_set_again_is_not_new() {
    for server in HARD {
        is_harmless(server, |tree, _, own, now| {
            let limits = Budget::new(server, MS, 10 * MS);
            assert_eq!(tree.set_budget(own, Some(limits), now), Ok(()));
            own
        });
        // By way of another period, and of none at all.
        is_harmless(server, |tree, _, own, now| {
            let limits = Budget::new(server, MS, 10 * MS);
            for other in [Some(Budget::new(server, 10 * US, SHORTEST)), None, Some(limits)] {
                assert_eq!(tree.set_budget(own, other, now), Ok(()));
            }
            own
        });
        // By way of a smaller one.
        is_harmless(server, |tree, _, own, now| {
            for budget in [10 * US, MS] {
                let limits = Budget::new(server, budget, 10 * MS);
                assert_eq!(tree.set_budget(own, Some(limits), now), Ok(()));
            }
            own
        });
    }
}

#[test]
fn a_leaf_that_is_made_again_has_no_new_budget() {
    for server in HARD {
        is_harmless(server, |tree, class, own, now| {
            assert_eq!(tree.remove_node(own, now), Ok(()));
            let own = leaf(tree, class, Share::Deadline);
            let limits = Budget::new(server, MS, 10 * MS);
            assert_eq!(tree.set_budget(own, Some(limits), now), Ok(()));
            tree.wake(own, now);
            own
        });
    }
}

/// Whatever is done to a leaf before it is given up, and however often the new one has its limit
/// set.
#[test]
fn no_way_round_brings_budget() {
    for server in Server::ALL {
        let limits = Some(Budget::new(server, MS, 10 * MS));
        for gives_up in [None, Some(Budget::new(server, US, 10 * MS)), limits] {
            is_harmless(server, |tree, class, own, now| {
                assert_eq!(tree.set_budget(own, gives_up, now), Ok(()));
                assert_eq!(tree.remove_node(own, now), Ok(()));
                let own = leaf(tree, class, Share::Deadline);
                for limits in [limits, None, limits, limits] {
                    assert_eq!(tree.set_budget(own, limits, now), Ok(()));
                }
                tree.wake(own, now);
                own
            });
        }
        // By periods that are next to each other.
        let mut period = 10 * MS;
        is_harmless(server, |tree, _, own, now| {
            period = 20 * MS + 1 - period;
            let other = Some(Budget::new(server, MS, period));
            assert_eq!(tree.set_budget(own, other, now), Ok(()));
            own
        });
        // By a store of leaves that have not run, in a class that is promised nothing.
        let mut store = vec![];
        is_harmless(server, |tree, class, own, now| {
            if store.is_empty() {
                let fixed = Some(Policy::FixedPriority);
                let outside = tree.create(class, fixed, Share::Deadline).expect("fits");
                let mut add = || {
                    let own = leaf(tree, outside, Share::Priority(1));
                    assert_eq!(tree.set_budget(own, limits, now), Ok(()));
                    own
                };
                store = (0..8).map(|_| add()).collect();
                store.push(outside);
            }
            let outside = store[store.len() - 1];
            assert_eq!(tree.join(own, outside, Share::Priority(1), now), Ok(()));
            tree.block(own, now, true);
            let next = store.remove(0);
            store.insert(store.len() - 1, own);
            assert_eq!(tree.join(next, class, Share::Deadline, now), Ok(()));
            tree.wake(next, now);
            next
        });
    }
}

/// An urgent leaf whose budget comes back in a partition that is ready without it is served at
/// once.
#[test]
fn what_comes_back_in_a_ready_partition_is_seen() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let frame = class(&mut tree, Policy::Partitions);
    let windows = Frame::new(&[Window { end: 100 * MS, partition: 1 }], 0).expect("fits");
    assert_eq!(tree.set_frame(frame, windows, 0), Ok(()));
    let share = |number, priority| Share::Partition { number, priority };
    let fixed = Some(Policy::FixedPriority);
    let partition = tree.create(frame, fixed, share(1, 511)).expect("fits");
    let busy = leaf(&mut tree, frame, share(0, 5));
    let [urgent, low] = [10, 1].map(|level| leaf(&mut tree, partition, Share::Priority(level)));
    let limits = Budget::new(Server::Periodic, MS, 10 * MS);
    assert_eq!(tree.set_budget(urgent, Some(limits), 0), Ok(()));
    for leaf in [busy, urgent, low] {
        tree.wake(leaf, 0);
    }
    run(&mut tree, 0, 100 * MS);
    assert_eq!((tree.service(urgent), tree.service(busy)), (10 * MS, 90 * MS));
}

/// What servers with distant deadlines have left behind does not keep a class from promising.
#[test]
fn what_was_promised_is_free_at_once() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::EarliestDeadline);
    let mut now = 0;
    for limits in [
        Budget::new(Server::Constant, US, 1 << 62),
        Budget::new(Server::Constant, 50 * US, SHORTEST),
    ] {
        let own = leaf(&mut tree, class, Share::Deadline);
        assert_eq!(tree.set_budget(own, Some(limits), now), Ok(()));
        tree.wake(own, now);
        decide(&mut tree, now);
        now += limits.budget;
        assert_eq!(tree.remove_node(own, now), Ok(()));
    }
    let own = leaf(&mut tree, class, Share::Deadline);
    let limits = Budget::new(Server::Constant, 9 * MS, 10 * MS);
    assert_eq!(tree.set_budget(own, Some(limits), now), Ok(()));
    tree.wake(own, now);
    run(&mut tree, now, now + 100 * MS);
    assert_eq!(tree.service(own), 90 * MS);
}

/// A deadline of one's own takes nothing from what others are promised: without a limit it is
/// behind them, and with one as much as the budget by the deadline is admitted.
#[test]
fn an_early_deadline_is_no_promise() {
    for limits in [
        None,
        Some(Budget::new(Server::Periodic, 500 * MS, 5_000 * MS)),
        Some(Budget::new(Server::Sporadic, 500 * MS, 5_000 * MS)),
    ] {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        let class = class(&mut tree, Policy::EarliestDeadline);
        let [victim, thief] = [(); 2].map(|()| leaf(&mut tree, class, Share::Deadline));
        let promised = Budget::new(Server::Constant, 8 * MS, 10 * MS);
        assert_eq!(tree.set_budget(victim, Some(promised), 0), Ok(()));
        assert_eq!(tree.set_budget(thief, limits, 0), Ok(()));
        let timing = Timing { deadline: SHORTEST, period: SHORTEST };
        let admitted = tree.set_timing(thief, Some(timing), 0);
        assert_eq!(admitted, limits.map_or(Ok(()), |_| Err(TreeError::Overcommitted)));
        tree.wake(thief, 0);
        tree.wake(victim, 0);
        run(&mut tree, 0, 500 * MS);
        assert!(tree.service(victim) >= 400 * MS, "{limits:?}");
    }
}

/// A job that never ends goes by the deadlines of the budgets that it uses.
#[test]
fn a_job_that_never_ends_harms_nobody() {
    for server in HARD {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        let class = class(&mut tree, Policy::EarliestDeadline);
        let mut victim = Victim::new(&mut tree, class);
        let thief = leaf(&mut tree, class, Share::Deadline);
        assert_eq!(tree.set_budget(thief, Some(Budget::new(server, 10 * MS, 50 * MS)), 0), Ok(()));
        let timing = Timing { deadline: 50 * MS, period: 50 * MS };
        assert_eq!(tree.set_timing(thief, Some(timing), 0), Ok(()));
        tree.wake(thief, 0);
        let mut now = 0;
        while now < END {
            let left = victim.step(&mut tree, now);
            let pick = decide(&mut tree, now);
            now = pick.until.min(now + left);
            tree.account(0, now);
        }
        let jobs = tree.inspect(victim.leaf).expect("it exists").jobs;
        assert_eq!((jobs.ended, jobs.missed), (10, 0), "{server:?}");
    }
}

/// The attackers' class, and the leaf that it is to disturb.
fn disturbed(tree: &mut Tree<'_>, kind: u8) -> (NodeId, NodeId) {
    let root = tree.root(0);
    let little = Budget::new(Server::Periodic, US, 1_000 * MS);
    let fixed = Some(Policy::FixedPriority);
    match kind {
        // Below it, or above it but throttled.
        0 | 1 => {
            let victim = leaf(tree, root, Share::Priority(300));
            let share = Share::Priority(if kind == 0 { 0 } else { 400 });
            let class = tree.create(root, fixed, share).expect("fits");
            assert_eq!(tree.set_budget(class, Some(little), 0), Ok(()));
            (class, victim)
        }
        2 => {
            let curves = self::class(tree, Policy::ServiceCurves);
            let share = |percent: u32| Share::curve(Curve::linear(percent * WHOLE / 1_000));
            let victim = leaf(tree, curves, share(990));
            (tree.create(curves, fixed, share(1)).expect("fits"), victim)
        }
        3 => {
            let frame = self::class(tree, Policy::Partitions);
            let share = |number| Share::Partition { number, priority: 0 };
            let victim = leaf(tree, frame, share(1));
            let class = tree.create(frame, fixed, share(2)).expect("fits");
            let windows =
                [(90 * MS, 1), (100 * MS, 2)].map(|(end, partition)| Window { end, partition });
            let windows = Frame::new(&windows, 0).expect("fits");
            assert_eq!(tree.set_frame(frame, windows, 0), Ok(()));
            (class, victim)
        }
        _ => {
            let deadlines = self::class(tree, Policy::EarliestDeadline);
            let victim = leaf(tree, deadlines, Share::Deadline);
            let limits = Budget::new(Server::Constant, 9 * MS, 10 * MS);
            assert_eq!(tree.set_budget(victim, Some(limits), 0), Ok(()));
            let class = tree.create(deadlines, fixed, Share::Deadline).expect("fits");
            assert_eq!(tree.set_budget(class, Some(little), 0), Ok(()));
            (class, victim)
        }
    }
}

/// Budgets of 100 leaves that come back 10,000 times a second are no decisions of a leaf instead of
/// which none of them could run.
#[test]
fn what_cannot_run_does_not_interrupt() {
    for kind in 0..5 {
        let decisions = |leaves: u64| {
            let mut storage = Storage::new(108);
            let mut tree = storage.tree();
            let (class, victim) = disturbed(&mut tree, kind);
            for number in 0..leaves {
                let own = tree.create(class, None, Share::Priority(0)).expect("fits");
                let at = number * US;
                let limits = Budget::new(Server::Periodic, 50 * US, SHORTEST);
                assert_eq!(tree.set_budget(own, Some(limits), at), Ok(()));
                tree.wake(own, at);
            }
            tree.wake(victim, MS);
            let (mut now, mut decisions) = (MS, 0_u64);
            while now < 80 * MS {
                let pick = tree.pick(0, now);
                decisions += u64::from(pick.leaf == Some(victim));
                now = pick.until.min(80 * MS);
                tree.account(0, now);
            }
            assert!(tree.service(victim) > 60 * MS, "{kind}");
            decisions
        };
        let (few, many) = (decisions(1), decisions(100));
        assert!(many <= few + 100, "{kind}: {many} decisions beside 100 leaves, {few} beside one");
    }
}

/// Who makes leaves in a background class makes it no more urgent than it is.
#[test]
fn leaves_take_no_windows() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let frame = class(&mut tree, Policy::Partitions);
    let owner = leaf(&mut tree, frame, Share::Partition { number: 1, priority: 100 });
    let share = Share::Partition { number: 0, priority: 5 };
    let background = tree.create(frame, Some(Policy::FixedPriority), share).expect("fits");
    let windows = Frame::new(&[Window { end: 10 * MS, partition: 1 }], 0).expect("fits");
    assert_eq!(tree.set_frame(frame, windows, 0), Ok(()));
    let thief = leaf(&mut tree, background, Share::Priority(511));
    tree.wake(owner, 0);
    tree.wake(thief, 0);
    run(&mut tree, 0, 100 * MS);
    assert_eq!((tree.service(owner), tree.service(thief)), (100 * MS, 0));
}

/// A server that has used up its budget sleeps, and wakes shortly before the period after its
/// deadline is over: what it has then is due a period later, and no leaf beside it is late.
#[test]
fn budget_that_came_in_sleep_is_no_burst() {
    for server in [Server::Constant, Server::ConstantSoft] {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        let class = class(&mut tree, Policy::EarliestDeadline);
        let [thief, victim] = [(50, 100), (20, 40)].map(|(budget, period)| {
            let at = leaf(&mut tree, class, Share::Deadline);
            let limits = Budget::new(server, budget * MS, period * MS);
            assert_eq!(tree.set_budget(at, Some(limits), 0), Ok(()));
            at
        });
        tree.wake(thief, 0);
        run(&mut tree, 0, 50 * MS);
        tree.block(thief, 50 * MS, true);
        let woken = 190 * MS;
        tree.wake(thief, woken);
        tree.wake(victim, woken);
        run(&mut tree, woken, woken + 40 * MS);
        assert!(tree.service(victim) >= 20 * MS, "{server:?} {}", tree.service(victim));
    }
}

/// What a leaf of service curves has of the CPU in a second beside one that never waits, if after
/// each quantum of its own its share is changed; and what it would have had.
fn with_changes(share: Share, change: impl Fn(&mut Tree<'_>, NodeId, NodeId, u64)) -> [u64; 2] {
    [false, true].map(|changes| {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        let class = class(&mut tree, Policy::ServiceCurves);
        let rest = Share::Curve { guaranteed: None, share: Curve::linear(WHOLE / 10 * 9) };
        let hog = leaf(&mut tree, class, rest);
        let own = leaf(&mut tree, class, share);
        tree.wake(hog, 0);
        tree.wake(own, 0);
        let mut now = 0;
        while now < END {
            let pick = decide(&mut tree, now);
            now = pick.until.min(now + MS).min(END);
            tree.account(0, now);
            if changes && pick.leaf == Some(own) {
                change(&mut tree, class, own, now);
                tree.check();
            }
        }
        tree.service(own)
    })
}

#[test]
fn a_curve_that_is_set_again_brings_no_burst() {
    let burst = Curve { slope: WHOLE / 2, bend: 10 * MS, rest: WHOLE / 10 };
    let little = Curve::linear(1);
    let guaranteed = Share::Curve { guaranteed: Some(burst), share: little };
    let shared = Share::Curve { guaranteed: None, share: burst };
    for share in [guaranteed, shared, Share::curve(burst)] {
        let between = [
            share,
            Share::curve(Curve::linear(WHOLE / 10)),
            Share::Curve { guaranteed: None, share: little },
            Share::curve(Curve { slope: 1, bend: 10 * MS, rest: WHOLE / 10 }),
            Share::curve(Curve { bend: 9 * MS, ..burst }),
        ];
        for between in between {
            let [honest, had] = with_changes(share, |tree, _, own, now| {
                assert_eq!(tree.set_share(own, between, now), Ok(()));
                assert_eq!(tree.set_share(own, share, now), Ok(()));
            });
            assert!(had <= honest + 2 * MS, "{share:?} {between:?}: {had} {honest}");
        }
        let [honest, had] = with_changes(share, |tree, class, own, now| {
            assert_eq!(tree.join(own, class, share, now), Ok(()));
        });
        assert!(had <= honest + 2 * MS, "{share:?}, moved: {had} {honest}");
    }
}

/// The burst is there again after a sleep in which the rest would have brought it.
#[test]
fn a_curve_that_is_set_has_its_burst_after_a_sleep() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::ServiceCurves);
    let burst = Curve { slope: WHOLE / 2, bend: 10 * MS, rest: WHOLE / 10 };
    let rest = Share::Curve { guaranteed: None, share: Curve::linear(WHOLE) };
    let share = Share::Curve { guaranteed: Some(burst), share: Curve::linear(1) };
    let [hog, own] = [rest, share].map(|share| leaf(&mut tree, class, share));
    tree.wake(hog, 0);
    tree.wake(own, 0);
    run(&mut tree, 0, 100 * MS);
    let longer = Curve { bend: 20 * MS, ..burst };
    let share = Share::Curve { guaranteed: Some(longer), share: Curve::linear(1) };
    assert_eq!(tree.set_share(own, share, 100 * MS), Ok(()));
    tree.block(own, 100 * MS, true);
    run(&mut tree, 100 * MS, 300 * MS);
    let before = tree.service(own);
    tree.wake(own, 300 * MS);
    run(&mut tree, 300 * MS, 320 * MS);
    assert!(tree.service(own) - before >= 9 * MS, "{}", tree.service(own) - before);
}

/// A leaf with budget and a job that are due at once moves into a class of earliest deadlines in
/// which nothing has run: it is due as if it had come there now.
#[test]
fn a_leaf_that_moves_brings_no_early_deadline() {
    for server in Server::ALL {
        for timing in [None, Some(Timing { deadline: 100 * MS, period: 100 * MS })] {
            let mut storage = Storage::new(8);
            let mut tree = storage.tree();
            let (root, now) = (tree.root(0), 99 * MS);
            let deadlines = class(&mut tree, Policy::EarliestDeadline);
            let victim = leaf(&mut tree, deadlines, Share::Deadline);
            let promised = Budget::new(Server::Constant, 5 * MS, 10 * MS);
            assert_eq!(tree.set_budget(victim, Some(promised), 0), Ok(()));
            let thief = leaf(&mut tree, root, Share::Priority(0));
            let limits = Budget::new(server, 50 * MS, 100 * MS);
            assert_eq!(tree.set_budget(thief, Some(limits), 0), Ok(()));
            assert_eq!(tree.set_timing(thief, timing, 0), Ok(()));
            tree.wake(thief, 0);
            assert_eq!(tree.join(thief, deadlines, Share::Deadline, now), Ok(()));
            tree.wake(victim, now);
            run(&mut tree, now, now + 10 * MS);
            assert_eq!(tree.service(victim), 5 * MS, "{server:?} {timing:?}");
        }
    }
}

/// The same of leaves without limits, and of one whose class has run.
#[test]
fn a_job_that_moves_is_due_as_a_new_one() {
    for limits in [None, Some(Budget::new(Server::Periodic, MS, 10 * MS))] {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        let (root, now) = (tree.root(0), 99 * MS);
        let deadlines = class(&mut tree, Policy::EarliestDeadline);
        let first = leaf(&mut tree, deadlines, Share::Deadline);
        let moved = leaf(&mut tree, root, Share::Priority(0));
        for leaf in [first, moved] {
            assert_eq!(tree.set_budget(leaf, limits, 0), Ok(()));
            let timing = Timing { deadline: 100 * MS, period: 100 * MS };
            assert_eq!(tree.set_timing(leaf, Some(timing), 0), Ok(()));
        }
        tree.wake(moved, 0);
        tree.wake(first, 50 * MS);
        run(&mut tree, 50 * MS, now);
        assert_eq!(tree.join(moved, deadlines, Share::Deadline, now), Ok(()));
        // Its budget comes a period later, and is due by its job's deadline.
        let began = now + 11 * MS;
        let before = tree.service(moved);
        run(&mut tree, now, began);
        assert!(tree.nodes[moved.index()].key >= u128::from(now + 100 * MS), "{limits:?}");
        assert!(limits.is_some() || tree.service(moved) == before, "{limits:?}");
    }
}
