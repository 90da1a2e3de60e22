//! Deadlines: a heap of the threads and timers that wait for an instant. Insertion and removal
//! take O(log n) steps.

use crate::access::Ref;
use crate::arena::Arena;
use crate::object::{Thread, Timer};
use crate::port::Port;
use cells::Cell;

const NOWHERE: u32 = u32::MAX;

/// Where in the heap something stands.
pub struct Place(Cell<u32>);

impl Place {
    /// Not in the heap.
    pub const fn new() -> Place {
        Place(Cell::new(NOWHERE))
    }

    /// Whether it is in the heap.
    pub fn is_set(&self) -> bool {
        self.0.get() != NOWHERE
    }
}

impl Default for Place {
    fn default() -> Self {
        Place::new()
    }
}

/// What waits for an instant.
pub enum Sleeper<P: Port> {
    /// A thread whose operation times out.
    Thread(Ref<Thread<P>>),
    /// A timer that fires.
    Timer(Ref<Timer<P>>),
}

impl<P: Port> Clone for Sleeper<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Port> Copy for Sleeper<P> {}

impl<P: Port> Sleeper<P> {
    fn place(&self) -> &'static Place {
        match self {
            Sleeper::Thread(thread) => &thread.member().place,
            Sleeper::Timer(timer) => &timer.member().place,
        }
    }
}

/// An instant and what waits for it.
pub type Entry<P> = (u64, Sleeper<P>);

/// A place in the heap; empty before its first use.
type Slot<P> = Cell<(u64, Option<Sleeper<P>>)>;

/// Children of a node: four make half as many levels as two, for the same comparisons.
const CHILDREN: usize = 4;

/// The heap. Entries beyond `count` hold anything.
pub struct Deadlines<P: Port> {
    entries: &'static [Slot<P>],
    count: Cell<u32>,
}

impl<P: Port> Deadlines<P> {
    /// Carves a heap for this many sleepers.
    pub fn carve(arena: &mut Arena, size: usize) -> Option<Deadlines<P>> {
        let entries = arena.slice(size, |_, _| Some(Cell::new((0, None))))?;
        Some(Deadlines { entries, count: Cell::new(0) })
    }

    /// The first instant that anything waits for.
    pub fn first(&self) -> Option<u64> {
        self.held().first().map(|entry| entry.get().0)
    }

    fn held(&self) -> &'static [Slot<P>] {
        &self.entries[..self.count.get() as usize]
    }

    fn set(entries: &[Slot<P>], index: usize, (at, who): Entry<P>) {
        entries[index].set((at, Some(who)));
        who.place().0.set(index as u32);
    }

    /// Adds a sleeper that is not in the heap. O(log n).
    pub fn insert(&self, at: u64, sleeper: Sleeper<P>) {
        assert!(!sleeper.place().is_set(), "a sleeper waits for one instant");
        let index = self.count.get();
        self.count.set(index + 1);
        Self::rise(self.held(), index as usize, (at, sleeper));
    }

    /// Removes a sleeper, if it is in the heap. O(log n).
    pub fn remove(&self, sleeper: Sleeper<P>) {
        let index = sleeper.place().0.replace(NOWHERE);
        if index == NOWHERE {
            return;
        }
        let index = index as usize;
        let last = self.count.get() - 1;
        self.count.set(last);
        let (at, Some(who)) = self.entries[last as usize].get() else { return };
        let entries = self.held();
        if index == entries.len() {
            return;
        }
        if index > 0 && at < entries[(index - 1) / CHILDREN].get().0 {
            Self::rise(entries, index, (at, who));
        } else {
            Self::sink(entries, index, (at, who));
        }
    }

    /// Takes the first sleeper whose instant is not after `now`, with that instant. O(log n).
    pub fn pop(&self, now: u64) -> Option<Entry<P>> {
        let (at, who) = self.held().first()?.get();
        if at > now {
            return None;
        }
        let sleeper = who?;
        sleeper.place().0.set(NOWHERE);
        let last = self.count.get() - 1;
        self.count.set(last);
        if last > 0 {
            self.replace_first(last);
        }
        Some((at, sleeper))
    }

    /// The entry behind the last one takes the place of the first.
    #[inline(never)]
    fn replace_first(&self, last: u32) {
        if let (at, Some(who)) = self.entries[last as usize].get() {
            Self::sink(self.held(), 0, (at, who));
        }
    }

    /// Whether nothing waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    fn rise(entries: &[Slot<P>], mut index: usize, entry: Entry<P>) {
        while index > 0 {
            let parent = (index - 1) / CHILDREN;
            match entries[parent].get() {
                (at, Some(above)) if at > entry.0 => Self::set(entries, index, (at, above)),
                _ => break,
            }
            index = parent;
        }
        Self::set(entries, index, entry);
    }

    fn sink(entries: &[Slot<P>], mut index: usize, entry: Entry<P>) {
        loop {
            let first = CHILDREN * index + 1;
            let at = |n: usize| entries.get(first + n).map_or(u64::MAX, |below| below.get().0);
            let mut least = (at(0), first);
            for n in 1..CHILDREN {
                if at(n) < least.0 {
                    least = (at(n), first + n);
                }
            }
            let (at, child) = least;
            if at >= entry.0 {
                break;
            }
            let (_, Some(who)) = entries[child].get() else { break };
            Self::set(entries, index, (at, who));
            index = child;
        }
        Self::set(entries, index, entry);
    }
}
