//! What the scheduling tree admits, step by step, against what the analysis admits.

use abi::reservation::{
    Budget, Curve, Policy, SHORTEST, SHORTEST_WINDOW, Server as Kind, Share, Window as Slot,
};
use analysis::edf::demand_test;
use analysis::{Reservation, ServiceCurve, Steps, Supply, Window, Workload};
use policies::tree::{Frame, Node, NodeId, Tree, TreeCpu, TreeError};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

struct Storage(Vec<Node>, Vec<Frame>, Vec<TreeCpu>);

impl Storage {
    fn new() -> Storage {
        Storage(vec![Node::vacant(); 64], vec![Frame::EMPTY; 1], vec![TreeCpu::NEW; 2])
    }

    fn tree(&mut self) -> Tree<'_> {
        Tree::new(&mut self.0, &mut self.1, &mut self.2, 10 * MS, MS)
    }
}

/// Something comes, changes or goes; which one is by remainder.
#[derive(Clone, Debug)]
enum Step<T> {
    Add(T),
    Change(usize, T),
    Remove(usize),
}

fn steps<T: Clone + std::fmt::Debug + 'static>(
    one: impl Strategy<Value = T> + Clone + 'static,
) -> impl Strategy<Value = Vec<Step<T>>> {
    let change = (any::<usize>(), one.clone()).prop_map(|(place, to)| Step::Change(place, to));
    let remove = any::<usize>().prop_map(Step::Remove);
    prop::collection::vec(
        prop_oneof![3 => one.prop_map(Step::Add), 2 => change, 1 => remove],
        1..24,
    )
}

/// A budget and a period.
type Bandwidth = (u64, u64);

/// Budgets and periods in some tenths of a millisecond, so that some fill the CPU exactly.
fn bandwidth() -> impl Strategy<Value = Bandwidth> + Clone {
    let period = prop::sample::select(vec![10, 12, 15, 20, 30, 60, 70]);
    (1..8u64, period).prop_map(|(budget, period)| (budget * SHORTEST, period * SHORTEST))
}

/// Whether the analysis finds that servers of constant bandwidth fit under EDF.
fn analysis_fits(servers: &[Bandwidth]) -> bool {
    let reservation =
        |(budget, period): &Bandwidth| Reservation { budget: *budget, period: *period };
    let reservations = servers.iter().map(reservation).collect();
    let workload = Workload { reservations, ..Workload::default() };
    demand_test(&workload, &Supply::whole(), &mut Steps::new(1_000_000)) == Ok(None)
}

/// The share of the CPU that is free, in units that all periods divide: exact.
fn free(servers: &[Bandwidth], class: Bandwidth) -> i64 {
    const COMMON: u64 = 420 * SHORTEST;
    let share = |(budget, period): &Bandwidth| (COMMON / period * budget) as i64;
    share(&class) - servers.iter().map(share).sum::<i64>()
}

/// A class of EDF with a budget of its own, or the whole CPU: what it then has.
fn class(tree: &mut Tree<'_>, limit: Option<Bandwidth>) -> (NodeId, Bandwidth) {
    let root = tree.root(0);
    let class = tree.create(root, Some(Policy::EarliestDeadline), Share::Priority(0)).unwrap();
    let Some((budget, period)) = limit else { return (class, (1, 1)) };
    let limits = Budget::new(Kind::Periodic, budget, period);
    tree.set_budget(class, Some(limits), 0).unwrap();
    (class, (budget, period))
}

proptest! {
    #[test]
    fn servers_are_admitted_exactly_if_they_fit(
        steps in steps(bandwidth()), limit in prop::option::of(bandwidth()),
    ) {
        let mut storage = Storage::new();
        let mut tree = storage.tree();
        let (class, has) = class(&mut tree, limit);
        let mut known: Vec<(NodeId, Bandwidth)> = Vec::new();
        for step in steps {
            let set = |tree: &mut Tree<'_>, at: NodeId, (budget, period): Bandwidth| {
                tree.set_budget(at, Some(Budget::new(Kind::Constant, budget, period)), 0)
            };
            let mut would: Vec<Bandwidth> = known.iter().map(|(_, one)| *one).collect();
            let done = match step {
                Step::Add(new) => {
                    let at = tree.create(class, None, Share::Deadline).unwrap();
                    would.push(new);
                    let done = set(&mut tree, at, new);
                    match done {
                        Ok(()) => known.push((at, new)),
                        Err(_) => prop_assert_eq!(tree.remove_node(at, 0), Ok(())),
                    }
                    done
                }
                Step::Change(place, new) if !known.is_empty() => {
                    let place = place % known.len();
                    would[place] = new;
                    let done = set(&mut tree, known[place].0, new);
                    known[place].1 = if done.is_ok() { new } else { known[place].1 };
                    done
                }
                Step::Remove(place) if !known.is_empty() => {
                    let (at, _) = known.swap_remove(place % known.len());
                    prop_assert_eq!(tree.remove_node(at, 0), Ok(()));
                    continue;
                }
                Step::Change(..) | Step::Remove(_) => continue,
            };
            let free = free(&would, has);
            prop_assert!(done.is_ok() || done == Err(TreeError::Overcommitted));
            prop_assert_eq!(done.is_ok(), free >= 0, "{:?} within {:?}", would, has);
            if limit.is_none() {
                prop_assert_eq!(analysis_fits(&would), free >= 0);
                prop_assert!(done.is_err() || analysis_fits(&would));
            }
        }
    }

    #[test]
    fn curves_are_admitted_exactly_if_they_fit(
        steps in steps(curve()), parents in prop::collection::vec(curve(), 1..4),
    ) {
        let mut storage = Storage::new();
        let mut tree = storage.tree();
        let root = tree.root(0);
        let policy = Some(Policy::ServiceCurves);
        let top = tree.create(root, policy, Share::Priority(0)).unwrap();
        let mut parent = parents[0];
        let class = tree.create(top, policy, Share::curve(parent)).unwrap();
        let mut known: Vec<(NodeId, Curve)> = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            // Now and then the class itself is given another curve.
            if let Some(new) = parents.get(1 + number / 4).filter(|_| number % 4 == 3) {
                let inside: Vec<Curve> = known.iter().map(|(_, one)| *one).collect();
                let fits = admits(new, &inside);
                let done = tree.set_share(class, Share::curve(*new), 0);
                prop_assert_eq!(done.is_ok(), fits, "{:?} in {:?}: {:?}", inside, new, done);
                parent = if fits { *new } else { parent };
            }
            let mut would: Vec<Curve> = known.iter().map(|(_, one)| *one).collect();
            let done = match step {
                Step::Add(new) => {
                    would.push(new);
                    let done = tree.create(class, None, Share::curve(new));
                    known.extend(done.ok().map(|at| (at, new)));
                    done.map(drop)
                }
                Step::Change(place, new) if !known.is_empty() => {
                    let place = place % known.len();
                    would[place] = new;
                    let done = tree.set_share(known[place].0, Share::curve(new), 0);
                    known[place].1 = if done.is_ok() { new } else { known[place].1 };
                    done
                }
                Step::Remove(place) if !known.is_empty() => {
                    let (at, _) = known.swap_remove(place % known.len());
                    prop_assert_eq!(tree.remove_node(at, 0), Ok(()));
                    continue;
                }
                Step::Change(..) | Step::Remove(_) => continue,
            };
            let fits = admits(&parent, &would);
            prop_assert_eq!(done.is_ok(), fits, "{:?} in {:?}: {:?}", would, parent, done);
            prop_assert_eq!(fits, is_below(&would, &parent), "by hand");
        }
    }

    /// Of windows the tree asks further that each has the least length.
    #[test]
    fn windows_are_taken_if_they_follow_one_another(
        ends in prop::collection::vec((0..40u64, 0..3u16), 1..8),
    ) {
        let slot = |(end, number): &(u64, u16)| {
            let end = end * SHORTEST_WINDOW;
            Slot { end, partition: *number }
        };
        let slots: Vec<Slot> = ends.iter().map(slot).collect();
        let begins = std::iter::once(0).chain(slots.iter().map(|slot| slot.end));
        let windows: Option<Vec<Window>> = begins
            .zip(&slots)
            .map(|(offset, slot)| {
                let duration = slot.end.checked_sub(offset)?;
                Some(Window { offset, duration })
            })
            .collect();
        let frame = slots.last().map_or(0, |slot| slot.end);
        let analysed = windows.is_some_and(|all| Supply::windows(frame, &all).is_ok());
        prop_assert_eq!(Frame::new(&slots, 0).is_ok(), analysed);
    }
}

/// Curves whose bends are few, as the tree wants, and whose slopes sum up to that of another one
/// now and then.
fn curve() -> impl Strategy<Value = Curve> + Clone {
    let slope = || prop::sample::select(vec![50_000, 100_000, 150_000, 300_000, 600_000]);
    let first = prop_oneof![Just(0), slope()];
    (first, 0..5u64, slope()).prop_map(|(slope, bend, rest)| Curve { slope, bend: bend * MS, rest })
}

fn admits(parent: &Curve, children: &[Curve]) -> bool {
    let analysed = |curve: &Curve| {
        let [first, rest] = [curve.slope, curve.rest].map(|slope| u64::from(slope) * 1_000);
        ServiceCurve::new(first, curve.bend, rest).unwrap()
    };
    let children: Vec<ServiceCurve> = children.iter().map(analysed).collect();
    analysed(parent).admit(&children).is_none()
}

/// By hand: at each tick up to beyond the last bend, and far away.
fn is_below(children: &[Curve], parent: &Curve) -> bool {
    let exact = |curve: &Curve, time: u64| {
        let first = time.min(curve.bend);
        u128::from(first) * u128::from(curve.slope)
            + u128::from(time - first) * u128::from(curve.rest)
    };
    let sum = |time: u64| children.iter().map(|child| exact(child, time)).sum::<u128>();
    let instants = (0..60).map(|tick| tick * SHORTEST).chain([1 << 40]);
    instants.into_iter().all(|time| sum(time) <= exact(parent, time))
}
