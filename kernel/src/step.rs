//! Primitive steps: what the message path consists of, for machines that account for it.
//!
//! A port that does nothing with a step costs nothing: [`Port::step`](crate::port::Port::step) is
//! then empty and vanishes. The simulation charges time for each step, and a kernel image built to
//! keep a log of them writes them down, so that the two can be compared.

use locks::Handoff;

/// Which queue of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Threads that can run.
    Ready,
    /// Threads blocked at an endpoint or notification.
    Waiting,
}

/// A primitive step. Threads are given by their index in the pool; 0 is the idle thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The kernel was entered; a fast path that does not apply is an entry of its own.
    Enter,
    /// A half of a message named a capability, which was looked up and checked.
    Resolve,
    /// A search for the highest thread that can run begins: one or more [`Step::LookUp`].
    Search,
    /// The first thread of the highest level of the ready queue was looked up.
    LookUp,
    /// A thread joined a queue.
    Link(Queue, u32),
    /// A thread left a queue.
    Unlink(Queue, u32),
    /// A queued thread was looked at in a scan for the highest.
    Scan,
    /// Two queued threads were compared.
    Compare,
    /// Two heaps of queued threads became one.
    Meld,
    /// The message buffers of both sides were reached.
    Buffers,
    /// So many words of a message were copied from buffer to buffer.
    Copy(u32),
    /// A message with this descriptor reached a thread.
    Message(u32, u64),
    /// A system call that brought no message ended with this status.
    Status(u64),
    /// The CPU went over to a thread.
    Switch(u32),
    /// A ready thread blocked or was stopped.
    Block(u32),
    /// A look-up met a thread that cannot run, which leaves the ready queue next.
    Purge,
    /// A thread joined a queue of senders, which has this length now.
    Queued(u32),
    /// The kernel's lock was taken. Only with several CPUs.
    Lock(Handoff),
}

impl Step {
    /// How many kinds there are.
    pub const KINDS: usize = 20;

    /// The number of its kind, below [`Step::KINDS`].
    #[inline(always)]
    pub const fn kind(self) -> usize {
        match self {
            Step::Resolve => 0,
            Step::LookUp => 1,
            Step::Link(Queue::Ready, _) => 2,
            Step::Link(Queue::Waiting, _) => 3,
            Step::Unlink(Queue::Ready, _) => 4,
            Step::Unlink(Queue::Waiting, _) => 5,
            Step::Lock(_) => 6,
            Step::Scan => 7,
            Step::Compare => 8,
            Step::Meld => 9,
            Step::Copy(_) => 10,
            Step::Message(..) => 11,
            Step::Status(_) => 12,
            Step::Switch(_) => 13,
            Step::Buffers => 14,
            Step::Block(_) => 15,
            Step::Purge => 16,
            Step::Queued(_) => 17,
            Step::Search => 18,
            Step::Enter => 19,
        }
    }

    /// Whether it is part of another event, or only says something about one.
    #[inline(always)]
    pub const fn is_remark(self) -> bool {
        matches!(
            self,
            Step::Enter
                | Step::Resolve
                | Step::Search
                | Step::Copy(_)
                | Step::Block(_)
                | Step::Purge
                | Step::Queued(_)
                | Step::Lock(_)
        )
    }

    /// The step as a word: kind, thread, and the low half of what else it carries. Never 0.
    pub const fn word(self) -> u64 {
        let (thread, rest) = match self {
            Step::Resolve | Step::LookUp | Step::Scan | Step::Compare | Step::Meld => (0, 0),
            Step::Buffers | Step::Purge | Step::Search | Step::Enter => (0, 0),
            Step::Block(thread) => (thread, 0),
            Step::Queued(length) => (0, length as u64),
            Step::Link(_, thread) | Step::Unlink(_, thread) => (thread, 0),
            Step::Switch(thread) => (thread, 0),
            Step::Copy(words) => (0, words as u64),
            Step::Message(thread, info) => (thread, info),
            Step::Status(status) => (0, status),
            Step::Lock(handoff) => (0, handoff.waited() as u64),
        };
        let kind = self.kind() as u64 + 1;
        kind << 56 | (thread as u64 & 0xffff) << 32 | rest & 0xffff_ffff
    }
}
