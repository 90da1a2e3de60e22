//! The queue lock of Craig, Landin and Hagersten, for a kernel with one lock (S1-07).
//!
//! ```text
//!   tail ──────────────────────────────┐
//!                                      v
//!   [node: free] <- owner's [busy] <- [busy]      each CPU spins on the node before its own
//! ```
//!
//! A CPU brings a node, marks it busy, puts it at the tail and waits for the node that was there.
//! To release is to mark the own node free. Its successor still looks at that node, so the CPU
//! leaves it there and takes its predecessor's, which no CPU reads any more. So N CPUs need
//! N + 1 nodes, the queue is first in first out, and a hand-off moves one line however many wait.
//!
//! A node is named by its index. It also says who owns it or did last, so that a CPU learns for
//! nothing from whom it has the lock.

use crate::handoff::Handoff;
use crate::line::Line;
use crate::relax::Relax;
use crate::sync::AtomicU32;
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, Release};
use cells::Cell;
use core::array;

/// Set in a node while its CPU owns the lock or waits for it; the rest names the CPU.
const BUSY: u32 = 1 << 31;

/// The lock, for at most `NODES - 1` CPUs; `NODES` is a power of two.
pub struct Clh<const NODES: usize> {
    tail: Line<AtomicU32>,
    nodes: [Line<AtomicU32>; NODES],
}

/// A CPU's place at one lock. It belongs to that CPU alone, and there is one per CPU and lock.
pub struct Seat {
    cpu: u32,
    /// What the CPU marks its node with.
    busy: u32,
    /// The node that the CPU brings, or has in the queue.
    mine: Cell<u32>,
    /// The predecessor's node while the lock is held, otherwise `mine`.
    spare: Cell<u32>,
}

impl Seat {
    /// Whether this CPU owns the lock.
    #[inline(always)]
    pub fn holds(&self) -> bool {
        self.mine.get() != self.spare.get()
    }

    /// The CPU.
    #[inline(always)]
    pub fn cpu(&self) -> usize {
        self.cpu as usize
    }
}

impl<const NODES: usize> Clh<NODES> {
    /// A lock that is free.
    #[expect(clippy::new_without_default, reason = "locks are made on purpose, one by one")]
    pub fn new() -> Clh<NODES> {
        const { assert!(NODES.is_power_of_two() && NODES >= 2) };
        let free = |_| Line::new(AtomicU32::new(Handoff::NO_CPU));
        Clh { tail: Line::new(AtomicU32::new(0)), nodes: array::from_fn(free) }
    }

    /// The place of `cpu` at a new lock. Asking twice for one CPU breaks the lock.
    pub fn seat(cpu: usize) -> Seat {
        assert!(cpu < NODES - 1, "a queue lock with {NODES} nodes has no place for CPU {cpu}");
        let node = cpu as u32 + 1;
        Seat {
            cpu: cpu as u32,
            busy: cpu as u32 | BUSY,
            mine: Cell::new(node),
            spare: Cell::new(node),
        }
    }

    /// An index is below `NODES` always; the mask saves the proof at run time.
    #[inline(always)]
    fn node(&self, index: u32) -> &AtomicU32 {
        &self.nodes[index as usize & (NODES - 1)]
    }

    /// Waits until the lock is this CPU's.
    #[inline(always)]
    pub fn acquire<R: Relax>(&self, seat: &Seat) -> Handoff {
        debug_assert!(!seat.holds(), "a CPU takes the kernel's lock twice");
        let mine = seat.mine.get();
        self.node(mine).store(seat.busy, Relaxed);
        // Releases the node to the successor, and acquires the predecessor's.
        let before = self.tail.swap(mine, AcqRel);
        seat.spare.set(before);
        let node = self.node(before);
        let mut last = node.load(Acquire);
        if last & BUSY == 0 {
            return Handoff::of(last, false);
        }
        while last & BUSY != 0 {
            R::relax();
            last = node.load(Acquire);
        }
        Handoff::of(last, true)
    }

    /// Hands the lock to the CPU that has waited longest.
    #[inline(always)]
    pub fn release(&self, seat: &Seat) {
        debug_assert!(seat.holds(), "a CPU releases the kernel's lock and does not own it");
        self.node(seat.mine.get()).store(seat.cpu, Release);
        seat.mine.set(seat.spare.get());
    }

    /// Whether another CPU waits for the lock, which this CPU owns.
    #[inline]
    pub fn is_queued_behind(&self, seat: &Seat) -> bool {
        self.tail.load(Relaxed) != seat.mine.get()
    }

    /// Waits until the owner and all waiters of this moment have had the lock.
    #[inline]
    pub fn wait_for_queue<R: Relax>(&self) {
        let last = self.node(self.tail.load(Acquire));
        let seen = last.load(Acquire);
        // The CPU that takes the node over marks it otherwise.
        while seen & BUSY != 0 && last.load(Acquire) == seen {
            R::relax();
        }
    }

    /// Whether a CPU owns the lock or waits for it. Within a transaction the answer stays true
    /// until the end, or the transaction aborts.
    #[inline(always)]
    pub fn is_held(&self) -> bool {
        self.node(self.tail.load(Acquire)).load(Acquire) & BUSY != 0
    }
}
