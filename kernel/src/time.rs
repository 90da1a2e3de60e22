//! Deadlines: a binary heap of the threads and timers that wait for an instant. Insertion and
//! removal take O(log n) steps.

use crate::access::Ref;
use crate::arena::Arena;
use crate::object::{Thread, Timer};
use crate::port::Port;
use core::cell::Cell;

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

/// The heap.
pub struct Deadlines<P: Port> {
    entries: &'static [Cell<Option<Entry<P>>>],
    count: Cell<u32>,
}

impl<P: Port> Deadlines<P> {
    /// Carves a heap for this many sleepers.
    pub fn carve(arena: &mut Arena, size: usize) -> Option<Deadlines<P>> {
        let entries = arena.slice(size, |_, _| Some(Cell::new(None)))?;
        Some(Deadlines { entries, count: Cell::new(0) })
    }

    /// The first instant that anything waits for.
    pub fn first(&self) -> Option<u64> {
        (self.count.get() > 0).then(|| self.at(0))
    }

    fn at(&self, index: u32) -> u64 {
        self.entries[index as usize].get().map_or(u64::MAX, |(at, _)| at)
    }

    fn set(&self, index: u32, entry: Entry<P>) {
        self.entries[index as usize].set(Some(entry));
        entry.1.place().0.set(index);
    }

    /// Adds a sleeper that is not in the heap. O(log n).
    pub fn insert(&self, at: u64, sleeper: Sleeper<P>) {
        assert!(!sleeper.place().is_set(), "a sleeper waits for one instant");
        let index = self.count.get();
        self.count.set(index + 1);
        self.rise(index, (at, sleeper));
    }

    /// Removes a sleeper, if it is in the heap. O(log n).
    pub fn remove(&self, sleeper: Sleeper<P>) {
        let index = sleeper.place().0.replace(NOWHERE);
        if index == NOWHERE {
            return;
        }
        let last = self.count.get() - 1;
        self.count.set(last);
        let moved = self.entries[last as usize].take();
        if index != last
            && let Some(moved) = moved
        {
            if index > 0 && moved.0 < self.at((index - 1) / 2) {
                self.rise(index, moved);
            } else {
                self.sink(index, moved);
            }
        }
    }

    /// Takes the first sleeper whose instant is not after `now`, with that instant. O(log n).
    pub fn pop(&self, now: u64) -> Option<Entry<P>> {
        if self.first()? > now {
            return None;
        }
        let entry = self.entries[0].get()?;
        self.remove(entry.1);
        Some(entry)
    }

    fn rise(&self, mut index: u32, entry: Entry<P>) {
        while index > 0 {
            let parent = (index - 1) / 2;
            match self.entries[parent as usize].get() {
                Some(above) if above.0 > entry.0 => self.set(index, above),
                _ => break,
            }
            index = parent;
        }
        self.set(index, entry);
    }

    fn sink(&self, mut index: u32, entry: Entry<P>) {
        loop {
            let (left, right) = (2 * index + 1, 2 * index + 2);
            if left >= self.count.get() {
                break;
            }
            let child = if right < self.count.get() && self.at(right) < self.at(left) {
                right
            } else {
                left
            };
            match self.entries[child as usize].get() {
                Some(below) if below.0 < entry.0 => self.set(index, below),
                _ => break,
            }
            index = child;
        }
        self.set(index, entry);
    }
}
