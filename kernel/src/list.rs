//! Queues of threads: circular doubly linked lists through links in the threads themselves, so
//! that insertion and removal are O(1) and need no memory.

use crate::access::{Link, Look, Object, Peek, Ref};
use cells::Cell;
use core::marker::PhantomData;

/// A thread's place in one queue.
pub struct Links<T: 'static> {
    next: Cell<Option<Ref<T>>>,
    previous: Cell<Option<Ref<T>>>,
}

impl<T> Links<T> {
    /// Not in any queue.
    pub const fn new() -> Links<T> {
        Links { next: Cell::new(None), previous: Cell::new(None) }
    }

    /// Whether the thread is in a queue.
    #[inline(always)]
    pub fn linked(&self) -> bool {
        self.next.get().is_some()
    }
}

impl<T> Default for Links<T> {
    fn default() -> Self {
        Links::new()
    }
}

/// Says which links of `T` a queue uses.
pub trait Linked<K>: Object {
    /// The links, which a queue of this kind alone changes.
    fn links(header: &Self::Header) -> &Links<Self>;
    /// A thread joins a queue.
    #[inline(always)]
    fn joins(_member: Ref<Self>) {}
    /// A thread leaves a queue.
    #[inline(always)]
    fn leaves(_member: Ref<Self>) {}
}

/// A queue through the links that `K` selects.
pub struct List<T: 'static, K> {
    head: Link<T>,
    kind: PhantomData<K>,
}

impl<T: Linked<K>, K> Look for List<T, K> {
    type Seen = Option<Ref<T>>;
    #[inline(always)]
    fn look(&self) -> Option<Ref<T>> {
        self.head()
    }
}

/// Queues without an owner: rings through the links that `K` selects, each reached by any of its
/// members.
pub struct Ring<T: 'static, K>(PhantomData<(T, K)>);

impl<T: Linked<K>, K> Ring<T, K> {
    fn links(member: Ref<T>) -> &'static Links<T> {
        T::links(member.header())
    }

    /// Makes a ring of a thread that is in none. O(1).
    pub fn form(alone: Ref<T>) {
        let links = Self::links(alone);
        debug_assert!(!links.linked(), "queued twice");
        T::joins(alone);
        links.next.set(Some(alone));
        links.previous.set(Some(alone));
    }

    /// Puts the ring of `first`, which comes first in it, behind the last member of another ring,
    /// that of `head`. O(1).
    pub fn splice(head: Ref<T>, first: Ref<T>) {
        let (ours, theirs) = (Self::links(head), Self::links(first));
        let (tail, last) = (ours.previous.get(), theirs.previous.get());
        debug_assert!(tail.is_some() && last.is_some(), "a ring is spliced with none");
        ours.previous.set(last);
        theirs.previous.set(tail);
        tail.into_iter().for_each(|tail| Self::links(tail).next.set(Some(first)));
        last.into_iter().for_each(|last| Self::links(last).next.set(Some(head)));
    }

    /// Takes a thread out of its ring. Returns the next one, if there is another. O(1).
    pub fn leave(member: Ref<T>) -> Option<Ref<T>> {
        let links = Self::links(member);
        let (next, previous) = (links.next.take()?, links.previous.take()?);
        T::leaves(member);
        if next == member {
            return None;
        }
        Self::links(next).previous.set(Some(previous));
        Self::links(previous).next.set(Some(next));
        Some(next)
    }

    /// Calls `visit` for each member, in order, from `head` on.
    pub fn each(head: Ref<T>, mut visit: impl FnMut(Ref<T>)) {
        let mut at = head;
        loop {
            visit(at);
            match Self::links(at).next.get() {
                Some(next) if next != head => at = next,
                _ => return,
            }
        }
    }
}

/// A queue that is looked at.
impl<T: Linked<K>, K, O> Peek<List<T, K>, O> {
    /// The first member.
    #[inline(always)]
    pub fn head(&self) -> Option<Ref<T>> {
        self.get()
    }

    /// Whether the queue is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.get().is_none()
    }
}

impl<T: Linked<K>, K> Default for List<T, K> {
    fn default() -> Self {
        List::new()
    }
}

impl<T: Linked<K>, K> List<T, K> {
    /// An empty queue.
    pub const fn new() -> List<T, K> {
        List { head: Link::new(), kind: PhantomData }
    }

    #[inline(always)]
    fn links(member: Ref<T>) -> &'static Links<T> {
        T::links(member.header())
    }

    /// The first member.
    #[inline(always)]
    pub fn head(&self) -> Option<Ref<T>> {
        self.head.get()
    }

    /// Whether the queue is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.head.get().is_none()
    }

    /// Whether `member` is the only one.
    pub fn holds_only(&self, member: Ref<T>) -> bool {
        self.head.get() == Some(member) && Self::links(member).next.get() == Some(member)
    }

    /// Appends `new`, which must not be in a queue of this kind. O(1).
    #[inline(always)]
    pub fn push_back(&self, new: Ref<T>) {
        let links = Self::links(new);
        debug_assert!(!links.linked(), "queued twice");
        T::joins(new);
        match self.head.get() {
            None => {
                links.next.set(Some(new));
                links.previous.set(Some(new));
                self.head.set(Some(new));
            }
            Some(head) => {
                let head_links = Self::links(head);
                let tail = head_links.previous.get().unwrap_or(head);
                links.next.set(Some(head));
                links.previous.set(Some(tail));
                Self::links(tail).next.set(Some(new));
                head_links.previous.set(Some(new));
            }
        }
    }

    /// Puts `new`, which must not be in a queue of this kind, before all others. O(1).
    #[inline(always)]
    pub fn push_front(&self, new: Ref<T>) {
        self.push_back(new);
        self.head.set(Some(new));
    }

    /// Inserts `new` before the first member for which `behind` holds, or at the end. O(n).
    pub fn insert_before(&self, new: Ref<T>, behind: impl Fn(Ref<T>) -> bool) {
        let Some(head) = self.head.get() else { return self.push_back(new) };
        let mut at = head;
        while !behind(at) {
            match Self::links(at).next.get() {
                Some(next) if next != head => at = next,
                _ => return self.push_back(new),
            }
        }
        T::joins(new);
        let (links, after) = (Self::links(new), Self::links(at));
        let before = after.previous.get().unwrap_or(at);
        links.next.set(Some(at));
        links.previous.set(Some(before));
        Self::links(before).next.set(Some(new));
        after.previous.set(Some(new));
        if at == head {
            self.head.set(Some(new));
        }
    }

    /// Removes `old`, which must be in this queue. O(1).
    #[inline(always)]
    pub fn remove(&self, old: Ref<T>) {
        let links = Self::links(old);
        let (Some(next), Some(previous)) = (links.next.get(), links.previous.get()) else {
            return;
        };
        T::leaves(old);
        if next == old {
            self.head.set(None);
        } else {
            Self::links(next).previous.set(Some(previous));
            Self::links(previous).next.set(Some(next));
            if self.head.get() == Some(old) {
                self.head.set(Some(next));
            }
        }
        links.next.set(None);
        links.previous.set(None);
    }

    /// `new`, which must not be in a queue of this kind, takes the place of `old`, which must be in
    /// this one. O(1).
    #[inline(always)]
    pub fn replace(&self, old: Ref<T>, new: Ref<T>) {
        let (leaving, joining) = (Self::links(old), Self::links(new));
        debug_assert!(!joining.linked(), "queued twice");
        let (next, previous) = (leaving.next.replace(None), leaving.previous.replace(None));
        T::leaves(old);
        T::joins(new);
        if next == Some(old) {
            joining.next.set(Some(new));
            joining.previous.set(Some(new));
        } else {
            joining.next.set(next);
            joining.previous.set(previous);
            next.into_iter().for_each(|next| Self::links(next).previous.set(Some(new)));
            previous.into_iter().for_each(|previous| Self::links(previous).next.set(Some(new)));
        }
        if self.head.get() == Some(old) {
            self.head.set(Some(new));
        }
    }

    /// Puts `member`, which must be in this queue, behind all others. O(1).
    #[inline(always)]
    pub fn move_back(&self, member: Ref<T>) {
        if self.head.get() != Some(member) {
            self.remove(member);
            self.push_back(member);
        } else {
            self.head.set(Self::links(member).next.get());
        }
    }

    /// Calls `visit` for each member, in order.
    pub fn each(&self, mut visit: impl FnMut(Ref<T>)) {
        let Some(head) = self.head.get() else { return };
        let mut at = head;
        loop {
            let next = Self::links(at).next.get();
            visit(at);
            match next {
                Some(next) if next != head => at = next,
                _ => return,
            }
        }
    }
}
