//! Primitive steps: what the message path consists of, for machines that account for it.
//!
//! A port that does nothing with a step costs nothing: [`Port::cost`](crate::port::Port::cost) is
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
pub enum CostEvent {
    /// The kernel was entered; a fast path that does not apply is an entry of its own.
    Enter,
    /// A half of a message named a capability, which was looked up and checked.
    Resolve,
    /// A search for the highest thread that can run begins: one or more [`CostEvent::LookUp`].
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
    LazyDequeue,
    /// A thread joined a queue of senders, which has this length now.
    Queued(u32),
    /// The kernel's lock was taken. Only with several CPUs.
    Lock(Handoff),
}

impl CostEvent {
    /// How many kinds there are.
    pub const KINDS: usize = 20;

    /// The number of its kind, below [`CostEvent::KINDS`].
    #[inline(always)]
    pub const fn kind(self) -> usize {
        match self {
            CostEvent::Resolve => 0,
            CostEvent::LookUp => 1,
            CostEvent::Link(Queue::Ready, _) => 2,
            CostEvent::Link(Queue::Waiting, _) => 3,
            CostEvent::Unlink(Queue::Ready, _) => 4,
            CostEvent::Unlink(Queue::Waiting, _) => 5,
            CostEvent::Lock(_) => 6,
            CostEvent::Scan => 7,
            CostEvent::Compare => 8,
            CostEvent::Meld => 9,
            CostEvent::Copy(_) => 10,
            CostEvent::Message(..) => 11,
            CostEvent::Status(_) => 12,
            CostEvent::Switch(_) => 13,
            CostEvent::Buffers => 14,
            CostEvent::Block(_) => 15,
            CostEvent::LazyDequeue => 16,
            CostEvent::Queued(_) => 17,
            CostEvent::Search => 18,
            CostEvent::Enter => 19,
        }
    }

    /// Whether it is part of another event, or only says something about one.
    #[inline(always)]
    pub const fn is_remark(self) -> bool {
        matches!(
            self,
            CostEvent::Enter
                | CostEvent::Resolve
                | CostEvent::Search
                | CostEvent::Copy(_)
                | CostEvent::Block(_)
                | CostEvent::LazyDequeue
                | CostEvent::Queued(_)
                | CostEvent::Lock(_)
        )
    }

    /// The step as a word: kind, thread, and the low half of what else it carries. Never 0.
    pub const fn word(self) -> u64 {
        let (thread, rest) = match self {
            CostEvent::Resolve
            | CostEvent::LookUp
            | CostEvent::Scan
            | CostEvent::Compare
            | CostEvent::Meld => (0, 0),
            CostEvent::Buffers | CostEvent::LazyDequeue | CostEvent::Search | CostEvent::Enter => {
                (0, 0)
            }
            CostEvent::Block(thread) => (thread, 0),
            CostEvent::Queued(length) => (0, length as u64),
            CostEvent::Link(_, thread) | CostEvent::Unlink(_, thread) => (thread, 0),
            CostEvent::Switch(thread) => (thread, 0),
            CostEvent::Copy(words) => (0, words as u64),
            CostEvent::Message(thread, info) => (thread, info),
            CostEvent::Status(status) => (0, status),
            CostEvent::Lock(handoff) => (0, handoff.waited() as u64),
        };
        let kind = self.kind() as u64 + 1;
        kind << 56 | (thread as u64 & 0xffff) << 32 | rest & 0xffff_ffff
    }
}
