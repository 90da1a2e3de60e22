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
}

impl Counter {
    /// All counters, in the order of their numbers.
    pub const ALL: [Counter; 10] = [
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
    ];

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
        }
    }
}

/// Lengths of the ready queue that are told apart; the last stands for all longer ones too. The
/// length counts at each insertion, removal and look-up, before it.
pub const LENGTHS: usize = 32;

/// First word of what a program leaves of the statistics for the host: this word, the counters in
/// the order of [`Counter::ALL`], and how often the ready queue had each length.
pub const MAGIC: u64 = u64::from_le_bytes(*b"GIUSTOS1");
/// The word of the first counter.
pub const WORD_COUNTERS: usize = 1;
/// The word of the length 0.
pub const WORD_LENGTHS: usize = WORD_COUNTERS + Counter::ALL.len();
/// Words of it all.
pub const WORDS: usize = WORD_LENGTHS + LENGTHS;
