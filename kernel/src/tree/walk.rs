//! How far the deadlines of threads have followed changes that made reservations more urgent: a
//! walk round and round the pool of threads.

use cells::Cell;

/// There is one walk: who raises something while it is under way makes it longer.
pub(crate) struct Walk {
    /// Steps that were made, each for one thread.
    made: Cell<u64>,
    /// Behind so many steps all deadlines have followed.
    due: Cell<u64>,
}

impl Walk {
    pub(super) fn new() -> Walk {
        Walk { made: Cell::new(0), due: Cell::new(0) }
    }

    /// All threads of a pool of this size are to be looked at from now on.
    pub(crate) fn begin(&self, threads: u32) {
        self.due.set(self.made.get() + u64::from(threads));
    }

    /// How many steps are to be made.
    pub(crate) fn left(&self) -> u64 {
        self.due.get() - self.made.get()
    }

    /// Makes a step, if one is left: the place in the pool of the thread to look at.
    pub(crate) fn step(&self, threads: u32) -> Option<u32> {
        let made = self.made.get();
        (made < self.due.get()).then(|| {
            self.made.set(made + 1);
            (made % u64::from(threads)) as u32
        })
    }

    /// Whether the thread in this place is still to be looked at.
    pub(crate) fn is_to_reach(&self, thread: u32, threads: u32) -> bool {
        let next = (self.made.get() % u64::from(threads)) as u32;
        let ahead = (thread + threads - next) % threads;
        u64::from(ahead) < self.left()
    }
}
