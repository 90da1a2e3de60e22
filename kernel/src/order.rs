//! Sets of threads in the order of their keys, first come, first served within one key. Keys are
//! priorities, so the set is a digital search tree of eight bits with one member of each key in it,
//! behind which the others of that key form a ring. It lies in the members: every operation visits
//! at most [`LEVELS`] of them, however many there are, and needs no memory (S2G-07, X-06).

use crate::access::{Exclusive, Ref};
use cells::Cell;
use core::marker::PhantomData;

/// Levels of the tree: a member on level `n` has the first `n` bits of its key in common with all
/// that are above it.
pub const LEVELS: u32 = u8::BITS + 1;

/// A member's place in one set.
pub struct Place<T: 'static> {
    key: Cell<u8>,
    /// Whether it is in the tree, rather than behind another one of its key.
    inner: Cell<bool>,
    up: Cell<Option<Ref<T>>>,
    below: [Cell<Option<Ref<T>>>; 2],
    next: Cell<Option<Ref<T>>>,
    previous: Cell<Option<Ref<T>>>,
}

impl<T> Place<T> {
    /// In no set.
    pub const fn new() -> Place<T> {
        Place {
            key: Cell::new(0),
            inner: Cell::new(false),
            up: Cell::new(None),
            below: [const { Cell::new(None) }; 2],
            next: Cell::new(None),
            previous: Cell::new(None),
        }
    }

    /// Whether it is in a set.
    pub fn linked(&self) -> bool {
        self.next.get().is_some()
    }

    /// The key that it has in its set.
    pub fn key(&self) -> u8 {
        self.key.get()
    }
}

impl<T> Default for Place<T> {
    fn default() -> Self {
        Place::new()
    }
}

/// Says which place in `T` a set uses.
pub trait Ordered<K: Copy>: Sized + 'static {
    /// The place, which a set of this kind alone changes.
    fn place(&self, kind: K) -> &Place<Self>;
}

/// The root of a set: its members are reached from here alone.
pub type Root<T> = Cell<Option<Ref<T>>>;

/// The operations on sets of one kind.
pub struct Order<'a, T, K>(&'a Exclusive<'a>, K, PhantomData<T>);

impl<'a, T: Ordered<K>, K: Copy> Order<'a, T, K> {
    /// With everything open.
    pub fn of(all: &'a Exclusive<'a>, kind: K) -> Self {
        Order(all, kind, PhantomData)
    }

    fn place(&self, at: Ref<T>) -> &'a Place<T> {
        self.0.open(at).place(self.1)
    }

    /// The key of a member.
    pub fn key(&self, at: Ref<T>) -> u8 {
        self.place(at).key()
    }

    /// A member of the tree and those behind it that have its key, in order.
    pub fn equals(&self, head: Ref<T>) -> impl Iterator<Item = Ref<T>> {
        let next = move |at: &Ref<T>| self.place(*at).next.get().filter(|next| *next != head);
        core::iter::successors(Some(head), next)
    }

    /// The member with the greatest key that has been in the set longest.
    pub fn first(&self, root: &Root<T>) -> Option<Ref<T>> {
        let mut best = root.get()?;
        let mut at = Some(best);
        while let Some(here) = at {
            let place = self.place(here);
            if place.key() > self.key(best) {
                best = here;
            }
            // Of two halves the one with the next bit set has the greater keys.
            at = place.below[1].get().or(place.below[0].get());
        }
        Some(best)
    }

    /// Adds a member, which must be in no set of this kind, behind all others of its key.
    pub fn insert(&self, root: &Root<T>, new: Ref<T>, key: u8) {
        let place = self.place(new);
        debug_assert!(!place.linked(), "in two sets");
        place.key.set(key);
        let (mut link, mut up) = (root, None);
        for bit in (0..LEVELS).rev() {
            let Some(here) = link.get() else { break };
            let inner = self.place(here);
            if inner.key() == key {
                return self.follow(here, new);
            }
            up = Some(here);
            // On the last level all bits are those of the key, so the member there has it.
            link = &inner.below[usize::from(key >> bit.saturating_sub(1) & 1)];
        }
        place.next.set(Some(new));
        place.previous.set(Some(new));
        place.up.set(up);
        place.inner.set(true);
        link.set(Some(new));
    }

    /// Puts a member at the end of the ring behind another one.
    fn follow(&self, head: Ref<T>, new: Ref<T>) {
        let (first, place) = (self.place(head), self.place(new));
        let last = first.previous.get();
        place.next.set(Some(head));
        place.previous.set(last);
        first.previous.set(Some(new));
        last.into_iter().for_each(|last| self.place(last).next.set(Some(new)));
    }

    /// Removes a member, which must be in this set.
    pub fn remove(&self, root: &Root<T>, old: Ref<T>) {
        let place = self.place(old);
        let (next, previous) = (place.next.take(), place.previous.take());
        let next = next.filter(|next| *next != old);
        if let (Some(next), Some(previous)) = (next, previous) {
            self.place(next).previous.set(Some(previous));
            self.place(previous).next.set(Some(next));
        }
        if !place.inner.get() {
            return;
        }
        match next.or_else(|| self.take_leaf(root, old)) {
            Some(heir) => self.replace(root, old, heir),
            None => self.link(root, old).set(None),
        }
        place.inner.set(false);
        place.up.set(None);
    }

    /// Gives a member of this set another key, behind all others of that. O(1) for the only one.
    pub fn rekey(&self, root: &Root<T>, at: Ref<T>, key: u8) {
        let place = self.place(at);
        let alone = place.next.get() == Some(at) && root.get() == Some(at);
        if alone && place.below.iter().all(|below| below.get().is_none()) {
            return place.key.set(key);
        }
        self.remove(root, at);
        self.insert(root, at, key);
    }

    /// Takes a member without any below out of the tree, from below another one.
    fn take_leaf(&self, root: &Root<T>, above: Ref<T>) -> Option<Ref<T>> {
        let below = |at: Ref<T>| {
            let place = self.place(at);
            place.below[0].get().or(place.below[1].get())
        };
        let mut leaf = below(above)?;
        while let Some(next) = below(leaf) {
            leaf = next;
        }
        self.link(root, leaf).set(None);
        Some(leaf)
    }

    /// What leads to a member of the tree.
    fn link<'r>(&self, root: &'r Root<T>, at: Ref<T>) -> &'r Root<T>
    where
        'a: 'r,
    {
        let Some(up) = self.place(at).up.get() else { return root };
        let [low, high] = &self.place(up).below;
        if low.get() == Some(at) { low } else { high }
    }

    /// Another one takes a member's place in the tree.
    fn replace(&self, root: &Root<T>, old: Ref<T>, heir: Ref<T>) {
        self.link(root, old).set(Some(heir));
        let (from, to) = (self.place(old), self.place(heir));
        to.up.set(from.up.get());
        to.inner.set(true);
        for (from, to) in from.below.iter().zip(&to.below) {
            let below = from.take();
            to.set(below);
            below.into_iter().for_each(|below| self.place(below).up.set(Some(heir)));
        }
    }

    /// Calls `visit` for each member, in no order that means anything.
    pub fn each(&self, root: &Root<T>, visit: &mut impl FnMut(Ref<T>)) {
        let Some(head) = root.get() else { return };
        let mut at = head;
        loop {
            visit(at);
            match self.place(at).next.get() {
                Some(next) if next != head => at = next,
                _ => break,
            }
        }
        self.place(head).below.iter().for_each(|below| self.each(below, visit));
    }
}
