//! What the kernel counts about its interaction with programs (S0-34).

/// A counter. Row [`Table::Counter`](crate::call::Table::Counter) of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Counter {
    /// Queue operations of one direction that eager queueing would make: a ready thread blocks.
    Eager = 0,
    /// Insertions into the ready queue.
    Actual = 1,
    /// Insertions of the running thread, which was not queued: it was interrupted, its time slice
    /// ended, or it lost the CPU to whom it sent to.
    DeferredEnqueues = 2,
    /// Removals of threads that could not run, when a look-up met them.
    DeferredDequeues = 3,
    /// Switches from one thread to another; the idle thread does not count.
    Switches = 4,
    /// Searches for the highest ready thread.
    LookUps = 5,
    /// Messages that reached their receivers.
    Messages = 6,
    /// Messages whose sender had to join a queue of senders first.
    QueuedMessages = 7,
    /// The longest queue of senders at one endpoint.
    LongestQueue = 8,
    /// Nanoseconds from the last reset to now.
    Time = 9,
    /// Times that this CPU had the kernel's lock, or shared it with readers.
    Locked = 10,
    /// Of these, when it had to wait.
    LockWaits = 11,
    /// Of these, when this CPU had had it last.
    LockAgain = 12,
    /// Of these, when another CPU had had it last.
    LockHanded = 13,
    /// Sections that committed as transactions instead.
    Commits = 14,
    /// Of those that had the lock, sections whose transactions were undone too often.
    FallBacks = 15,
    /// Transactions undone by [`Conflict`](crate::trace::Undone).
    UndoneConflict = 16,
    /// Transactions undone by [`Capacity`](crate::trace::Undone).
    UndoneCapacity = 17,
    /// Transactions undone by [`LockHeld`](crate::trace::Undone).
    UndoneLockHeld = 18,
    /// Transactions undone by [`Unexplained`](crate::trace::Undone).
    UndoneUnexplained = 19,
    /// Transactions undone by [`Other`](crate::trace::Undone).
    UndoneOther = 20,
}

impl Counter {
    /// All counters, in the order of their numbers.
    pub const ALL: [Counter; 21] = [
        Counter::Eager,
        Counter::Actual,
        Counter::DeferredEnqueues,
        Counter::DeferredDequeues,
        Counter::Switches,
        Counter::LookUps,
        Counter::Messages,
        Counter::QueuedMessages,
        Counter::LongestQueue,
        Counter::Time,
        Counter::Locked,
        Counter::LockWaits,
        Counter::LockAgain,
        Counter::LockHanded,
        Counter::Commits,
        Counter::FallBacks,
        Counter::UndoneConflict,
        Counter::UndoneCapacity,
        Counter::UndoneLockHeld,
        Counter::UndoneUnexplained,
        Counter::UndoneOther,
    ];

    /// What several CPUs make of it: a sum, but the most of the longest queue and of the time.
    pub fn of_all(self, each: impl Iterator<Item = u64>) -> u64 {
        match self {
            Counter::LongestQueue | Counter::Time => each.max().unwrap_or(0),
            _ => each.sum(),
        }
    }

    /// What it is called in text.
    pub const fn name(self) -> &'static str {
        match self {
            Counter::Eager => "eager",
            Counter::Actual => "actual",
            Counter::DeferredEnqueues => "deferred enqueues",
            Counter::DeferredDequeues => "deferred dequeues",
            Counter::Switches => "switches",
            Counter::LookUps => "look-ups",
            Counter::Messages => "messages",
            Counter::QueuedMessages => "queued messages",
            Counter::LongestQueue => "longest queue",
            Counter::Time => "nanoseconds",
            Counter::Locked => "lock taken",
            Counter::LockWaits => "... waited for",
            Counter::LockAgain => "... again",
            Counter::LockHanded => "... handed over",
            Counter::Commits => "transactions",
            Counter::FallBacks => "fall-backs",
            Counter::UndoneConflict => "undone: conflict",
            Counter::UndoneCapacity => "undone: capacity",
            Counter::UndoneLockHeld => "undone: lock held",
            Counter::UndoneUnexplained => "undone: unexplained",
            Counter::UndoneOther => "undone: other",
        }
    }
}

/// Lengths of the ready queue that are told apart; the last stands for all longer ones too. The
/// length counts at each insertion, removal and look-up, before it.
pub const LENGTHS: usize = 32;

/// Threads whose time is counted: those with lower indices.
pub const TIMED: usize = 1024;

/// First word of what a program leaves of the statistics for the host: this word, the counters in
/// the order of [`Counter::ALL`], and how often the ready queue had each length.
pub const MAGIC: u64 = u64::from_le_bytes(*b"GIUSTOS1");
/// The word of the first counter.
pub const WORD_COUNTERS: usize = 1;
/// The word of the length 0.
pub const WORD_LENGTHS: usize = WORD_COUNTERS + Counter::ALL.len();
/// Words of it all.
pub const WORDS: usize = WORD_LENGTHS + LENGTHS;
