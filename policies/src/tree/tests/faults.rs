//! One test for each fault that was found by reading.

use super::*;

fn budget(server: Server, budget: u64, period: u64) -> Option<Budget> {
    Some(Budget::new(server, budget, period))
}

/// Two classes of time partitions never share windows.
#[test]
fn each_class_of_partitions_has_a_frame_of_its_own() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let [first, second] = [(); 2].map(|()| class(&mut tree, Policy::Partitions));
    let root = tree.root(0);
    let third = tree.create(root, Some(Policy::Partitions), Share::Priority(1));
    assert_eq!(third, Err(TreeError::Full));
    let windows = |partition| [Window { end: MS, partition }, Window { end: 2 * MS, partition: 9 }];
    let frame = |partition| Frame::new(&windows(partition), 0).expect("fits");
    assert_eq!(tree.set_frame(first, frame(1), 0), Ok(()));
    assert_eq!(tree.set_frame(second, frame(2), 0), Ok(()));
    let leaf = leaf(&mut tree, first, Share::Partition { number: 1, priority: 0 });
    tree.wake(leaf, 0);
    assert_eq!(decide(&mut tree, 0), Pick { leaf: Some(leaf), until: MS });
    assert_eq!(decide(&mut tree, MS), Pick { leaf: None, until: 2 * MS });
    assert_eq!(tree.remove_node(second, MS), Ok(()));
    assert!(tree.create(root, Some(Policy::Partitions), Share::Priority(1)).is_ok());
    tree.check();
}

/// Time that a CPU idles behind a leaf that has blocked is nobody's.
#[test]
fn a_blocked_leaf_is_not_charged() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let [first, second] = [1, 2].map(|priority| leaf(&mut tree, root, Share::Priority(priority)));
    assert_eq!(tree.set_budget(first, budget(Server::Sporadic, MS, 10 * MS), 0), Ok(()));
    tree.wake(first, 0);
    decide(&mut tree, 0);
    tree.block(first, 100 * US, true);
    tree.wake(second, 5 * MS);
    assert_eq!(tree.service(first), 100 * US);
    tree.check();
}

/// A sporadic server that is ready again before its budget comes back loses none of it.
#[test]
fn sporadic_budget_is_conserved() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let leaf = leaf(&mut tree, root, Share::Priority(1));
    assert_eq!(tree.set_budget(leaf, budget(Server::Sporadic, MS, 10 * MS), 0), Ok(()));
    let mut now = 0;
    for _ in 0..1000 {
        tree.wake(leaf, now);
        decide(&mut tree, now);
        now += 60 * US;
        tree.block(leaf, now, true);
        now += 70 * US;
        let amounts = tree.nodes[leaf.index()].server.replenishments.amounts();
        assert_eq!(amounts.iter().map(|entry| entry.amount).sum::<u64>(), MS);
    }
    // Blocked in the middle of each wait for budget, it still gets most of it.
    assert!(tree.service(leaf) > now / 10 / 2, "{} of {now}", tree.service(leaf));
    assert!(tree.service(leaf) < now / 10 + 2 * MS);
}

/// What was used beyond a sporadic server's budget is repaid.
#[test]
fn sporadic_debts_are_repaid() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let leaf = leaf(&mut tree, root, Share::Priority(1));
    assert_eq!(tree.set_budget(leaf, budget(Server::Sporadic, MS, 10 * MS), 0), Ok(()));
    tree.wake(leaf, 0);
    decide(&mut tree, 0);
    // The timer comes 4 ms late: five budgets are used, and the next one is there at 50 ms.
    assert_eq!(decide(&mut tree, 5 * MS), Pick { leaf: None, until: 50 * MS });
    assert_eq!(decide(&mut tree, 50 * MS), Pick { leaf: Some(leaf), until: 51 * MS });
}

/// A budget that is the period is no limit, and below deadlines nothing is promised for it.
#[test]
fn a_budget_that_is_the_period_is_neither_promised_nor_released() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let deadlines = class(&mut tree, Policy::EarliestDeadline);
    let [first, second] = [(); 2].map(|()| leaf(&mut tree, deadlines, Share::Deadline));
    assert_eq!(tree.set_budget(first, budget(Server::Constant, 10 * MS, 10 * MS), 0), Ok(()));
    assert_eq!(tree.inspect(first).map(|state| state.budget), Some(None));
    tree.check();
    assert_eq!(tree.set_budget(second, budget(Server::Constant, 9 * MS, 10 * MS), 0), Ok(()));
    assert_eq!(tree.set_budget(first, None, 0), Ok(()));
    assert_eq!(tree.remove_node(first, 0), Ok(()));
    tree.check();
    // A class without a limit has nothing to promise there.
    let inner = tree.create(deadlines, Some(Policy::EarliestDeadline), Share::Deadline);
    let inner = inner.expect("fits");
    let below = leaf(&mut tree, inner, Share::Deadline);
    let tenth = budget(Server::Constant, MS, 10 * MS);
    assert_eq!(tree.set_budget(below, tenth, 0), Err(TreeError::Overcommitted));
    assert_eq!(tree.set_budget(inner, tenth, 0), Ok(()));
    assert_eq!(tree.set_budget(below, tenth, 0), Ok(()));
    let whole = budget(Server::Constant, MS, MS);
    assert_eq!(tree.set_budget(inner, whole, 0), Err(TreeError::Overcommitted));
    tree.check();
}

/// A class that is moved keeps what it promises, or stays.
#[test]
fn join_checks_the_children_against_the_new_class() {
    let mut storage = Storage::new(12);
    let mut tree = storage.tree();
    let [outer, moved] = [(); 2].map(|()| class(&mut tree, Policy::ServiceCurves));
    leaf(&mut tree, moved, Share::curve(Curve::linear(500_000)));
    for (rate, expected) in [(499_999, Err(TreeError::Overcommitted)), (500_000, Ok(()))] {
        let before = snapshot(&tree);
        assert_eq!(tree.join(moved, outer, Share::curve(Curve::linear(rate)), 0), expected);
        assert_eq!(snapshot(&tree) == before, expected.is_err());
        tree.check();
    }
}

/// A class of service curves with a budget does not come inside another one.
#[test]
fn join_refuses_a_budget_inside_service_curves() {
    let mut storage = Storage::new(12);
    let mut tree = storage.tree();
    let [outer, moved] = [(); 2].map(|()| class(&mut tree, Policy::ServiceCurves));
    assert_eq!(tree.set_budget(moved, budget(Server::Periodic, MS, 10 * MS), 0), Ok(()));
    let share = Share::curve(Curve::linear(1));
    assert_eq!(tree.join(moved, outer, share, 0), Err(TreeError::InvalidParameter));
    assert_eq!(tree.set_budget(moved, None, 0), Ok(()));
    assert_eq!(tree.join(moved, outer, share, 0), Ok(()));
    tree.check();
}

/// Below service curves a node has the least of its curve and its budget to promise.
#[test]
fn a_budget_bounds_what_a_curve_lets_promise() {
    let mut storage = Storage::new(12);
    let mut tree = storage.tree();
    let curves = class(&mut tree, Policy::ServiceCurves);
    let share = Share::curve(Curve::linear(500_000));
    let inner = tree.create(curves, Some(Policy::EarliestDeadline), share).expect("fits");
    assert_eq!(tree.set_budget(inner, budget(Server::Periodic, MS, 10 * MS), 0), Ok(()));
    let below = leaf(&mut tree, inner, Share::Deadline);
    let set = |tree: &mut Tree<'_>, tenths| {
        tree.set_budget(below, budget(Server::Constant, tenths * MS, 10 * MS), 0)
    };
    assert_eq!(set(&mut tree, 2), Err(TreeError::Overcommitted));
    assert_eq!(set(&mut tree, 1), Ok(()));
    assert_eq!(tree.set_budget(inner, None, 0), Ok(()));
    assert_eq!(set(&mut tree, 5), Ok(()));
    assert_eq!(set(&mut tree, 6), Err(TreeError::Overcommitted));
}

#[test]
fn times_have_a_least_value() {
    use abi::reservation::{LEAST_PART, LONGEST, SHORTEST, SHORTEST_WINDOW};
    let mut storage = Storage::new(12);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let leaf = leaf(&mut tree, root, Share::Priority(1));
    let invalid = Err(TreeError::InvalidParameter);
    for (amount, period, expected) in [
        (LEAST_PART - 1, SHORTEST, invalid),
        (LEAST_PART, SHORTEST - 1, invalid),
        (LEAST_PART, SHORTEST, Ok(())),
        (LONGEST, LONGEST + 1, invalid),
        (SHORTEST + 1, SHORTEST, invalid),
        (LEAST_PART, LONGEST, Ok(())),
    ] {
        for server in Server::ALL {
            assert_eq!(tree.set_budget(leaf, budget(server, amount, period), 0), expected);
        }
    }
    for (deadline, period, expected) in [
        (SHORTEST, SHORTEST - 1, invalid),
        (SHORTEST - 1, SHORTEST, invalid),
        (SHORTEST, SHORTEST, Ok(())),
        (LONGEST, LONGEST, Ok(())),
        (LONGEST + 1, LONGEST, invalid),
    ] {
        assert_eq!(tree.set_timing(leaf, Some(Timing { deadline, period }), 0), expected);
    }
    let frame = |ends: &[u64]| {
        let windows: Vec<Window> =
            ends.iter().map(|end| Window { end: *end, partition: 1 }).collect();
        Frame::new(&windows, 0).map(|_| ())
    };
    assert_eq!(frame(&[SHORTEST_WINDOW, 2 * SHORTEST_WINDOW]), Ok(()));
    assert_eq!(frame(&[LONGEST]), Ok(()));
    for ends in [
        &[][..],
        &[0],
        &[SHORTEST_WINDOW - 1],
        &[SHORTEST_WINDOW, 2 * SHORTEST_WINDOW - 1],
        &[LONGEST + 1],
    ] {
        assert_eq!(frame(ends), invalid);
    }
    assert_eq!(frame(&[3 * SHORTEST_WINDOW, SHORTEST_WINDOW]), invalid);
    let many: Vec<u64> = (1..=WINDOWS as u64 + 1).map(|n| n * SHORTEST_WINDOW).collect();
    assert_eq!((frame(&many[1..]), frame(&many)), (Ok(()), invalid));
}

/// A newcomer waits for none of its siblings that are ahead by a flat share, or by a guarantee.
#[test]
fn a_newcomer_begins_with_the_siblings_that_are_served() {
    let flat = Curve { slope: 0, bend: 1_000_000 * MS, rest: 500_000 };
    for ahead in [
        Share::Curve { guaranteed: None, share: flat },
        Share::Curve { guaranteed: Some(Curve::linear(500_000)), share: Curve::linear(1) },
    ] {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        let curves = class(&mut tree, Policy::ServiceCurves);
        let equal = Share::Curve { guaranteed: None, share: Curve::linear(250_000) };
        let [ahead, old, new] = [ahead, equal, equal].map(|share| leaf(&mut tree, curves, share));
        tree.wake(ahead, 0);
        tree.wake(old, 0);
        run(&mut tree, 0, 100 * MS);
        tree.wake(new, 100 * MS);
        let before = tree.service(old);
        run(&mut tree, 100 * MS, 200 * MS);
        let (old, new) = (tree.service(old) - before, tree.service(new));
        assert!(old.abs_diff(new) <= QUANTUM, "{old} {new}");
    }
}

/// Virtual time has no end: 600 years of the least share.
#[test]
fn virtual_times_never_meet_at_an_end() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let curves = class(&mut tree, Policy::ServiceCurves);
    let least = Share::Curve { guaranteed: None, share: Curve::linear(1) };
    let [hog, other] = [(); 2].map(|()| leaf(&mut tree, curves, least));
    tree.wake(hog, 0);
    let now = 1 << 60;
    decide(&mut tree, 0);
    tree.account(0, now);
    tree.wake(other, now);
    let before = tree.service(hog);
    run(&mut tree, now, now + 100 * MS);
    assert!((tree.service(hog) - before).abs_diff(tree.service(other)) <= QUANTUM);
}

/// A class that was deep once can go where it fits now.
#[test]
fn the_height_shrinks() {
    let mut storage = Storage::new(20);
    let mut tree = storage.tree();
    let fixed = Some(Policy::FixedPriority);
    let mut chain = vec![tree.root(0)];
    for level in 1..DEPTH {
        let class = tree.create(chain[usize::from(level) - 1], fixed, Share::Priority(1));
        chain.push(class.expect("fits"));
    }
    let last = usize::from(DEPTH) - 1;
    assert_eq!(tree.create(chain[last], None, Share::Priority(1)), Err(TreeError::TooDeep));
    let other = class(&mut tree, Policy::FixedPriority);
    assert_eq!(tree.join(chain[1], other, Share::Priority(1), 0), Err(TreeError::TooDeep));
    assert_eq!(tree.remove_node(chain[last], 0), Ok(()));
    tree.check();
    assert_eq!(tree.join(chain[1], other, Share::Priority(1), 0), Ok(()));
    tree.check();
}

#[test]
fn partitions_of_one_class_have_different_numbers() {
    let mut storage = Storage::new(60);
    let mut tree = storage.tree();
    let [first, second] = [(); 2].map(|()| class(&mut tree, Policy::Partitions));
    let share = |number| Share::Partition { number, priority: 0 };
    let moved = leaf(&mut tree, first, share(1));
    let other = leaf(&mut tree, first, share(2));
    leaf(&mut tree, second, share(1));
    let taken = Err(TreeError::PartitionTaken);
    assert_eq!(tree.create(first, None, share(1)), Err(TreeError::PartitionTaken));
    assert_eq!(tree.set_share(other, share(1), 0), taken);
    assert_eq!(tree.join(moved, second, share(1), 0), taken);
    assert_eq!(tree.set_share(other, share(2), 0), Ok(()), "its own number is no other one's");
    assert_eq!(tree.join(moved, second, share(3), 0), Ok(()));
    assert_eq!(tree.set_share(other, share(1), 0), Ok(()));
    for number in 2..=PARTITIONS as u16 {
        leaf(&mut tree, first, share(100 + number));
    }
    assert_eq!(tree.create(first, None, share(7)), Err(TreeError::Full));
    tree.check();
}

/// Before a frame begins there is the background partition alone.
#[test]
fn a_frame_can_begin_later() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::Partitions);
    let leaf = leaf(&mut tree, class, Share::Partition { number: 1, priority: 0 });
    tree.wake(leaf, 0);
    assert_eq!(decide(&mut tree, 0), Pick { leaf: None, until: NEVER });
    let frame = Frame::new(&[Window { end: 2 * MS, partition: 1 }], 10 * MS).expect("fits");
    assert_eq!(tree.set_frame(class, frame, MS), Ok(()));
    assert_eq!(decide(&mut tree, MS), Pick { leaf: None, until: 10 * MS });
    assert_eq!(decide(&mut tree, 10 * MS), Pick { leaf: Some(leaf), until: 12 * MS });
}

/// Time that is used while a node waits for budget is no further overrun.
#[test]
fn an_overrun_counts_once() {
    for server in [Server::Periodic, Server::Constant, Server::Sporadic] {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        let root = tree.root(0);
        let leaf = leaf(&mut tree, root, Share::Priority(1));
        assert_eq!(tree.set_budget(leaf, budget(server, MS, 10 * MS), 0), Ok(()));
        tree.wake(leaf, 0);
        decide(&mut tree, 0);
        tree.account(0, MS);
        tree.account(0, 2 * MS);
        let state = tree.inspect(leaf).expect("it exists");
        assert_eq!((state.overruns, state.is_throttled), (1, true), "{server:?}");
    }
}

/// Names that name nothing, or something else, do nothing.
#[test]
fn wild_names_do_nothing() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let class = class(&mut tree, Policy::EarliestDeadline);
    let used = leaf(&mut tree, class, Share::Deadline);
    let gone = leaf(&mut tree, class, Share::Deadline);
    tree.wake(gone, 0);
    decide(&mut tree, 0);
    assert_eq!(tree.remove_node(gone, 0), Ok(()));
    let (missing, frame) = (Err(TreeError::NoSuchNode), Frame::EMPTY);
    for wild in [gone, NodeId(7), NodeId(8), NodeId(u32::MAX), NodeId(u32::MAX - 1), root, class] {
        let before = snapshot(&tree);
        assert!(!tree.wake(wild, 0));
        tree.block(wild, 0, true);
        tree.rotate(wild, 0);
        assert_eq!(tree.set_timing(wild, None, 0), missing);
        assert_eq!(tree.set_frame(wild, frame.clone(), 0), missing);
        if wild != class {
            assert_eq!(tree.set_share(wild, Share::Deadline, 0), missing);
            assert_eq!(tree.set_budget(wild, None, 0), missing);
            assert_eq!(tree.join(wild, class, Share::Deadline, 0), missing);
            assert_eq!(tree.remove_node(wild, 0), missing);
        }
        if ![root, class].contains(&wild) {
            assert_eq!(tree.create(wild, None, Share::Deadline), Err(TreeError::NoSuchNode));
            assert_eq!(tree.join(used, wild, Share::Deadline, 0), missing);
            assert_eq!((tree.inspect(wild), tree.policy(wild)), (None, None));
            assert_eq!((tree.is_ready(wild), tree.service(wild)), (false, 0));
        }
        assert!(snapshot(&tree) == before, "{wild:?}");
    }
    tree.account(1, 5);
    assert_eq!(tree.pick(1, 5), Pick { leaf: None, until: NEVER });
    assert_eq!(decide(&mut tree, 0), Pick { leaf: None, until: NEVER });
}

/// Instants that go back, as clocks of several CPUs may, charge nothing and break nothing.
#[test]
fn time_does_not_go_back() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::ServiceCurves);
    let leaf = leaf(&mut tree, class, Share::curve(Curve::linear(500_000)));
    assert_eq!(tree.set_budget(leaf, budget(Server::Constant, MS, 10 * MS), 50 * MS), Ok(()));
    tree.wake(leaf, 50 * MS);
    decide(&mut tree, 50 * MS);
    tree.block(leaf, 40 * MS, true);
    tree.wake(leaf, 30 * MS);
    assert_eq!(decide(&mut tree, 20 * MS).until, 51 * MS);
    assert_eq!(tree.service(leaf), 0);
    let jobs = tree.inspect(leaf).map(|state| state.jobs);
    assert_eq!(jobs, Some(Jobs { ended: 1, ..Jobs::default() }));
}

/// The separation of jobs that were described otherwise is over.
#[test]
fn other_timings_begin_with_the_next_job() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::EarliestDeadline);
    let [slow, other] = [(); 2].map(|()| leaf(&mut tree, class, Share::Deadline));
    let timing = |time| Some(Timing { deadline: time, period: time });
    assert_eq!(tree.set_timing(slow, timing(1_000_000 * MS), 0), Ok(()));
    assert_eq!(tree.set_timing(other, timing(10 * MS), 0), Ok(()));
    tree.wake(slow, 0);
    tree.block(slow, 0, true);
    assert_eq!(tree.set_timing(slow, timing(5 * MS), 0), Ok(()));
    tree.wake(other, MS);
    tree.wake(slow, MS);
    assert_eq!(decide(&mut tree, MS).leaf, Some(slow));
}

/// A server of constant bandwidth that is told late that its deadline has passed has the budget
/// that it would have had in time, and with the next one a whole period.
#[test]
fn a_late_replenishment_has_a_whole_period() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let leaf = leaf(&mut tree, root, Share::Priority(1));
    assert_eq!(tree.set_budget(leaf, budget(Server::Constant, MS, 10 * MS), 0), Ok(()));
    tree.wake(leaf, 0);
    run(&mut tree, 0, MS);
    assert_eq!(decide(&mut tree, MS), Pick { leaf: None, until: 10 * MS });
    assert_eq!(decide(&mut tree, 35 * MS), Pick { leaf: Some(leaf), until: 36 * MS });
    assert_eq!(decide(&mut tree, 36 * MS), Pick { leaf: Some(leaf), until: 37 * MS });
    assert_eq!(decide(&mut tree, 37 * MS), Pick { leaf: None, until: 46 * MS });
}

/// Each instant that has come is a step of its own, however many have.
#[test]
fn a_crowd_of_instants_is_served_in_steps() {
    let mut storage = Storage::new(48);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let low = leaf(&mut tree, root, Share::Priority(1));
    for _ in 0..40 {
        let urgent = leaf(&mut tree, root, Share::Priority(2));
        assert_eq!(tree.set_budget(urgent, budget(Server::Periodic, US, MS), 0), Ok(()));
        tree.wake(urgent, 0);
    }
    tree.wake(low, 0);
    run(&mut tree, 0, MS / 2);
    for blocks in [false, true] {
        if blocks {
            run(&mut tree, MS, 3 * MS / 2);
            tree.block(low, 3 * MS / 2, true);
            tree.wake(low, 3 * MS / 2);
        }
        let now = if blocks { 2 * MS } else { MS };
        tree.account(0, now);
        let served = (0..).take_while(|_| matches!(tree.step(0, now), Step::Served(_))).count();
        assert_eq!(served, 40, "each instant is a step");
    }
}

/// A node that has used more than its new, smaller budget has no instant before it has repaid that.
#[test]
fn debts_bring_no_instants() {
    for server in [Server::Periodic, Server::Constant] {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        let root = tree.root(0);
        let leaf = leaf(&mut tree, root, Share::Priority(1));
        assert_eq!(tree.set_budget(leaf, budget(server, 99 * US, 100 * US), 0), Ok(()));
        tree.wake(leaf, 0);
        run(&mut tree, 0, 99 * US);
        assert_eq!(tree.set_budget(leaf, budget(server, US, 100 * US), 99 * US), Ok(()));
        // In 98 periods the debt is repaid, and with the next one there is a budget again.
        let back = 99 * 100 * US;
        assert_eq!(decide(&mut tree, 99 * US), Pick { leaf: None, until: back }, "{server:?}");
        assert_eq!(decide(&mut tree, back), Pick { leaf: Some(leaf), until: back + US });
    }
}

/// Windows are of a CPU's time: a class that has some is directly below its root, and no budget
/// bounds it.
#[test]
fn windows_are_directly_below_a_root() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let refused = Err(TreeError::InvalidParameter);
    let inner = class(&mut tree, Policy::FixedPriority);
    let (shared, policy) = (tree.shared(), Some(Policy::Partitions));
    assert_eq!(tree.create(inner, policy, Share::Priority(1)), refused);
    assert_eq!(tree.create(shared, policy, Share::Deadline), refused);
    let windows = class(&mut tree, Policy::Partitions);
    let limit = budget(Server::Periodic, 50 * MS, 100 * MS);
    assert_eq!(tree.set_budget(windows, limit, 0), Err(TreeError::InvalidParameter));
    let moved = tree.join(windows, inner, Share::Priority(1), 0);
    assert_eq!(moved, Err(TreeError::InvalidParameter));
    tree.check();
}

/// Windows that end below what runs interrupt nothing; what is chosen then goes by the window that
/// it is.
#[test]
fn windows_below_what_runs_wait_for_it() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let high = leaf(&mut tree, root, Share::Priority(20));
    let class = class(&mut tree, Policy::Partitions);
    let [first, second] = [1, 2].map(|number| {
        let leaf = leaf(&mut tree, class, Share::Partition { number, priority: 0 });
        tree.wake(leaf, 0);
        leaf
    });
    let windows = [(MS, 1), (3 * MS, 2)].map(|(end, partition)| Window { end, partition });
    let frame = Frame::new(&windows, 0).expect("fits");
    assert_eq!(tree.set_frame(class, frame, 0), Ok(()));
    assert_eq!(decide(&mut tree, 0), Pick { leaf: Some(first), until: MS });
    tree.wake(high, MS / 2);
    assert_eq!(decide(&mut tree, MS / 2), Pick { leaf: Some(high), until: NEVER });
    tree.block(high, 10 * MS + MS / 2, true);
    let pick = decide(&mut tree, 10 * MS + MS / 2);
    assert_eq!(pick, Pick { leaf: Some(second), until: 12 * MS });
    tree.block(second, 11 * MS, true);
    assert_eq!(decide(&mut tree, 11 * MS), Pick { leaf: None, until: 12 * MS });
}

/// What runs on while it waits for budget comes back later for it.
#[test]
fn a_debt_that_grows_moves_the_instant() {
    for server in [Server::Periodic, Server::Constant] {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        let root = tree.root(0);
        let leaf = leaf(&mut tree, root, Share::Priority(1));
        assert_eq!(tree.set_budget(leaf, budget(server, US, 100 * US), 0), Ok(()));
        tree.wake(leaf, 0);
        decide(&mut tree, 0);
        for time in [2 * US, 50 * US] {
            tree.account(0, time);
            tree.check();
        }
        assert_eq!(
            decide(&mut tree, 50 * US),
            Pick { leaf: None, until: 5_000 * US },
            "{server:?}"
        );
    }
}

/// A budget that is longer than the time within which it is promised fits nowhere: not below
/// earliest deadlines, and not in the class that all CPUs share, where a thread has one of them.
#[test]
fn no_budget_is_longer_than_its_deadline() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::EarliestDeadline);
    let child = leaf(&mut tree, class, Share::Deadline);
    let timing = Some(Timing { deadline: 4 * MS, period: 10 * MS });
    let set = |tree: &mut Tree<'_>, time| {
        tree.set_budget(child, budget(Server::Sporadic, time, 10 * MS), 0)
    };
    assert_eq!(set(&mut tree, 5 * MS), Ok(()));
    assert_eq!(tree.set_timing(child, timing, 0), Err(TreeError::Overcommitted));
    assert_eq!(set(&mut tree, 4 * MS), Ok(()));
    assert_eq!(tree.set_timing(child, timing, 0), Ok(()));
    assert_eq!(set(&mut tree, 4 * MS + 1), Err(TreeError::Overcommitted));
    tree.check();
}
