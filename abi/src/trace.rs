//! The trace: what the kernel writes down while it works, in a memory object that programs may map
//! to read and the host reads after the run (S2C-10).
//!
//! A trace is a header of [`HEADER_WORDS`] 64-bit words, one page, then records of
//! [`RECORD_WORDS`] words. Record `n` lies at place `n` modulo the capacity. The kernel counts
//! every event that it wanted to write; with [`Keep::First`] those past the capacity are lost, with
//! [`Keep::Last`] the oldest are overwritten, so that either way the number of lost records is the
//! count less the capacity. A reader has no state in the kernel: it remembers how far it has read.
//!
//! With several CPUs each has a trace of its own, and these divide the memory evenly: they lie one
//! behind the other in the order of the CPUs, and the header of each says how many there are.

use crate::PAGE;

/// First word of a trace.
pub const MAGIC: u64 = u64::from_le_bytes(*b"GIUSTOT1");

/// Words in the header: one page, so that no record straddles a page.
pub const HEADER_WORDS: usize = (PAGE / 8) as usize;
/// Words in a record.
pub const RECORD_WORDS: usize = 2;
/// Records in a page.
pub const PAGE_RECORDS: usize = HEADER_WORDS / RECORD_WORDS;

/// Header word with [`MAGIC`].
pub const WORD_MAGIC: usize = 0;
/// Header words with the kernel's name, as [`Fact::KernelName`](crate::call::Fact) returns it.
pub const WORD_KERNEL: usize = 1;
/// Header word with the number of records that there is room for.
pub const WORD_CAPACITY: usize = 3;
/// Header word with the number of events since the trace was begun, kept or not.
pub const WORD_EVENTS: usize = 4;
/// Header word with the frequency in Hz of the counter that stamps records.
pub const WORD_HZ: usize = 5;
/// Header word with the counter's value at the instant 0, when boot began to count time.
pub const WORD_START: usize = 6;
/// Header word with the number of the CPU.
pub const WORD_CPU: usize = 7;
/// Header word with a [`Keep`].
pub const WORD_KEEP: usize = 8;
/// Header word with the counter steps that writing one record takes, as measured at boot.
pub const WORD_COST: usize = 9;
/// Header word with the number of CPUs, and so of traces in the memory.
pub const WORD_CPUS: usize = 10;
/// Header word with the counter steps that a record takes beyond [`WORD_COST`] when it fills a
/// page, since the kernel then turns to the next one; as measured at boot.
pub const WORD_TURN: usize = 11;

/// What becomes of events when there is no room left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Keep {
    /// The first records stay, later ones are lost.
    First = 0,
    /// The last records stay, the oldest are overwritten.
    Last = 1,
}

/// No thread, where a record names one; also the idle thread has this place taken by 0.
pub const NO_THREAD: u16 = u16::MAX;

/// No CPU, where a record names one.
const NO_CPU: u16 = 0xff;

/// A kind of event. What `thread`, `argument` and `extra` of its record are stands with each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Event {
    /// The kernel was entered from `thread`; `argument` is an [`entry`] code.
    Enter = 0,
    /// The kernel is left for `thread`.
    Exit = 1,
    /// The CPU goes over to `thread` of priority `extra` from thread `argument`.
    Switch = 2,
    /// A message of `extra` words goes from `thread` to thread `argument`.
    Message = 3,
    /// `thread` blocks; `extra` is the [`ThreadState`](crate::call::ThreadState) that it is in now.
    Block = 4,
    /// `thread` became ready.
    Wake = 5,
    /// `thread` joined the queue of senders of endpoint `argument`, now `extra` long.
    Queue = 6,
    /// `thread` joined the ready queue of CPU `argument`, now `extra` long.
    Insert = 7,
    /// `thread` left the ready queue of CPU `argument`, now `extra` long.
    Remove = 8,
    /// A look-up for the highest thread found `thread`, and dropped `argument` on the way.
    LookUp = 9,
    /// A look-up meets threads that have blocked, the first of them `thread`, and drops them
    /// (S0-10).
    LazyDequeue = 10,
    /// `thread` runs on the time of thread `argument`, which is higher and ready, or waits for it
    /// (S0-09).
    Donate = 11,
    /// A deadline of `thread`, or of a timer ([`NO_THREAD`]), passed `argument` ns ago.
    Expire = 12,
    /// Signals reached `thread`, or no thread waited ([`NO_THREAD`]); notification `argument`.
    Signal = 13,
    /// `thread` faulted; `argument` is the kind.
    Fault = 14,
    /// A [`point`] of long work was reached, with an interrupt waiting if `extra` is 1.
    Preempt = 15,
    /// The receive half of `thread` runs in a chain of transfers (S0-41).
    Chain = 16,
    /// The scheduling tick begins its work.
    Tick = 17,
    /// `thread` now exists, in domain `argument`, with priority `extra`.
    Thread = 18,
    /// `thread` has priority `extra` now.
    Priority = 19,
    /// A program's remark: its `argument`.
    Mark = 20,
    /// A program read the counter, whose low half is `argument`, right before it called.
    UserBefore = 21,
    /// A program read the counter, whose low half is `argument`, right after its call returned.
    UserAfter = 22,
    /// The timer was asked for an interrupt in `argument` ns.
    Arm = 23,
    /// This CPU is about to interrupt CPU `argument`.
    Ipi = 24,
    /// This CPU has the kernel's lock, for which it waited `argument` counter steps, or does
    /// without; `extra` is the [`Way`] and who had it before. Comes before the entry that it is
    /// for.
    Lock = 25,
    /// This CPU is about to release the kernel's lock, or to commit.
    Unlock = 26,
    /// Before the section that has ended, this CPU was undone `argument` times; `extra` says why
    /// ([`Undone`]). Written behind the section.
    Undone = 27,
    /// `thread` has made domain `argument`, inside the manifest's domain `extra`.
    Domain = 28,
    /// Part of a new name of `thread`, or of the domain with this index: `argument` is four bytes
    /// of it, `extra` says which ([`name_part`]). Parts that are all zero are left out, but for
    /// the first.
    Name = 29,
    /// A system call of `thread` fails with the [`Error`](crate::Error) `argument`, in its receive
    /// half if `extra` is 1. A wait that ends at its deadline and a poll that finds nothing are no
    /// failures.
    Fail = 30,
    /// `thread` is about to wait for a mutex or condition; `argument` is the low half of its
    /// address, in whose lowest bits is what it is ([`Awaited`]), and `extra` the thread that owns
    /// it or helps it, or [`NO_THREAD`] if that is not known. A condition with several helpers has
    /// a record for each.
    Wait = 31,
    /// `thread` has destroyed an object of the [`Kind`](crate::object::Kind) `argument`.
    Destroy = 32,
    /// `thread`, or the domain with this index if `extra` is 1, runs on the reservation with index
    /// `argument` from now on: 0 is that of its domain, or of the domain's owner.
    Reserve = 33,
}

impl Event {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Event; 34] = [
        Event::Enter,
        Event::Exit,
        Event::Switch,
        Event::Message,
        Event::Block,
        Event::Wake,
        Event::Queue,
        Event::Insert,
        Event::Remove,
        Event::LookUp,
        Event::LazyDequeue,
        Event::Donate,
        Event::Expire,
        Event::Signal,
        Event::Fault,
        Event::Preempt,
        Event::Chain,
        Event::Tick,
        Event::Thread,
        Event::Priority,
        Event::Mark,
        Event::UserBefore,
        Event::UserAfter,
        Event::Arm,
        Event::Ipi,
        Event::Lock,
        Event::Unlock,
        Event::Undone,
        Event::Domain,
        Event::Name,
        Event::Fail,
        Event::Wait,
        Event::Destroy,
        Event::Reserve,
    ];

    /// The kind with this number.
    pub fn from_number(number: u8) -> Option<Event> {
        Event::ALL.get(number as usize).copied()
    }

    /// Its bit in a mask of events.
    pub const fn bit(self) -> u64 {
        1 << self as u8
    }

    /// The mask of all kinds.
    pub const EVERY: u64 = (1 << Event::ALL.len()) - 1;
}

/// What a thread waits for, in a record of [`Event::Wait`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Awaited {
    /// A mutex whose owner inherits nothing.
    Mutex = 0,
    /// A condition without helpers.
    Condition = 1,
    /// A mutex whose owner inherits.
    InheritMutex = 2,
    /// A condition whose helpers inherit.
    InheritCondition = 3,
}

impl Awaited {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Awaited; 4] =
        [Awaited::Mutex, Awaited::Condition, Awaited::InheritMutex, Awaited::InheritCondition];
    /// The bits of an address that say which kind lies there: words are aligned to 8 bytes.
    const BITS: u32 = 7;

    /// Something of this kind at an address, as records name it.
    pub const fn at(self, address: u64) -> u32 {
        address as u32 & !Awaited::BITS | self as u32
    }

    /// What lies there, and the low half of its address.
    pub fn of(argument: u32) -> Option<(Awaited, u32)> {
        let kind = Awaited::ALL.get((argument & Awaited::BITS) as usize);
        kind.map(|kind| (*kind, argument & !Awaited::BITS))
    }
}

/// How a section has the kernel's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Way {
    /// It has the lock, and no other CPU is inside.
    Alone = 0,
    /// It shares the lock with others of its kind, and locks single objects.
    Reader = 1,
    /// It does without, as a transaction.
    Transaction = 2,
    /// It has the lock alone, since its transactions were undone or the processor has none.
    FallBack = 3,
}

impl Way {
    /// All ways, in the order of their numbers.
    pub const ALL: [Way; 4] = [Way::Alone, Way::Reader, Way::Transaction, Way::FallBack];

    /// What it is called in text.
    pub const fn name(self) -> &'static str {
        match self {
            Way::Alone => "alone",
            Way::Reader => "reader",
            Way::Transaction => "transaction",
            Way::FallBack => "fall-back",
        }
    }

    /// As [`Event::Lock`] has it, with the CPU that had the lock before, if one is known.
    #[inline(always)]
    pub const fn extra(self, before: Option<u8>) -> u16 {
        let before = match before {
            Some(cpu) => cpu as u16,
            None => NO_CPU,
        };
        (self as u16) << 8 | before
    }

    /// What [`Way::extra`] has put together.
    pub const fn of(extra: u16) -> (Way, Option<u8>) {
        let before = extra & 0xff;
        let before = if before == NO_CPU { None } else { Some(before as u8) };
        (Way::ALL[(extra >> 8 & 3) as usize], before)
    }
}

/// Why a transaction was undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Undone {
    /// Another CPU touched what it had touched.
    Conflict = 0,
    /// It touched more than the processor follows.
    Capacity = 1,
    /// The lock was held.
    LockHeld = 2,
    /// The processor gives no reason.
    Unexplained = 3,
    /// Another reason.
    Other = 4,
}

impl Undone {
    /// All causes, in the order of their numbers.
    pub const ALL: [Undone; 5] =
        [Undone::Conflict, Undone::Capacity, Undone::LockHeld, Undone::Unexplained, Undone::Other];

    /// What it is called in text.
    pub const fn name(self) -> &'static str {
        match self {
            Undone::Conflict => "conflict",
            Undone::Capacity => "capacity",
            Undone::LockHeld => "lock held",
            Undone::Unexplained => "unexplained",
            Undone::Other => "other",
        }
    }
}

/// Codes of ways into the kernel.
pub mod entry {
    /// Up to here: a system call with this number.
    pub const LAST_CALL: u32 = 0xff;
    /// The timer interrupt.
    pub const TIMER: u32 = 0x100;
    /// An interrupt for nothing that concerns the core.
    pub const SPURIOUS: u32 = 0x101;
    /// A fault.
    pub const FAULT: u32 = 0x102;
    /// An interrupt by another CPU.
    pub const IPI: u32 = 0x103;
    /// From here on: the interrupt of the device IRQ of this code less this.
    pub const IRQ_0: u32 = 0x200;
}

/// Codes of places at which long work makes room for interrupts.
pub mod point {
    /// A look-up that drops blocked threads.
    pub const LAZY_DEQUEUE: u32 = 0;
    /// A chain of transfers.
    pub const CHAIN: u32 = 1;
    /// Long work of a system call, such as destruction, which the thread issues again.
    pub const CALL: u32 = 2;
    /// A receiver that cannot take one sender's message after another, or is to take a long one.
    pub const RECEIVE: u32 = 3;
    /// The timer's interrupt has served a deadline; more of them, or the tick, come next.
    pub const EXPIRY: u32 = 4;
    /// A section whose thread cannot go on is to choose another one.
    pub const DECISION: u32 = 5;
    /// The send half is done, and a receive half comes next; one of them takes long.
    pub const HALVES: u32 = 6;
}

/// The bytes of a name in one [`Event::Name`].
pub const NAME_PART: usize = 4;

/// The extra word of an [`Event::Name`]: the how manieth [`NAME_PART`] it is, of the name of a
/// domain or of a thread.
pub const fn name_part(part: u16, of_domain: bool) -> u16 {
    part | (of_domain as u16) << 8
}

/// What [`name_part`] has put together.
pub const fn part_of_name(extra: u16) -> (u16, bool) {
    (extra & 0xff, extra >> 8 != 0)
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The low 48 bits of the counter.
    pub time: u64,
    /// The thread that it is about: its index, the idle thread's is 0.
    pub thread: u16,
    /// What else it says, by kind.
    pub argument: u32,
    /// More of it.
    pub extra: u16,
    /// What happened.
    pub event: Event,
    /// On which CPU.
    pub cpu: u8,
}

impl Record {
    /// The record as two words.
    #[inline(always)]
    pub const fn words(self) -> [u64; RECORD_WORDS] {
        [
            self.time << 16 | self.thread as u64,
            (self.argument as u64) << 32
                | (self.extra as u64) << 16
                | (self.event as u64) << 8
                | self.cpu as u64,
        ]
    }

    /// The record in two words; `None`: no event has this number.
    pub fn from_words([first, second]: [u64; RECORD_WORDS]) -> Option<Record> {
        Some(Record {
            time: first >> 16,
            thread: first as u16,
            argument: (second >> 32) as u32,
            extra: (second >> 16) as u16,
            event: Event::from_number((second >> 8) as u8)?,
            cpu: second as u8,
        })
    }
}
