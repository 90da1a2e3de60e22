//! Each decision of classes of service curves, by the rules of the ledger (S4-03, S4-04).
//!
//! The reference goes where the tree goes, and says of each choice whether it is one of the best.
//! Two runs that choose between equals apart may differ by much later: a quantum of a slope of 2 %
//! is 50 quanta of virtual time, at which a leaf that wakes may join. So what is compared is not
//! what leaves have in the end, but each choice. The reference computes in fractions of 2^-32 ns,
//! so that only the tree rounds; [`ROUNDED`] is what that may amount to.
//!
//! Two rules are the tree's: a newcomer's virtual time is the least of its siblings', not the
//! middle of them, if the last one is ahead by more than a quantum of its share and it or the last
//! one is a class or has two curves; and where none is ready it is above all that were.

use super::node::ByKey;
use super::random::Dice;
use super::std::string::String;
use super::*;
use proptest::prelude::*;

/// By how much instants may differ from exact ones, in nanoseconds: a hundredth of a quantum.
const ROUNDED: i128 = 10_000 * ONE;
/// A nanosecond.
const ONE: i128 = 1 << 32;
/// In place of an instant: never.
const FAR: i128 = i128::MAX / 4;
const MILLION: i128 = WHOLE as i128;

/// The time in which a slope amounts to this much, rounded up.
fn up(service: i128, slope: i128) -> i128 {
    (service * MILLION + slope - 1) / slope
}

/// A curve of two pieces from a point on.
#[derive(Clone, Copy, Default)]
struct Line {
    x: i128,
    y: i128,
    dx: i128,
    dy: i128,
    first: i128,
    rest: i128,
}

impl Line {
    fn new(curve: Curve, x: i128, y: i128) -> Line {
        let [first, rest] = [curve.slope, curve.rest].map(i128::from);
        let dx = i128::from(curve.bend) * ONE;
        Line { x, y, dx, dy: dx * first / MILLION, first, rest }
    }

    fn at(&self, x: i128) -> i128 {
        match x - self.x {
            before if before <= 0 => self.y,
            inside if inside <= self.dx => self.y + inside * self.first / MILLION,
            behind => self.y + self.dy + (behind - self.dx) * self.rest / MILLION,
        }
    }

    /// Rounded up, so that the curve has reached there what it is to reach: a convex curve whose
    /// leaf wakes where it went to sleep begins anew, which a rounding must not undo.
    fn inverse(&self, y: i128) -> i128 {
        match y - self.y {
            below if below < 0 => self.x,
            inside if inside <= self.dy && self.dy > 0 => self.x + up(inside, self.first),
            above => self.x + self.dx + up((above - self.dy).max(0), self.rest),
        }
    }

    /// The least of itself and a curve that begins at a point.
    fn min(&mut self, curve: Curve, x: i128, y: i128) {
        let here = self.at(x);
        let new = Line::new(curve, x, y);
        if new.first <= new.rest {
            if here >= y {
                (self.x, self.y) = (x, y);
            }
        } else if here > y && self.at(x + new.dx) >= y + new.dy {
            *self = new;
        } else if here > y {
            let meet = (here - y) * MILLION / (new.first - new.rest);
            let dx = meet + (self.x + self.dx - x).max(0);
            *self = Line { dx, dy: dx * new.first / MILLION, ..new };
        }
    }

    fn eligible(self) -> Line {
        if self.first > self.rest { self } else { Line { dx: 0, dy: 0, ..self } }
    }
}

/// A node of the reference; the first one is the top class.
struct Twin {
    id: NodeId,
    parent: usize,
    is_leaf: bool,
    guaranteed: Option<Curve>,
    share: Curve,
    deadlines: Option<Line>,
    virtual_curve: Option<Line>,
    virtual_time: i128,
    /// Of a class: above this no child was that went to sleep.
    above: i128,
    /// Of a class: at least here each child was that was ready when one went to sleep.
    beside: i128,
    /// Service by its guarantee, and all of it.
    counted: i128,
    had: i128,
    is_ready: bool,
    /// Of a leaf: whether its thread runs on a lent one.
    is_away: bool,
    /// Whether it is logically active, though nothing in it is ready.
    is_kept: bool,
    /// Of a class: which of several equal children are the first and the last one in the tree.
    ends: [Option<NodeId>; 2],
}

impl Twin {
    fn new(id: NodeId, parent: usize, is_leaf: bool, share: Share) -> Twin {
        let Share::Curve { guaranteed, share } = share else { unreachable!("it has a curve") };
        let (deadlines, virtual_curve) = (None, None);
        let (virtual_time, above, counted, had) = (0, 0, 0, 0);
        let (is_ready, is_away, is_kept) = (false, false, false);
        Twin {
            id,
            parent,
            is_leaf,
            guaranteed,
            share,
            deadlines,
            virtual_curve,
            virtual_time,
            above,
            beside: 0,
            counted,
            had,
            is_ready,
            is_away,
            is_kept,
            ends: [None; 2],
        }
    }

    /// How far a quantum by its share may bring it ahead.
    fn quantum(&self) -> i128 {
        let Curve { slope, rest, .. } = self.share;
        let slope = if slope == 0 { rest } else { slope.min(rest) };
        up(i128::from(QUANTUM) * ONE, slope.into())
    }

    /// Whether a quantum by its share may have brought it so far ahead of the least.
    fn is_fair(&self, least: i128) -> bool {
        self.virtual_time - least <= self.quantum()
    }

    /// Whether it is a leaf whose share is its guarantee.
    fn is_of_one_curve(&self) -> bool {
        self.is_leaf && self.guaranteed == Some(self.share)
    }

    /// It joins its siblings at this virtual time, or where it is if that is later.
    fn start(&mut self, start: i128) {
        let (had, from) = (self.had, self.virtual_time.max(start));
        let curve = self.virtual_curve.get_or_insert_with(|| Line::new(self.share, from, had));
        curve.min(self.share, from, had);
        self.virtual_time = from.max(curve.inverse(had));
    }

    /// From when on it must be served.
    fn eligible_at(&self) -> i128 {
        self.deadlines.map_or(FAR, |curve| curve.eligible().inverse(self.counted))
    }

    fn deadline(&self) -> i128 {
        let quantum = i128::from(QUANTUM) * ONE;
        self.deadlines.map_or(FAR, |curve| curve.inverse(self.counted + quantum))
    }
}

/// The reference.
struct Reference(Vec<Twin>);

impl Reference {
    fn ready_children(&self, class: usize) -> impl Iterator<Item = &Twin> {
        let children = self.0.iter().skip(1).filter(move |twin| twin.parent == class);
        children.filter(|twin| twin.is_ready)
    }

    fn leaves(&self) -> impl Iterator<Item = &Twin> {
        self.0.iter().filter(|twin| twin.is_leaf && twin.is_ready)
    }

    fn wake(&mut self, at: usize, now: u64) {
        if at == 0 || self.0[at].is_ready {
            return;
        }
        let parent = self.0[at].parent;
        let ready = || self.ready_children(parent);
        let least = ready().map(|twin| twin.virtual_time).min();
        let most = ready().map(|twin| twin.virtual_time).max();
        let [first, last] = self.0[parent].ends;
        let is_last = |twin: &&Twin| {
            let below = most.map_or(0, |most| most - twin.virtual_time);
            (below <= ROUNDED, Some(twin.id) == last)
        };
        let is_guaranteed = self.0[at].is_of_one_curve();
        let is_alike = |last: &Twin| is_guaranteed && last.is_of_one_curve();
        let start = match (least, ready().max_by_key(is_last)) {
            (Some(least), Some(last)) if is_alike(last) || last.is_fair(least) => {
                (least + last.virtual_time) / 2
            }
            (least, _) => least.unwrap_or(self.0[parent].above),
        };
        let is_first = |twin: &&Twin| {
            let behind = least.map_or(0, |least| twin.virtual_time - least);
            (behind > ROUNDED, Some(twin.id) != first)
        };
        let first = ready().min_by_key(is_first);
        let behind = |twin: &Twin| twin.virtual_time - twin.quantum();
        let kept_up = match (first, ready().max_by_key(is_last)) {
            (Some(first), Some(last)) if last.is_fair(first.virtual_time) => {
                behind(first).max(behind(last))
            }
            (first, _) => first.map_or(self.0[parent].beside, behind),
        };
        let twin = &mut self.0[at];
        twin.is_ready = true;
        if core::mem::take(&mut twin.is_kept) {
            if twin.virtual_time < kept_up {
                twin.start(kept_up);
            }
            if let Some(curve) = twin.deadlines {
                let due = curve.at(i128::from(now) * ONE) - i128::from(QUANTUM) * ONE;
                twin.counted = twin.counted.max(due);
            }
            return self.wake(parent, now);
        }
        twin.start(start);
        if let Some(guaranteed) = twin.guaranteed.filter(|_| twin.is_leaf) {
            let (x, y) = (i128::from(now) * ONE, twin.counted);
            twin.deadlines.get_or_insert_with(|| Line::new(guaranteed, x, y)).min(guaranteed, x, y);
        }
        self.wake(parent, now);
    }

    fn sleep(&mut self, at: usize) {
        let (parent, reached) = (self.0[at].parent, self.0[at].virtual_time);
        self.0[at].is_ready = false;
        self.0[at].is_kept = self.is_awaited(at);
        self.0[parent].above = self.0[parent].above.max(reached);
        let beside = reached - self.0[at].quantum();
        self.0[parent].beside = self.0[parent].beside.max(beside);
        if parent != 0 && self.ready_children(parent).next().is_none() {
            self.sleep(parent);
        }
    }

    /// Sees which of equals the tree has first, and last.
    fn see(&mut self, tree: &Tree<'_>) {
        for twin in &mut self.0 {
            let queue = tree.nodes[twin.id.index()].queue;
            let first = avl::first::<Node, ByKey>(tree.nodes, queue);
            let last = avl::last::<Node, ByKey>(tree.nodes, queue);
            twin.ends = [first, last].map(|end| Some(NodeId(end)));
        }
    }

    /// Whether something in a node runs on a lent leaf.
    fn is_awaited(&self, at: usize) -> bool {
        let mut inside = (1..self.0.len()).filter(|child| at != 0 && self.0[*child].parent == at);
        self.0[at].is_away || inside.any(|child| self.is_awaited(child))
    }

    /// A leaf's thread is back, or has ended.
    fn end_lending(&mut self, at: usize) {
        self.0[at].is_away = false;
        for at in 0..self.0.len() {
            self.0[at].is_kept &= self.is_awaited(at);
        }
    }

    /// What the thread of a leaf has run on a lent one.
    fn charge_too(&mut self, at: usize, time: u64, now: u64) {
        self.charge(at, None, time, now);
        let Twin { parent, virtual_time, is_ready, .. } = self.0[at];
        let above = &mut self.0[parent].above;
        *above = if is_ready { *above } else { virtual_time.max(*above) };
    }

    /// Whether this choice is one of the best; if not, why.
    fn check(&self, at: usize, is_due: bool, now: u64) -> Result<(), String> {
        let (now, chosen) = (i128::from(now) * ONE, &self.0[at]);
        let mut due = self.leaves().filter(|twin| twin.eligible_at() <= now - ROUNDED);
        if is_due {
            let is_early = chosen.eligible_at() > now + ROUNDED;
            let sooner = due.find(|twin| twin.deadline() < chosen.deadline() - ROUNDED);
            return match (is_early, sooner) {
                (false, None) => Ok(()),
                (early, sooner) => Err(std::format!(
                    "{at} by its guarantee: early {early}, due sooner {:?}",
                    sooner.map(|t| t.id)
                )),
            };
        }
        if let Some(twin) = due.next() {
            return Err(std::format!("{at} by its share, while {:?} is due", twin.id));
        }
        let mut at = at;
        while at != 0 {
            let Twin { parent, virtual_time, .. } = self.0[at];
            let least = self.ready_children(parent).map(|twin| twin.virtual_time).min();
            if least.is_some_and(|least| least < virtual_time - ROUNDED) {
                let behind = (virtual_time - least.unwrap_or(0)) / ONE;
                return Err(std::format!("{at} by its share, {behind} ns ahead"));
            }
            at = parent;
        }
        Ok(())
    }

    /// Of a time that ends now its guarantee has brought what it had to have by now, and if it was
    /// chosen for that a quantum beyond; `None`: it was not chosen here.
    fn charge(&mut self, at: usize, is_due: Option<bool>, time: u64, now: u64) {
        let beyond = if is_due == Some(true) { QUANTUM } else { 0 };
        let [time, now, beyond] = [time, now, beyond].map(|time| i128::from(time) * ONE);
        let twin = &mut self.0[at];
        let had_to = twin.deadlines.map(|curve| curve.eligible().at(now));
        let part = had_to.map_or(0, |had_to| (had_to - twin.counted).max(0) + beyond);
        twin.counted += part.min(time);
        let mut above = at;
        while above != 0 {
            let twin = &mut self.0[above];
            twin.had += time;
            let reached = twin.virtual_curve.map_or(0, |curve| curve.inverse(twin.had));
            twin.virtual_time = twin.virtual_time.max(reached);
            above = if is_due.is_some() { twin.parent } else { 0 };
        }
    }
}

/// Concave, convex and linear curves; some have no guarantee, since all is promised.
fn create(tree: &mut Tree<'_>, class: NodeId, is_leaf: bool, dice: &mut Dice) -> (NodeId, Share) {
    let (least, most) = if is_leaf { (20_000, 220_000) } else { (200_000, 300_000) };
    let mut slope = || least + dice.below(most) as u32;
    let (slope, rest) = (slope(), slope());
    let curve = Curve { slope, bend: dice.one_of(&[0, 20 * MS, 100 * MS, 400 * MS]), rest };
    let policy = (!is_leaf).then_some(Policy::ServiceCurves);
    let share = Share::curve(curve);
    if let Ok(node) = tree.create(class, policy, share) {
        return (node, share);
    }
    let share = Share::Curve { guaranteed: None, share: curve };
    (tree.create(class, policy, share).expect("nothing is promised"), share)
}

/// One to four levels of classes, with leaves on each.
fn build(tree: &mut Tree<'_>, dice: &mut Dice) -> Reference {
    let top = class(tree, Policy::ServiceCurves);
    let unused = Share::curve(Curve::linear(WHOLE));
    let mut twins = vec![Twin::new(top, 0, false, unused)];
    let mut classes = vec![(0, 1)];
    for _ in 0..dice.below(4) {
        let (parent, level) = dice.one_of(&classes);
        if level < 4 {
            let (id, share) = create(tree, twins[parent].id, false, dice);
            classes.push((twins.len(), level + 1));
            twins.push(Twin::new(id, parent, false, share));
        }
    }
    for (class, _) in classes {
        for _ in 0..2 + dice.below(3) {
            let (id, share) = create(tree, twins[class].id, true, dice);
            twins.push(Twin::new(id, class, true, share));
        }
    }
    Reference(twins)
}

/// Runs until an instant; the tree decides at least once in a quantum.
fn run_both(
    tree: &mut Tree<'_>,
    model: &mut Reference,
    mut now: u64,
    end: u64,
) -> Result<(), String> {
    while now < end {
        let pick = decide(tree, now);
        let until = pick.until.min(end).min(now + QUANTUM);
        let away = model.0.iter().position(|twin| twin.is_away);
        tree.charge_too(0, away.map(|at| model.0[at].id));
        match (pick.leaf, away) {
            (Some(_), Some(away)) => model.charge_too(away, until - now, until),
            (Some(leaf), None) => {
                let is_due = tree.nodes[leaf.index()].fair.is_due;
                let at = model.0.iter().position(|twin| twin.id == leaf).expect("it is known");
                model.check(at, is_due, now).map_err(|why| std::format!("at {now}: {why}"))?;
                model.charge(at, Some(is_due), until - now, until);
            }
            (None, _) if model.leaves().next().is_some() => return Err("it idles".into()),
            (None, _) => {}
        }
        now = until;
    }
    tree.account(0, end);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.div_ceil(3),
        max_shrink_iters: 0,
        ..ProptestConfig::default()
    })]

    /// Leaves on up to four levels sleep and wake at any time, or are lent another one above them
    /// all for a while, and each choice is one of the best.
    #[test]
    fn each_choice_is_one_that_the_rules_allow(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let mut storage = Storage::new(32);
        let mut tree = storage.tree();
        let mut model = build(&mut tree, &mut dice);
        let lent = tree.create(tree.root(0), None, Share::Priority(11)).expect("fits");
        let mut now = 0;
        for _ in 0..60 {
            for at in 0..model.0.len() {
                if !model.0[at].is_leaf || dice.below(3) > 0 {
                    continue;
                }
                model.see(&tree);
                let is_busy = model.0.iter().any(|twin| twin.is_away);
                if model.0[at].is_away {
                    tree.block(lent, now, false);
                    let is_back = dice.below(3) > 0;
                    if is_back {
                        tree.wake(model.0[at].id, now);
                        model.wake(at, now);
                    }
                    assert_eq!(tree.take_back(model.0[at].id, now), Ok(()));
                    model.end_lending(at);
                } else if !is_busy && dice.below(3) == 0 {
                    assert_eq!(tree.lend(model.0[at].id, now), Ok(()));
                    model.0[at].is_away = true;
                    if model.0[at].is_ready {
                        tree.block(model.0[at].id, now, false);
                        model.sleep(at);
                    }
                    tree.wake(lent, now);
                } else if model.0[at].is_ready {
                    tree.block(model.0[at].id, now, true);
                    model.sleep(at);
                } else {
                    tree.wake(model.0[at].id, now);
                    model.wake(at, now);
                }
            }
            let is_away = model.0.iter().any(|twin| twin.is_away);
            let next = now + if is_away { dice.below(5 * MS) } else { MS + dice.below(60 * MS) };
            let result = run_both(&mut tree, &mut model, now, next);
            prop_assert!(result.is_ok(), "{result:?}");
            now = next;
        }
    }
}
