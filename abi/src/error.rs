//! Errors of system calls.

/// Why a system call did not do what was asked. Nothing has changed when a call returns an
/// error, with two exceptions: [`Status::in_receive`] says that the send half of a combined
/// operation was done and its receive half failed; and a mapping that met a page in use is undone,
/// but page tables that it needed stay with the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Error {
    /// No system call has this number.
    UnknownCall = 1,
    /// An argument is out of its range.
    InvalidArgument = 2,
    /// The slot is empty, or outside the domain's capability table.
    NoCapability = 3,
    /// The capability names an object of another kind.
    WrongKind = 4,
    /// The object was destroyed or the capability revoked since it was handed out.
    Stale = 5,
    /// The capability lacks a right that the operation needs.
    MissingRight = 6,
    /// The destination slot holds a capability already.
    SlotOccupied = 7,
    /// The domain's quota of this kind of object is used up.
    QuotaExceeded = 8,
    /// Every slot of the pool is in use.
    PoolExhausted = 9,
    /// The deadline passed, or the operation would have blocked with timeout zero.
    Timeout = 10,
    /// The object that the thread was waiting on, or its partner, was destroyed.
    Destroyed = 11,
    /// Another thread cancelled the operation.
    Cancelled = 12,
    /// The thread holds no reply right.
    NoReply = 13,
    /// The operation needs a message buffer and the thread has none.
    NoBuffer = 14,
    /// The message is longer than [`crate::message::MAX_WORDS`].
    TooLong = 15,
    /// The receiver named no free slot for the capability that the message carries.
    NotTaken = 16,
    /// Part of the address range is mapped already.
    AddressInUse = 17,
    /// The address is not aligned or not in user space, or nothing that the caller may write is
    /// there.
    BadAddress = 18,
    /// The priority is above the domain's maximum.
    PriorityTooHigh = 19,
    /// The object is in the wrong state for the operation.
    WrongState = 20,
    /// A mapping may be writable or executable, not both.
    WriteExecute = 21,
    /// One operation would send to the endpoint that it receives from.
    SelfSend = 22,
    /// The callee dropped the caller's reply right without answering.
    Abandoned = 23,
    /// The domain's threads may not use this CPU.
    CpuNotAllowed = 24,
    /// The class would promise more CPU time than it has.
    Overcommitted = 25,
    /// The scheduling tree would have too many levels, or the caller has entered as many domains as
    /// a thread can.
    TooDeep = 26,
    /// The word is not what the caller has seen: another thread has changed it meanwhile.
    Changed = 27,
    /// The second word of a mutex or condition is not the id of a thread that heads its queue.
    BrokenQueue = 28,
    /// The threads that wait for the condition name another mutex.
    OtherMutex = 29,
    /// The code that the caller has entered by a train has faulted.
    Faulted = 30,
    /// The thread helps the condition already.
    HelpsAlready = 31,
    /// The thread does not help the condition.
    NoHelper = 32,
    /// The condition has as many helpers as it may have.
    TooManyHelpers = 33,
    /// The class is the reservation itself, or is inside it.
    Cycle = 34,
    /// The thread owns the mutex already.
    AlreadyOwner = 35,
    /// The mutex is one of another domain, in memory that both have: it is of one domain alone.
    OtherDomain = 36,
    /// The thread would wait for itself: the owner of the mutex waits for it, also through others.
    Deadlock = 37,
    /// The thread has a reservation of its own, where a ceiling has no effect.
    OnReservation = 38,
    /// The budget is below [`LEAST_BUDGET`](crate::reservation::LEAST_BUDGET): the switches to the
    /// reservation and away from it would use it up.
    BudgetTooSmall = 39,
}

impl Error {
    /// All errors, in the order of their codes.
    pub const ALL: [Error; 39] = [
        Error::UnknownCall,
        Error::InvalidArgument,
        Error::NoCapability,
        Error::WrongKind,
        Error::Stale,
        Error::MissingRight,
        Error::SlotOccupied,
        Error::QuotaExceeded,
        Error::PoolExhausted,
        Error::Timeout,
        Error::Destroyed,
        Error::Cancelled,
        Error::NoReply,
        Error::NoBuffer,
        Error::TooLong,
        Error::NotTaken,
        Error::AddressInUse,
        Error::BadAddress,
        Error::PriorityTooHigh,
        Error::WrongState,
        Error::WriteExecute,
        Error::SelfSend,
        Error::Abandoned,
        Error::CpuNotAllowed,
        Error::Overcommitted,
        Error::TooDeep,
        Error::Changed,
        Error::BrokenQueue,
        Error::OtherMutex,
        Error::Faulted,
        Error::HelpsAlready,
        Error::NoHelper,
        Error::TooManyHelpers,
        Error::Cycle,
        Error::AlreadyOwner,
        Error::OtherDomain,
        Error::Deadlock,
        Error::OnReservation,
        Error::BudgetTooSmall,
    ];

    /// The error with this code.
    pub fn from_code(code: u8) -> Option<Error> {
        Error::ALL.get((code as usize).wrapping_sub(1)).copied()
    }
}

/// The first result of every system call: zero, or an [`Error`] code and in which half of an
/// IPC operation it arose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u64);

impl Status {
    /// The call succeeded.
    pub const OK: Status = Status(0);
    /// Set if the receive half failed.
    pub const RECEIVE: u64 = 1 << 8;

    /// The status of a failed call, or of a failed send half.
    pub fn failed(error: Error) -> Status {
        Status(error as u64)
    }

    /// The status of an operation whose receive half failed after its send half was done.
    pub fn failed_in_receive(error: Error) -> Status {
        Status(error as u64 | Status::RECEIVE)
    }

    /// Whether the receive half failed (the send half, if any, was done).
    pub fn in_receive(self) -> bool {
        self.0 & Status::RECEIVE != 0
    }

    /// The status as a result.
    pub fn result(self) -> Result<(), Error> {
        if self.0 == 0 {
            return Ok(());
        }
        Err(Error::from_code(self.0 as u8).unwrap_or(Error::UnknownCall))
    }
}
