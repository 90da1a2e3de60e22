//! Deadlines: a priority search tree (McCreight, over a radix) of the threads and timers that wait
//! for an instant. What is urgent comes first: of the sleepers that are due, the one of the
//! highest priority.
//!
//! Each sleeper is a node. A node's instant is not after those of the nodes below it, as in a
//! heap; and the bits of a node's key lead to it from the root, as in a trie. The key begins with
//! the priority, so that at most eight steps separate priorities; then comes the sleeper's number,
//! spread so that the rest is about as shallow as the pools of threads and timers allow:
//! 11 + log2(pool) levels in all.

use crate::access::Ref;
use crate::object::{Thread, Timer};
use crate::port::Port;
use cells::Cell;

/// Bits of a priority.
const PRIORITY_BITS: u32 = 8;
/// What spreads the numbers of sleepers: odd, so that their products differ in 24 bits, and about
/// 2^24 divided by the golden ratio, so that any few of them differ early (Knuth).
const SPREAD: u32 = 0x9e_3779 << PRIORITY_BITS;
/// In place of the instant of a sleeper: there is none.
pub(crate) const NEVER: u64 = u64::MAX;
/// In place of the priority of a sleeper that was in no queue yet.
const NO_PRIORITY: i16 = -1;

/// What waits for an instant.
pub enum TimerEntry<P: Port> {
    /// A thread whose operation times out.
    Thread(Ref<Thread<P>>),
    /// A timer that fires.
    Timer(Ref<Timer<P>>),
}

impl<P: Port> Clone for TimerEntry<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Port> Copy for TimerEntry<P> {}

impl<P: Port> TimerEntry<P> {
    fn node(&self) -> &'static Node<P> {
        match self {
            TimerEntry::Thread(thread) => &thread.header().deadline,
            TimerEntry::Timer(timer) => &timer.header().deadline,
        }
    }

    /// A number that no other sleeper has, below the bits of a priority.
    fn number(&self) -> u32 {
        let number = match self {
            TimerEntry::Thread(thread) => thread.index() << 1,
            TimerEntry::Timer(timer) => timer.index() << 1 | 1,
        };
        number.wrapping_mul(SPREAD) >> PRIORITY_BITS
    }
}

/// A link to a node.
type Link<P> = Cell<Option<&'static Node<P>>>;

/// A sleeper's place among deadlines.
pub struct Node<P: Port> {
    at: Cell<u64>,
    key: Cell<u32>,
    priority: Cell<i16>,
    below: [Link<P>; 2],
    /// Whose it is, once it was in a queue.
    sleeper: Cell<Option<TimerEntry<P>>>,
    queued: Cell<bool>,
}

impl<P: Port> Node<P> {
    /// Where its instant lies, for a debugger.
    pub(crate) const AT: usize = core::mem::offset_of!(Node<P>, at);

    /// In no queue.
    pub const fn new() -> Node<P> {
        Node {
            at: Cell::new(NEVER),
            key: Cell::new(0),
            priority: Cell::new(NO_PRIORITY),
            below: [Cell::new(None), Cell::new(None)],
            sleeper: Cell::new(None),
            queued: Cell::new(false),
        }
    }

    /// Sets whose it is, and how urgent.
    #[cold]
    fn set_key(&self, sleeper: TimerEntry<P>, priority: i16) {
        self.sleeper.set(Some(sleeper));
        self.priority.set(priority);
        self.key.set(u32::from(priority as u8) << (32 - PRIORITY_BITS) | sleeper.number());
    }

    /// Whether its instant ever comes.
    pub fn comes(&self) -> bool {
        self.at.get() != NEVER
    }

    /// Whether it is in a queue.
    pub fn queued(&self) -> bool {
        self.queued.get()
    }

    /// The instant that it waits for, or has waited for.
    pub fn at(&self) -> u64 {
        self.at.get()
    }

    /// How urgent it is, or was.
    pub fn priority(&self) -> i16 {
        self.priority.get()
    }

    /// Whose it is.
    #[inline(always)]
    pub fn sleeper(&self) -> Option<TimerEntry<P>> {
        self.sleeper.get()
    }

    /// The link to nodes whose keys go on with these bits.
    #[inline(always)]
    fn link(&self, bits: u32) -> &Link<P> {
        &self.below[(bits >> 31) as usize]
    }

    fn below(&self) -> [Option<&'static Node<P>>; 2] {
        [self.below[0].get(), self.below[1].get()]
    }
}

impl<P: Port> Default for Node<P> {
    fn default() -> Self {
        Node::new()
    }
}

/// A sleeper that is due, and where it is.
pub struct Due<'a, P: Port> {
    link: &'a Link<P>,
    node: &'static Node<P>,
}

impl<P: Port> Due<'_, P> {
    /// Whose it is, and when.
    pub fn node(&self) -> &'static Node<P> {
        self.node
    }
}

/// The deadlines of one CPU.
pub struct Deadlines<P: Port> {
    root: Link<P>,
}

impl<P: Port> Default for Deadlines<P> {
    fn default() -> Self {
        Deadlines::new()
    }
}

impl<P: Port> Deadlines<P> {
    /// No deadlines.
    pub const fn new() -> Deadlines<P> {
        Deadlines { root: Cell::new(None) }
    }

    /// Whether nothing waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.root.get().is_none()
    }

    /// The earliest instant of all; `u64::MAX`: none.
    #[inline(always)]
    pub fn first(&self) -> u64 {
        self.root.get().map_or(NEVER, |root| root.at.get())
    }

    /// The earliest instant of those whose priority is `floor` or higher; `u64::MAX`: none. At
    /// most eight steps.
    pub fn first_from(&self, floor: i16) -> u64 {
        debug_assert!(floor < 1 << PRIORITY_BITS);
        let (mut first, mut next) = (NEVER, self.root.get());
        let mut bits = floor as u8 as i8;
        while let Some(node) = next {
            if node.priority.get() >= floor {
                return first.min(node.at.get());
            }
            next = node.below[1].get();
            if bits >= 0 {
                first = first.min(next.map_or(NEVER, |higher| higher.at.get()));
                next = node.below[0].get();
            }
            bits <<= 1;
        }
        first
    }

    /// The most urgent sleeper that is due, if it has this priority or a higher one: the earliest
    /// of the highest priority. At most eight steps.
    #[inline(always)]
    pub fn most_urgent(&self, now: u64, floor: i16) -> Option<Due<'_, P>> {
        let due = |link: &Link<P>| link.get().filter(|node| node.at.get() <= now);
        let mut node = due(&self.root)?;
        let mut found = Due { link: &self.root, node };
        for _ in 0..PRIORITY_BITS {
            let [lower, higher] = &node.below;
            let (link, next) = match due(higher) {
                Some(next) => (higher, next),
                None => match due(lower) {
                    Some(next) => (lower, next),
                    None => break,
                },
            };
            node = next;
            if node.priority.get() > found.node.priority.get() {
                found = Due { link, node };
            }
        }
        (found.node.priority.get() >= floor).then_some(found)
    }

    /// Whether something is due that has this priority or a higher one.
    #[inline(never)]
    pub fn is_due(&self, now: u64, floor: i16) -> bool {
        self.most_urgent(now, floor).is_some()
    }

    /// Takes what was found, before anything is added or removed. O(log n).
    #[inline(always)]
    pub fn take(&self, due: Due<P>) {
        Self::unlink(due.link, due.node);
    }

    /// Adds a sleeper that is in no queue. O(log n).
    #[inline(never)]
    pub fn insert(&self, at: u64, sleeper: TimerEntry<P>, priority: i16) {
        let mut node = sleeper.node();
        assert!(!node.queued(), "a sleeper waits for one instant");
        node.at.set(at);
        if node.priority.get() != priority {
            node.set_key(sleeper, priority);
        }
        node.queued.set(true);
        let (mut link, mut bits, mut depth) = (&self.root, node.key.get(), 0);
        while let Some(top) = link.get().filter(|top| top.at.get() <= at) {
            link = top.link(bits);
            bits <<= 1;
            depth += 1;
        }
        // It takes the place of a later one, which takes that of the next on its own way down: each
        // is earlier than all below it.
        while let Some(later) = link.get() {
            link.set(Some(node));
            node.below[0].set(later.below[0].get());
            node.below[1].set(later.below[1].get());
            link = node.link(later.key.get() << depth);
            depth += 1;
            node = later;
        }
        node.below[0].set(None);
        node.below[1].set(None);
        link.set(Some(node));
    }

    /// Removes a sleeper, if it is in this queue, and says when it was to wake. O(log n).
    #[inline(never)]
    pub fn remove(&self, sleeper: TimerEntry<P>) -> Option<u64> {
        let node = sleeper.node();
        if !node.queued() {
            return None;
        }
        let (mut link, mut bits) = (&self.root, node.key.get());
        while let Some(top) = link.get() {
            if core::ptr::eq(top, node) {
                Self::unlink(link, node);
                return Some(node.at.get());
            }
            link = top.link(bits);
            bits <<= 1;
        }
        None
    }

    /// Takes a node out: of the nodes below a gap the earlier one rises into it.
    #[inline(always)]
    fn unlink(mut link: &Link<P>, node: &'static Node<P>) {
        node.queued.set(false);
        let mut below = node.below();
        loop {
            let higher_rises = match below {
                [Some(lower), Some(higher)] => higher.at.get() < lower.at.get(),
                [Some(_), None] => false,
                [None, Some(_)] => true,
                [None, None] => return link.set(None),
            };
            let [lower, higher] = below;
            if higher_rises {
                let Some(next) = higher else { return };
                link.set(higher);
                below = next.below();
                next.below[0].set(lower);
                link = &next.below[1];
            } else {
                let Some(next) = lower else { return };
                link.set(lower);
                below = next.below();
                next.below[1].set(higher);
                link = &next.below[0];
            }
        }
    }

    /// Calls `visit` for each sleeper, with its instant and priority.
    pub fn each(&self, mut visit: impl FnMut(TimerEntry<P>, u64, i16)) {
        Self::each_below(self.root.get(), (0, 0, 0), &mut visit);
    }

    /// Visits a node that is not before `earliest`, and whose key begins with `depth` bits as this
    /// one does, with all below it.
    fn each_below(
        node: Option<&'static Node<P>>,
        (earliest, bits, depth): (u64, u32, u32),
        visit: &mut impl FnMut(TimerEntry<P>, u64, i16),
    ) {
        let Some(node) = node else { return };
        let (at, key, priority) = (node.at.get(), node.key.get(), node.priority.get());
        assert!(at >= earliest, "a deadline before the one above it");
        assert!((key ^ bits) & !(u32::MAX >> depth) == 0, "a deadline that its key leads past");
        assert!(key >> (32 - PRIORITY_BITS) == priority as u32, "a deadline of another key");
        match node.sleeper.get().filter(|_| node.queued()) {
            Some(sleeper) => visit(sleeper, at, priority),
            None => panic!("a deadline without a sleeper"),
        }
        for (side, below) in (0..).zip(node.below()) {
            let bits = key & !(u32::MAX >> depth) | side << (31 - depth);
            Self::each_below(below, (at, bits, depth + 1), visit);
        }
    }
}
