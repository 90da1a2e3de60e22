//! Service curves against a reference in floating point, which follows the rules of the ledger
//! (S4-03, S4-04) with lists in place of queues: one class, curves and phases by chance.

use super::random::Dice;
use super::*;
use proptest::prelude::*;

const LEAVES: usize = 4;
/// By how much service may differ: choices between equals may grow apart, which `lockstep.rs` looks
/// at one by one.
const APART: f64 = 8.0 * QUANTUM as f64;

/// A curve of two pieces from a point on, in nanoseconds and slopes below 1.
#[derive(Clone, Copy, Default)]
struct Moved {
    x: f64,
    y: f64,
    first: f64,
    dx: f64,
    dy: f64,
    rest: f64,
}

impl Moved {
    fn new(curve: Curve) -> Moved {
        let [first, rest] = [curve.slope, curve.rest].map(|slope| f64::from(slope) / 1e6);
        let dx = curve.bend as f64;
        Moved { x: 0.0, y: 0.0, first, dx, dy: first * dx, rest }
    }

    fn at(&self, x: f64) -> f64 {
        match x - self.x {
            before if before <= 0.0 => self.y,
            inside if inside <= self.dx => self.y + inside * self.first,
            behind => self.y + self.dy + (behind - self.dx) * self.rest,
        }
    }

    fn inverse(&self, y: f64) -> f64 {
        match y - self.y {
            below if below < 0.0 => self.x,
            inside if inside <= self.dy && self.dy > 0.0 => self.x + inside / self.first,
            inside if inside <= self.dy => self.x + self.dx,
            above => self.x + self.dx + (above - self.dy) / self.rest,
        }
    }

    /// The least of itself and a curve that begins at a point.
    fn min(&mut self, curve: &Moved, x: f64, y: f64) {
        if curve.first <= curve.rest {
            if self.at(x) >= y {
                (self.x, self.y) = (x, y);
            }
            return;
        }
        let here = self.at(x);
        if here <= y {
            return;
        }
        if self.at(x + curve.dx) >= y + curve.dy {
            *self = Moved { x, y, ..*curve };
            return;
        }
        let mut dx = (here - y) / (curve.first - curve.rest);
        if self.x + self.dx > x {
            dx += self.x + self.dx - x;
        }
        *self = Moved { x, y, dx, dy: dx * curve.first, ..*self };
    }
}

/// A leaf of the reference.
#[derive(Clone, Copy, Default)]
struct Leaf {
    curve: Moved,
    deadline: Moved,
    eligible: Moved,
    virtual_curve: Moved,
    virtual_time: f64,
    /// Service by guarantees, and all of it.
    counted: f64,
    had: f64,
    is_ready: bool,
}

/// The class.
struct Reference {
    leaves: [Leaf; LEAVES],
}

impl Reference {
    fn new(curves: [Curve; LEAVES]) -> Reference {
        let leaf = |curve| {
            let curve = Moved::new(curve);
            let [deadline, virtual_curve] = [curve; 2];
            Leaf { curve, deadline, virtual_curve, ..Leaf::default() }
        };
        Reference { leaves: curves.map(leaf) }
    }

    fn wake(&mut self, at: usize, now: f64) {
        let ready = self.leaves.iter().filter(|leaf| leaf.is_ready);
        let times = || ready.clone().map(|leaf| leaf.virtual_time);
        let ends = times().reduce(f64::min).zip(times().reduce(f64::max));
        let start = ends.map_or(0.0, |(least, most)| f64::midpoint(least, most));
        let leaf = &mut self.leaves[at];
        leaf.is_ready = true;
        let (curve, counted, had) = (leaf.curve, leaf.counted, leaf.had);
        leaf.deadline.min(&curve, now, counted);
        leaf.eligible = leaf.deadline;
        if curve.first <= curve.rest {
            (leaf.eligible.dx, leaf.eligible.dy) = (0.0, 0.0);
        }
        leaf.virtual_time = leaf.virtual_time.max(start);
        let from = leaf.virtual_time;
        leaf.virtual_curve.min(&curve, from, had);
    }

    /// Serves for a time, in quanta.
    fn run(&mut self, from: f64, until: f64) {
        let (mut now, quantum) = (from, QUANTUM as f64);
        while now < until {
            let eligible = self.leaves.iter().enumerate().filter(|(_, leaf)| {
                leaf.is_ready && leaf.eligible.inverse(leaf.counted) <= now + 1e-3
            });
            let by = |of: fn(&Leaf) -> f64| {
                move |one: &(usize, &Leaf), other: &(usize, &Leaf)| {
                    of(one.1).total_cmp(&of(other.1))
                }
            };
            let due = |leaf: &Leaf| leaf.deadline.inverse(leaf.counted + QUANTUM as f64);
            let urgent = eligible.min_by(by(due)).map(|(at, _)| at);
            let ready = self.leaves.iter().enumerate().filter(|(_, leaf)| leaf.is_ready);
            let chosen = urgent.or(ready.min_by(by(|leaf| leaf.virtual_time)).map(|(at, _)| at));
            let Some(at) = chosen else { return };
            let time = quantum.min(until - now);
            let leaf = &mut self.leaves[at];
            leaf.had += time;
            leaf.counted += if urgent.is_some() { time } else { 0.0 };
            leaf.virtual_time = leaf.virtual_curve.inverse(leaf.had);
            now += time;
        }
    }
}

/// Concave, convex and linear curves, all together within the class.
fn curve(dice: &mut Dice) -> Curve {
    let mut slope = || 20_000 + dice.below(220_000) as u32;
    let (slope, rest) = (slope(), slope());
    Curve { slope, bend: dice.one_of(&[0, 20 * MS, 100 * MS, 400 * MS]), rest }
}

proptest! {
    /// Leaves that are in use from their phases on have what the reference gives them, but for
    /// [`APART`]: both decide once in a quantum.
    #[test]
    fn curves_of_all_kinds_and_phases_bring_what_the_reference_says(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let mut storage = Storage::new(LEAVES + 2);
        let mut tree = storage.tree();
        let class = class(&mut tree, Policy::ServiceCurves);
        let curves: [Curve; LEAVES] = core::array::from_fn(|_| curve(&mut dice));
        let leaves = curves.map(|curve| leaf(&mut tree, class, Share::curve(curve)));
        let mut reference = Reference::new(curves);
        let mut now = 0;
        for round in 0..60 {
            if round < LEAVES {
                tree.wake(leaves[round], now);
                reference.wake(round, now as f64);
            }
            let next = now + MS + dice.below(60 * MS);
            run(&mut tree, now, next);
            reference.run(now as f64, next as f64);
            now = next;
            for (leaf, model) in leaves.iter().zip(&reference.leaves) {
                let had = tree.service(*leaf);
                let differs = (had as f64 - model.had).abs();
                prop_assert!(
                    differs <= APART,
                    "{had} ns, not {}, at {now}: {curves:?}", model.had
                );
            }
        }
    }
}
