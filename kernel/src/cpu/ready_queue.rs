//! The ready queue: a list of threads per priority and the bitmap tree over them (S0-06, S0-07).

use crate::access::Ref;
use crate::cost::CostEvent;
use crate::list::List;
use crate::object::Thread;
use crate::object::thread::Running;
use crate::port::Port;
use abi::PRIORITIES;
use cells::Cell;
use policies::levels;

/// The ready queue of one CPU.
pub struct ReadyQueue<P: Port> {
    lists: [List<Thread<P>, Running>; PRIORITIES],
    /// The levels that hold a thread.
    upper: Cell<u64>,
    lower: [Cell<u64>; levels::WORDS],
    /// How many threads are queued, if the port keeps lengths.
    length: Cell<u32>,
}

impl<P: Port> Default for ReadyQueue<P> {
    fn default() -> Self {
        ReadyQueue::new()
    }
}

impl<P: Port> ReadyQueue<P> {
    /// An empty queue.
    pub const fn new() -> ReadyQueue<P> {
        ReadyQueue {
            lists: [const { List::new() }; PRIORITIES],
            upper: Cell::new(0),
            lower: [const { Cell::new(0) }; levels::WORDS],
            length: Cell::new(0),
        }
    }

    #[inline(always)]
    fn level(thread: Ref<Thread<P>>) -> u8 {
        thread.priority.get() as u8
    }

    #[inline(always)]
    fn add_level(&self, level: u8) {
        let lower = &self.lower[levels::word(level)];
        lower.set(levels::with(lower.get(), level));
        self.upper.set(levels::with_word(self.upper.get(), level));
    }

    #[inline(always)]
    fn remove_level(&self, level: u8) {
        let lower = &self.lower[levels::word(level)];
        lower.set(levels::without(lower.get(), level));
        if lower.get() == 0 {
            self.upper.set(levels::without_word(self.upper.get(), level));
        }
    }

    /// Appends a thread at the end of its level, unless it is queued already: true if not. O(1).
    #[inline(always)]
    pub fn insert(&self, thread: Ref<Thread<P>>) -> bool {
        self.insert_at::<false>(thread)
    }

    /// Inserts a thread as the first of its level, unless it is queued already: true if not. O(1).
    #[inline(always)]
    pub fn insert_first(&self, thread: Ref<Thread<P>>) -> bool {
        self.insert_at::<true>(thread)
    }

    #[inline(always)]
    fn insert_at<const FIRST: bool>(&self, thread: Ref<Thread<P>>) -> bool {
        let joins = !thread.queued();
        if joins {
            let level = Self::level(thread);
            let list = &self.lists[level as usize];
            if FIRST {
                list.push_front(thread)
            } else {
                list.push_back(thread)
            }
            self.add_level(level);
            if P::LENGTHS {
                self.length.set(self.length.get() + 1);
            }
        }
        joins
    }

    /// Removes a thread, if it is queued: true if so. O(1).
    #[inline(always)]
    pub fn remove(&self, thread: Ref<Thread<P>>) -> bool {
        let leaves = thread.queued();
        if leaves {
            let level = Self::level(thread);
            let list = &self.lists[level as usize];
            list.remove(thread);
            if list.is_empty() {
                self.remove_level(level);
            }
            if P::LENGTHS {
                self.length.set(self.length.get() - 1);
            }
        }
        leaves
    }

    /// Puts a queued thread behind its equals. O(1).
    #[inline(always)]
    pub fn move_back(&self, thread: Ref<Thread<P>>) {
        self.lists[Self::level(thread) as usize].move_back(thread);
    }

    /// How many threads are queued, up to what a record of the trace can say; 0 if the port keeps
    /// no lengths.
    pub fn length(&self) -> u16 {
        self.length.get().min(u32::from(u16::MAX)) as u16
    }

    /// The first thread of the highest level that is not empty.
    #[inline(always)]
    pub fn first(&self) -> Option<Ref<Thread<P>>> {
        P::cost(CostEvent::LookUp);
        let level = levels::highest(self.upper.get(), |word| self.lower[word].get())?;
        self.lists[level as usize].head()
    }

    /// Whether a thread is the first of its level.
    pub fn is_first(&self, thread: Ref<Thread<P>>) -> bool {
        self.lists[Self::level(thread) as usize].head() == Some(thread)
    }

    /// Whether no thread is queued.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.upper.get() == 0
    }

    /// Whether no thread but this one is queued.
    pub fn holds_only(&self, thread: Ref<Thread<P>>) -> bool {
        let level = Self::level(thread);
        let lower = self.lower[levels::word(level)].get();
        let only = self.upper.get() == levels::with_word(0, level) && lower == levels::bit(level);
        only && self.lists[level as usize].holds_only(thread)
    }

    /// Calls `visit` for each queued thread with its level.
    pub fn each(&self, mut visit: impl FnMut(u8, Ref<Thread<P>>)) {
        for (level, list) in self.lists.iter().enumerate() {
            list.each(|thread| visit(level as u8, thread));
        }
    }
}
