//! Service curves in three levels, under loads that come and go: what each leaf is guaranteed
//! whatever is above it, what siblings of each level share, and that no time is lost.

use super::random::Dice;
use super::*;
use proptest::prelude::*;

/// Classes in the outer one, and leaves in each.
const FAN: usize = 3;

/// A node and its share curve's slope.
#[derive(Clone, Copy)]
struct Member {
    node: NodeId,
    slope: u32,
}

/// Three levels: the outer class, its classes, each with its leaves.
struct Grown {
    outer: NodeId,
    classes: Vec<(Member, Vec<Member>)>,
}

/// Parts of a whole, all of which together are not above it.
fn parts(dice: &mut Dice, whole: u32) -> [u32; FAN] {
    core::array::from_fn(|_| 1 + whole / FAN as u32 / 4 + dice.below(u64::from(whole) / 5) as u32)
}

impl Grown {
    /// Nodes whose shares are made of slopes.
    fn new(tree: &mut Tree<'_>, dice: &mut Dice, share: impl Fn(&mut Dice, u32) -> Share) -> Grown {
        let outer = class(tree, Policy::ServiceCurves);
        let classes = parts(dice, WHOLE).map(|slope| {
            let inner = Some(Policy::ServiceCurves);
            let linear = Share::curve(Curve::linear(slope));
            let node = tree.create(outer, inner, linear).expect("it fits");
            let leaves = parts(dice, slope).map(|slope| {
                let node = leaf(tree, node, share(dice, slope));
                Member { node, slope }
            });
            (Member { node, slope }, leaves.to_vec())
        });
        Grown { outer, classes: classes.to_vec() }
    }

    fn leaves(&self) -> Vec<Member> {
        self.classes.iter().flat_map(|(_, leaves)| leaves.clone()).collect()
    }
}

/// What a curve promises in a time, in nanoseconds.
fn promised(curve: Curve, time: u64) -> u64 {
    let (first, rest) = (time.min(curve.bend), time.saturating_sub(curve.bend));
    (first * u64::from(curve.slope) + rest * u64::from(curve.rest)) / 1_000_000
}

/// A time by the slope of what has had it.
fn by_slope(time: u64, of: &Member) -> u128 {
    u128::from(time) * 1_000_000 / u128::from(of.slope)
}

/// A leaf with a guarantee.
struct Load {
    leaf: NodeId,
    curve: Curve,
    is_ready: bool,
    /// Each instant at which it became ready, with what it had had.
    begun: Vec<(u64, u64)>,
}

impl Load {
    /// What it must have had by now: from one of the instants at which it became ready on, what its
    /// curve says (S4-01).
    fn bound(&self, now: u64) -> u64 {
        let from = |(at, had): &(u64, u64)| had + promised(self.curve, now - at);
        self.begun.iter().map(from).min().unwrap_or(0)
    }
}

/// A curve that its class has room for: concave, convex or linear around a slope. All bend at one
/// instant, and a class promises no more than it has on either side of that.
fn bent(dice: &mut Dice, slope: u32) -> Curve {
    let bend = 20 * MS;
    let less = slope / 2 + dice.below(u64::from(slope / 2)) as u32;
    match dice.below(3) {
        0 => Curve { slope: less, bend, rest: slope },
        1 => Curve { slope, bend, rest: less },
        _ => Curve::linear(slope),
    }
}

proptest! {
    /// No leaf has less than its guarantee while others keep theirs, however they come and go, and
    /// all levels have the same time, which is all in which a leaf is ready.
    #[test]
    fn guarantees_hold_through_classes(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let mut storage = Storage::new(2 + FAN + FAN * FAN);
        let mut tree = storage.tree();
        let grown = Grown::new(&mut tree, &mut dice, |dice, slope| Share::curve(bent(dice, slope)));
        let load = |one: Member| {
            let share = tree.inspect(one.node).map(|state| state.share);
            let Some(Share::Curve { guaranteed: Some(curve), .. }) = share else {
                panic!("it has a curve")
            };
            Load { leaf: one.node, curve, is_ready: false, begun: Vec::new() }
        };
        let mut loads: Vec<Load> = grown.leaves().into_iter().map(load).collect();
        let (mut now, mut busy) = (0, 0);
        for _ in 0..150 {
            let at = dice.below(loads.len() as u64) as usize;
            let load = &mut loads[at];
            load.is_ready = !load.is_ready;
            match load.is_ready {
                true => {
                    tree.wake(load.leaf, now);
                    load.begun.push((now, tree.service(load.leaf)));
                }
                false => tree.block(load.leaf, now, true),
            }
            let next = now + 1 + dice.below(40 * MS);
            run(&mut tree, now, next);
            let is_busy = loads.iter().any(|load| load.is_ready);
            busy += if is_busy { next - now } else { 0 };
            now = next;
            for (class, leaves) in &grown.classes {
                let inside: u64 = leaves.iter().map(|leaf| tree.service(leaf.node)).sum();
                prop_assert_eq!(tree.service(class.node), inside);
            }
            let all: u64 = grown.classes.iter().map(|(class, _)| tree.service(class.node)).sum();
            prop_assert_eq!((all, tree.service(grown.outer)), (busy, busy));
            for load in loads.iter().filter(|load| load.is_ready) {
                let (had, bound) = (tree.service(load.leaf), load.bound(now));
                prop_assert!(
                    had + 2 * QUANTUM >= bound,
                    "{had} of {bound} ns at {now}: {:?}", load.curve
                );
            }
        }
    }

    /// Without guarantees siblings of each level that are ready all the time have parts by their
    /// slopes: what two have had by slope differs by a quantum of each at most.
    #[test]
    fn siblings_of_each_level_keep_up_with_each_other(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let mut storage = Storage::new(2 + FAN + FAN * FAN);
        let mut tree = storage.tree();
        let share = |slope| Share::Curve { guaranteed: None, share: Curve::linear(slope) };
        let grown = Grown::new(&mut tree, &mut dice, |_, slope| share(slope));
        for (class, _) in &grown.classes {
            assert_eq!(tree.set_share(class.node, share(class.slope), 0), Ok(()));
        }
        for leaf in grown.leaves() {
            assert!(tree.wake(leaf.node, 0));
        }
        let mut now = 0;
        for _ in 0..100 {
            let next = now + 1 + dice.below(40 * MS);
            run(&mut tree, now, next);
            now = next;
            let classes: Vec<Member> = grown.classes.iter().map(|(class, _)| *class).collect();
            let levels = grown.classes.iter().map(|(_, leaves)| leaves).chain([&classes]);
            for siblings in levels {
                let had = |of: &Member| by_slope(tree.service(of.node), of);
                for one in siblings {
                    for other in siblings {
                        let bound = by_slope(QUANTUM, one) + by_slope(QUANTUM, other) + 4;
                        let [one, other] = [had(one), had(other)];
                        prop_assert!(one.abs_diff(other) <= bound, "{one} {other} at {now}");
                    }
                }
            }
        }
    }
}
