//! Sorted sets of nodes, whose links lie in the nodes: AVL trees over indices, without allocation.
//!
//! A node can be in several sets at once, each with its own [`Links`]; an [`Order`] says which
//! links and which key a set goes by. Insertion and removal take O(log n) steps, the height being
//! at most 1.44 log2(n + 2).

/// In place of an index: none.
pub const NIL: u32 = u32::MAX;

/// A node's place in one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Links {
    left: u32,
    right: u32,
    up: u32,
    /// Of the subtree below and with this node; 0: it is in no set.
    height: u8,
    /// The node of the least value in that subtree.
    holder: u32,
    /// That value.
    least: u64,
}

impl Links {
    /// The links of a node that is in no set.
    pub const OUT: Links =
        Links { left: NIL, right: NIL, up: NIL, height: 0, holder: NIL, least: u64::MAX };

    /// Whether the node is in a set.
    #[inline(always)]
    pub fn is_in(&self) -> bool {
        self.height > 0
    }
}

/// A kind of set: which links it uses and how it sorts.
pub trait Order<N> {
    /// The type of keys.
    type Key: Ord + Copy;
    /// Whether [`Order::value`] matters.
    const VALUED: bool = false;
    /// The links that it uses.
    fn links(node: &N) -> &Links;
    /// The same, to change them.
    fn links_mut(node: &mut N) -> &mut Links;
    /// What it sorts by, least first. It must not change while the node is in the set.
    fn key(node: &N) -> Self::Key;
    /// The order among equal keys, least first; else they follow as they came.
    fn rank(_node: &N) -> u64 {
        0
    }
    /// What [`least_up_to`] looks for.
    fn value(_node: &N) -> u64 {
        u64::MAX
    }
}

#[inline(always)]
fn links<N, O: Order<N>>(nodes: &[N], at: u32) -> &Links {
    O::links(&nodes[at as usize])
}

#[inline(always)]
fn links_mut<N, O: Order<N>>(nodes: &mut [N], at: u32) -> &mut Links {
    O::links_mut(&mut nodes[at as usize])
}

#[inline(always)]
fn height<N, O: Order<N>>(nodes: &[N], at: u32) -> u8 {
    if at == NIL { 0 } else { links::<N, O>(nodes, at).height }
}

/// The least value in a subtree, and the node that has it.
#[inline(always)]
fn least<N, O: Order<N>>(nodes: &[N], at: u32) -> (u64, u32) {
    if at == NIL {
        return (u64::MAX, NIL);
    }
    let links = links::<N, O>(nodes, at);
    (links.least, links.holder)
}

/// Recomputes what a node says about its subtree; whether that has changed.
#[inline(always)]
fn update<N, O: Order<N>>(nodes: &mut [N], at: u32) -> bool {
    let old = *links::<N, O>(nodes, at);
    let height = 1 + height::<N, O>(nodes, old.left).max(height::<N, O>(nodes, old.right));
    let mut new = Links { height, ..old };
    if O::VALUED {
        (new.least, new.holder) = (O::value(&nodes[at as usize]), at);
        // Of equals the first in order.
        let (value, holder) = least::<N, O>(nodes, old.left);
        if value <= new.least && holder != NIL {
            (new.least, new.holder) = (value, holder);
        }
        let (value, holder) = least::<N, O>(nodes, old.right);
        if value < new.least {
            (new.least, new.holder) = (value, holder);
        }
    }
    *links_mut::<N, O>(nodes, at) = new;
    (new.height, new.least, new.holder) != (old.height, old.least, old.holder)
}

/// Makes `new` the child of `up` in the place of `old`; returns the root.
#[inline(always)]
fn replace<N, O: Order<N>>(nodes: &mut [N], root: u32, up: u32, old: u32, new: u32) -> u32 {
    if new != NIL {
        links_mut::<N, O>(nodes, new).up = up;
    }
    if up == NIL {
        return new;
    }
    let above = links_mut::<N, O>(nodes, up);
    if above.left == old {
        above.left = new;
    } else {
        above.right = new;
    }
    root
}

/// Lifts the left or right child of `at` into its place; returns the root.
fn rotate<N, O: Order<N>>(nodes: &mut [N], root: u32, at: u32, lifts_left: bool) -> u32 {
    let old = *links::<N, O>(nodes, at);
    let child = if lifts_left { old.left } else { old.right };
    let inner = links_mut::<N, O>(nodes, child);
    let moved = if lifts_left {
        core::mem::replace(&mut inner.right, at)
    } else {
        core::mem::replace(&mut inner.left, at)
    };
    let root = replace::<N, O>(nodes, root, old.up, at, child);
    let lowered = links_mut::<N, O>(nodes, at);
    lowered.up = child;
    if lifts_left {
        lowered.left = moved;
    } else {
        lowered.right = moved;
    }
    if moved != NIL {
        links_mut::<N, O>(nodes, moved).up = at;
    }
    update::<N, O>(nodes, at);
    update::<N, O>(nodes, child);
    root
}

/// Restores balance and least values from `at` upwards, at least up to `least` if that is a node,
/// and then as far as something changes; returns the root.
#[inline(always)]
fn rebalance<N, O: Order<N>>(nodes: &mut [N], mut root: u32, mut at: u32, mut least: u32) -> u32 {
    while at != NIL {
        if at == least {
            least = NIL;
        }
        let changed = update::<N, O>(nodes, at);
        let here = *links::<N, O>(nodes, at);
        let (left, right) = (height::<N, O>(nodes, here.left), height::<N, O>(nodes, here.right));
        if left > right + 1 || right > left + 1 {
            let is_left = left > right;
            let child = if is_left { here.left } else { here.right };
            let below = *links::<N, O>(nodes, child);
            let (outer, inner) =
                if is_left { (below.left, below.right) } else { (below.right, below.left) };
            if height::<N, O>(nodes, inner) > height::<N, O>(nodes, outer) {
                root = rotate::<N, O>(nodes, root, child, !is_left);
            }
            root = rotate::<N, O>(nodes, root, at, is_left);
        } else if !changed && least == NIL {
            break;
        }
        at = here.up;
    }
    root
}

/// Adds a node, which is in no set of this kind, behind those of the same key; returns the root.
pub fn insert<N, O: Order<N>>(nodes: &mut [N], root: u32, at: u32) -> u32 {
    debug_assert!(!links::<N, O>(nodes, at).is_in(), "a node joins a set twice");
    let key = place::<N, O>(nodes, at);
    let (mut up, mut here, mut is_left) = (NIL, root, false);
    while here != NIL {
        let node = &nodes[here as usize];
        is_left = key < (O::key(node), O::rank(node));
        up = here;
        here = if is_left { O::links(node).left } else { O::links(node).right };
    }
    *links_mut::<N, O>(nodes, at) = Links { up, ..Links::OUT };
    if up == NIL {
        update::<N, O>(nodes, at);
        return at;
    }
    let above = links_mut::<N, O>(nodes, up);
    if is_left {
        above.left = at;
    } else {
        above.right = at;
    }
    rebalance::<N, O>(nodes, root, at, NIL)
}

/// Removes a node, which is in the set with this root; returns the root.
pub fn remove<N, O: Order<N>>(nodes: &mut [N], root: u32, at: u32) -> u32 {
    let gone = *links::<N, O>(nodes, at);
    debug_assert!(gone.is_in(), "a node leaves a set that it is not in");
    let (heir, start, least) = if gone.left == NIL || gone.right == NIL {
        (if gone.left == NIL { gone.right } else { gone.left }, gone.up, NIL)
    } else {
        let next = leftmost::<N, O>(nodes, gone.right);
        let Links { up, right, .. } = *links::<N, O>(nodes, next);
        let start = if up == at { next } else { up };
        if up != at {
            links_mut::<N, O>(nodes, up).left = right;
            if right != NIL {
                links_mut::<N, O>(nodes, right).up = up;
            }
            links_mut::<N, O>(nodes, gone.right).up = next;
        }
        links_mut::<N, O>(nodes, gone.left).up = next;
        let right = if up == at { right } else { gone.right };
        *links_mut::<N, O>(nodes, next) = Links { right, ..gone };
        // It takes over the least value of a subtree that held the node.
        (next, start, if O::VALUED { next } else { NIL })
    };
    let root = replace::<N, O>(nodes, root, gone.up, at, heir);
    *links_mut::<N, O>(nodes, at) = Links::OUT;
    rebalance::<N, O>(nodes, root, start, least)
}

/// Changes a node, its key, rank and value perhaps, and puts it where it then belongs in a set,
/// behind those of the same key, or takes it out. Where it stays between its neighbours, no link
/// changes. Returns the root.
#[inline(always)]
pub fn change<N, O: Order<N>>(
    nodes: &mut [N],
    root: u32,
    at: u32,
    is_in: bool,
    change: impl FnOnce(&mut N),
) -> u32 {
    if !links::<N, O>(nodes, at).is_in() || !is_in {
        let was_in = links::<N, O>(nodes, at).is_in();
        let root = if was_in { remove::<N, O>(nodes, root, at) } else { root };
        change(&mut nodes[at as usize]);
        return if is_in { insert::<N, O>(nodes, root, at) } else { root };
    }
    let old = place::<N, O>(nodes, at);
    change(&mut nodes[at as usize]);
    move_from::<N, O>(nodes, root, at, old)
}

/// What a node goes by.
#[inline(always)]
fn place<N, O: Order<N>>(nodes: &[N], at: u32) -> (O::Key, u64) {
    let node = &nodes[at as usize];
    (O::key(node), O::rank(node))
}

/// Puts a node of a set, which went by something else before, where it belongs; returns the root.
fn move_from<N, O: Order<N>>(nodes: &mut [N], root: u32, at: u32, old: (O::Key, u64)) -> u32 {
    let new = place::<N, O>(nodes, at);
    let stays = if new >= old {
        let next = next::<N, O>(nodes, at);
        next == NIL || new < place::<N, O>(nodes, next)
    } else {
        let before = before::<N, O>(nodes, at);
        before == NIL || place::<N, O>(nodes, before) <= new
    };
    if !stays {
        let root = remove::<N, O>(nodes, root, at);
        return insert::<N, O>(nodes, root, at);
    }
    if O::VALUED { rebalance::<N, O>(nodes, root, at, NIL) } else { root }
}

#[inline(always)]
fn leftmost<N, O: Order<N>>(nodes: &[N], mut at: u32) -> u32 {
    while links::<N, O>(nodes, at).left != NIL {
        at = links::<N, O>(nodes, at).left;
    }
    at
}

/// The node of the least key, or [`NIL`]. O(log n).
#[inline(always)]
pub fn first<N, O: Order<N>>(nodes: &[N], root: u32) -> u32 {
    if root == NIL { NIL } else { leftmost::<N, O>(nodes, root) }
}

/// The node of the greatest key, or [`NIL`]. O(log n).
pub fn last<N, O: Order<N>>(nodes: &[N], root: u32) -> u32 {
    let mut at = root;
    while at != NIL && links::<N, O>(nodes, at).right != NIL {
        at = links::<N, O>(nodes, at).right;
    }
    at
}

/// The node behind a node, or [`NIL`]. O(log n).
pub fn next<N, O: Order<N>>(nodes: &[N], at: u32) -> u32 {
    let right = links::<N, O>(nodes, at).right;
    if right != NIL {
        return leftmost::<N, O>(nodes, right);
    }
    let (mut below, mut here) = (at, links::<N, O>(nodes, at).up);
    while here != NIL && links::<N, O>(nodes, here).right == below {
        below = here;
        here = links::<N, O>(nodes, here).up;
    }
    here
}

/// The node before a node, or [`NIL`]. O(log n).
fn before<N, O: Order<N>>(nodes: &[N], at: u32) -> u32 {
    let left = links::<N, O>(nodes, at).left;
    if left != NIL {
        return last::<N, O>(nodes, left);
    }
    let (mut below, mut here) = (at, links::<N, O>(nodes, at).up);
    while here != NIL && links::<N, O>(nodes, here).left == below {
        below = here;
        here = links::<N, O>(nodes, here).up;
    }
    here
}

/// The first node of this key, or [`NIL`]. O(log n).
pub fn find<N, O: Order<N>>(nodes: &[N], root: u32, key: O::Key) -> u32 {
    let (mut found, mut here) = (NIL, root);
    while here != NIL {
        let node = &nodes[here as usize];
        let (links, at) = (O::links(node), O::key(node));
        if at == key {
            found = here;
        }
        here = if at < key { links.right } else { links.left };
    }
    found
}

/// Whether a set holds more than one node. O(1).
#[inline(always)]
pub fn has_two<N, O: Order<N>>(nodes: &[N], root: u32) -> bool {
    root != NIL && links::<N, O>(nodes, root).height > 1
}

/// Of the nodes whose key is not above `limit` the one of the least value, the first of equals, or
/// [`NIL`]. O(log n).
pub fn least_up_to<N, O: Order<N>>(nodes: &[N], root: u32, limit: O::Key) -> u32 {
    let (mut found, mut value) = (NIL, u64::MAX);
    let mut here = root;
    while here != NIL {
        let node = &nodes[here as usize];
        let links = O::links(node);
        if found != NIL && links.least >= value {
            // Nothing below is less.
            break;
        }
        if O::key(node) > limit {
            here = links.left;
            continue;
        }
        for (least, holder) in [least::<N, O>(nodes, links.left), (O::value(node), here)] {
            if least < value || found == NIL {
                (found, value) = (holder, least);
            }
        }
        here = links.right;
    }
    found
}

/// Whether links, heights and least values of a whole set agree, and it is in balance.
#[cfg(test)]
pub(super) fn check<N, O: Order<N>>(nodes: &[N], root: u32) {
    fn subtree<N, O: Order<N>>(nodes: &[N], at: u32, up: u32) -> (u8, u64) {
        if at == NIL {
            return (0, u64::MAX);
        }
        let links = links::<N, O>(nodes, at);
        assert_eq!(links.up, up);
        let (left, low) = subtree::<N, O>(nodes, links.left, at);
        let (right, high) = subtree::<N, O>(nodes, links.right, at);
        assert!(left.abs_diff(right) <= 1, "out of balance");
        let value = if O::VALUED { O::value(&nodes[at as usize]) } else { u64::MAX };
        let least = low.min(high).min(value);
        assert_eq!((links.height, links.least), (1 + left.max(right), least));
        if O::VALUED {
            assert_eq!(O::value(&nodes[links.holder as usize]), least, "who has the least value");
            let mut above = links.holder;
            while above != at {
                assert_ne!(above, NIL, "the node of the least value is elsewhere");
                above = self::links::<N, O>(nodes, above).up;
            }
        }
        (links.height, least)
    }
    subtree::<N, O>(nodes, root, NIL);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::collections::BTreeSet;
    use std::vec;
    use std::vec::Vec;

    #[derive(Clone)]
    struct Item {
        links: Links,
        key: (u64, u64),
        value: u64,
    }

    struct ByKey;
    impl Order<Item> for ByKey {
        type Key = u128;
        const VALUED: bool = true;
        fn links(item: &Item) -> &Links {
            &item.links
        }
        fn links_mut(item: &mut Item) -> &mut Links {
            &mut item.links
        }
        fn key(item: &Item) -> u128 {
            u128::from(item.key.0)
        }
        fn rank(item: &Item) -> u64 {
            item.key.1
        }
        fn value(item: &Item) -> u64 {
            item.value
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_sorted_set(
            steps in prop::collection::vec(
                (0usize..60, 0u64..40, 0u64..30, prop::bool::ANY),
                1..300,
            ),
            limit in 0u64..40,
        ) {
            let mut items = vec![Item { links: Links::OUT, key: (0, 0), value: 0 }; 60];
            let (mut root, mut model) = (NIL, BTreeSet::new());
            for (order, (index, key, value, changes)) in steps.into_iter().enumerate() {
                let at = index as u32;
                if items[index].links.is_in() && changes {
                    model.remove(&(items[index].key, at));
                    root = change::<Item, ByKey>(&mut items, root, at, true, |item| {
                        (item.key, item.value) = ((key, order as u64), value);
                    });
                    model.insert((items[index].key, at));
                } else if items[index].links.is_in() {
                    root = remove::<Item, ByKey>(&mut items, root, at);
                    model.remove(&(items[index].key, at));
                } else {
                    (items[index].key, items[index].value) = ((key, order as u64), value);
                    root = insert::<Item, ByKey>(&mut items, root, at);
                    model.insert((items[index].key, at));
                }
                check::<Item, ByKey>(&items, root);
                let (mut listed, mut at) = (Vec::new(), first::<Item, ByKey>(&items, root));
                while at != NIL {
                    listed.push((items[at as usize].key, at));
                    at = next::<Item, ByKey>(&items, at);
                }
                prop_assert_eq!(&listed, &model.iter().copied().collect::<Vec<_>>());
                prop_assert_eq!(has_two::<Item, ByKey>(&items, root), model.len() > 1);
                let same = model.iter().find(|(key, _)| key.0 == limit).map_or(NIL, |(_, at)| *at);
                prop_assert_eq!(same, find::<Item, ByKey>(&items, root, limit.into()));
                let up_to = model.iter().filter(|(key, _)| key.0 <= limit);
                let least = up_to.map(|(_, at)| items[*at as usize].value).min();
                let found = least_up_to::<Item, ByKey>(&items, root, limit.into());
                prop_assert_eq!(least, items.get(found as usize).map(|item| item.value));
                prop_assert!(found == NIL || items[found as usize].key.0 <= limit);
            }
        }
    }
}
