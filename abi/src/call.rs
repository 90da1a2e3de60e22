//! System calls.
//!
//! A call passes a number word, six arguments `a0..a5` and four message words `w0..w3`, and
//! returns a [`Status`](crate::Status), a badge (or first result), an [`Info`](crate::Info) (or
//! second result) and four message words. All other registers but the stack pointer are lost.
//!
//! All four words travel with every message, whatever its length: a program that must not tell
//! what it had in them clears them first. Slots are 32 bits wide; calls on the message path
//! ignore the upper half of a slot argument.

/// Set by the kernel in the number word of a call that was interrupted and is issued again, and
/// seen by a program whose thread is moved elsewhere in the middle of one. A program that sets it
/// gets what the rest of such a call of its own brings.
pub const RESTARTED: u64 = 1 << 63;

/// A system call. The low byte of the number word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Call {
    /// The IPC primitive. `a0`: send slot, and receive slot shifted left by 32
    /// ([`NOTHING`] or [`REPLY`] where a half is missing or is the reply right);
    /// `a1`: message; `a2`: deadline. Timeouts are in the number word.
    Ipc = 0,
    /// `Ipc` with send slot `a0`, then receive the reply; no timeout.
    Call = 1,
    /// `Ipc` that replies, then receives on slot `a0`; no timeout.
    ReplyWait = 2,
    /// Signals the notification in slot `a0` with the capability's badge, or bit 0 if it has none.
    Signal = 3,
    /// Gives the rest of the tick to the thread in slot `a0`, or with 0 to the next thread of
    /// the same priority (S0-29).
    Yield = 4,
    /// Does nothing: the cost of entering and leaving the kernel.
    Null = 5,
    /// Nanoseconds since boot (result 0).
    Clock = 6,
    /// A fact about the kernel: `a0` is a [`Fact`], `a1` an index.
    Fact = 7,

    /// Copies slot `a0` to the empty slot `a1` with at most the rights `a2`. `a3`, if not zero,
    /// becomes the badge of a copy of an unbadged endpoint or notification capability.
    CapCopy = 16,
    /// Empties slot `a0`.
    CapDelete = 17,
    /// Makes every other capability to the object in slot `a0` stale. Operations that have begun
    /// and ties that the kernel keeps (fault handlers, targets of timers and interrupts, attached
    /// notifications) stay.
    CapRevoke = 18,
    /// Moves the reply right that the thread holds to the empty slot `a0`.
    CapSaveReply = 19,
    /// What slot `a0` holds: kind and rights (result 0), badge (result 1).
    CapInspect = 20,
    /// Destroys the object in slot `a0` and empties the slot. Other capabilities to it become
    /// stale and keep their slots until they are deleted. An object whose last capability is
    /// deleted stays, and stays charged, until the domain that owns it ends.
    Destroy = 21,

    /// Creates an endpoint in slot `a0`, with the notification in slot `a1` (or 0) attached:
    /// receiving on the endpoint also receives its signals. A notification is attached to at
    /// most one endpoint.
    EndpointCreate = 24,
    /// Creates a notification in slot `a0`.
    NotificationCreate = 25,
    /// Creates a timer in slot `a0` that signals the notification in slot `a1`.
    TimerCreate = 26,
    /// Arms the timer in slot `a0` for the instant `a1`; 0 disarms it.
    TimerSet = 27,
    /// Unmasks the interrupt in slot `a0` again after it was delivered.
    InterruptAck = 28,
    /// Lets the interrupt in slot `a0` come to CPU `a1` from now on, which the caller's domain may
    /// use.
    InterruptRoute = 29,

    /// Creates a memory object of `a1` pages in slot `a0`.
    MemoryCreate = 32,
    /// Maps `a3` pages from page `a4` of the memory in slot `a1` into the domain in slot `a0`
    /// (0: the caller's) at address `a2`, and puts the mapping into the slot in `a5`'s low half;
    /// the rights are in its high half.
    Map = 33,
    /// Changes the rights of the mapping in slot `a0` to `a1`.
    Protect = 34,
    /// Where the memory in slot `a0` lies: its physical address (result 0), and its bytes from
    /// there (result 1).
    MemoryAddress = 35,
    /// Reads `a2` bytes (1, 2 or 4) from the I/O port that is `a1` behind the first one of the
    /// memory in slot `a0`: the value (result 0).
    PortRead = 36,
    /// Writes the lowest `a2` bytes (1, 2 or 4) of `a3` to the I/O port that is `a1` behind the
    /// first one of the memory in slot `a0`.
    PortWrite = 37,

    /// Creates a domain in slot `a0` with `a1` capability slots (at most 64, unless the pool slot
    /// is one that a boot domain with a larger table has left) and maximum priority `a2`; its
    /// threads may use the CPUs in `a3` (a bit each, all among the creator's own; 0: those);
    /// `w0..w3` hold its quotas as 16-bit numbers in the order of
    /// [`Resource`](crate::object::Resource), taken from the caller's.
    DomainCreate = 40,
    /// Copies the caller's slot `a1` into slot `a2` of the domain in slot `a0`, with at most the
    /// rights `a3`.
    DomainGrant = 41,
    /// Creates a suspended thread in slot `a0`, in the domain of slot `a1` (0: the caller's) with
    /// priority `a2` and its message buffer at address `a3` (0: no buffer). `a4` is the slot of
    /// its fault handler's endpoint, or 0. It belongs to the caller's CPU if the domain may use
    /// that, else to the first that the domain may use.
    ThreadCreate = 42,
    /// Sets and reads registers of the suspended thread in slot `a0`: instruction pointer `a1`,
    /// stack pointer `a2`, first argument `a3`, thread pointer `a4`; `a5` is a mask of
    /// [`exchange`] bits. Returns the old instruction and stack pointer.
    ThreadExchange = 43,
    /// Lets the thread in slot `a0` run.
    ThreadResume = 44,
    /// Stops the thread in slot `a0`; an IPC operation that it is blocked in goes on.
    ThreadSuspend = 45,
    /// Sets the priority of the thread in slot `a0` to `a1`.
    ThreadPriority = 46,
    /// The state of the thread in slot `a0`; its own priority, and in the high half the id that it
    /// has in [futexes](crate::futex) of the domain that it is in, if that is the caller's, else 0.
    ThreadInspect = 47,
    /// Makes the thread in slot `a0` run on CPU `a1` from now on, which its domain and the caller's
    /// may use.
    ThreadMigrate = 48,

    /// Creates a reservation in slot `a0`, in the class in slot `a1`: a class with the
    /// [policy](crate::reservation::Policy) `a2`, or with 0 a leaf. Code and words of its
    /// [share](crate::reservation::Share) are in `a3` and `w0..w3`. Of the calls from here on a
    /// kernel without a scheduling tree knows none.
    ReservationCreate = 49,
    /// Changes the reservation in slot `a0`: `a1` is a [`Setting`], `a2` the code and `w0..w3` the
    /// words of its value.
    ReservationSet = 50,
    /// Moves the reservation in slot `a0` into the class in slot `a1`, of the same CPU, where code
    /// and words of its share are in `a2` and `w0..w3`.
    ReservationJoin = 51,
    /// Lets the thread in slot `a0` run on the leaf in slot `a1`, or with 0 on the one of its
    /// domain; or slot `a0` holds a domain without threads, and its threads will do so, and domains
    /// that it creates from now on.
    Reserve = 52,
    /// What the reservation in slot `a0` has had: CPU time (result 0), how often its budget was
    /// exhausted (result 1, its node in the high half); of a leaf's jobs how many have ended and
    /// how many of these too late, the longest time from release to end, and from deadline to end.
    /// With `a1` 1 of a leaf's job that is released, or the last one: its number, whether it has
    /// ended, how long it takes, how much of that behind its deadline. With
    /// [`UNSERVED`](crate::reservation::UNSERVED) what was left of a periodic server's budgets when
    /// their periods ended, in nanoseconds, while something inside was ready.
    ReservationInspect = 53,

    /// Names the thread or domain in slot `a0`, for people: `a1` and `a2` are the name, which
    /// [`is_name`](crate::boot::is_name) must admit; zeros take the old one away. Domains of the
    /// manifest keep theirs.
    Name = 54,

    /// Writes the low `a1` bytes of `w0..w3` (at most 32) to the console in slot `a0`, or nothing
    /// and fails with [`Error::Timeout`](crate::Error::Timeout): 8 writes of the domain wait.
    ConsoleWrite = 56,
    /// Reads one byte from the console in slot `a0` (result 0), or fails with
    /// [`Error::Timeout`](crate::Error::Timeout) if there is none.
    ConsoleRead = 57,
    /// Ends the run with the exit status in the low half of `a1`; slot `a0` holds the system
    /// capability. With [`PANIC_STATUS`](crate::message::PANIC_STATUS) the console is told of a
    /// panic, whose place is in the high half, as [`PANIC`](crate::message::PANIC) says.
    Shutdown = 58,
    /// Statistics: slot `a0` holds the system capability, `a1` is a [`Table`], `a2` an index.
    /// The results are words.
    Inspect = 59,
    /// Steers statistics and trace: slot `a0` holds the system capability, `a1` is an
    /// [`Observe`], `a2` its value. A kernel that was built without what is asked for does not
    /// know the call.
    Observe = 60,

    /// Waits for the [mutex](crate::futex) at address `a0`, whose first word is `a1`; `a2`:
    /// deadline. The number word says [how long](crate::futex::number) and in which scope. With
    /// success the caller owns the mutex.
    MutexWait = 64,
    /// Hands the mutex at address `a0` to the first thread that waits for it. The number word says
    /// the scope.
    MutexWake = 65,
    /// Waits for a wake-up of the [condition](crate::futex) at address `a0`, whose first word is
    /// `a1`, and for the mutex at address `a2` behind that; `a3`: deadline. The number word is that
    /// of [`Call::MutexWait`]. With success the caller owns the mutex.
    CondWait = 66,
    /// Lets the first thread that waits for the condition at address `a0`, or all of them if `a1`
    /// is 1, wait for their mutex, which the caller owns. The number word says the scope. Result 0
    /// is 1 if there was one.
    CondRequeue = 67,
    /// Waits for the [inheriting mutex](crate::futex) at address `a0`, whose first word is `a1`;
    /// `a2`: deadline. The number word is that of [`Call::MutexWait`]. With success the caller owns
    /// the mutex; result 0 is [`OWNER_DIED`](crate::futex::OWNER_DIED) if its last owner has ended.
    InheritWait = 68,
    /// Hands the inheriting mutex at address `a0`, which the caller owns, to the waiting thread of
    /// the highest priority.
    InheritWake = 69,
    /// Waits for a wake-up of the [inheriting condition](crate::futex) at address `a0`, whose first
    /// word is `a1`, and for the inheriting mutex at address `a2` behind that; `a3`: deadline of
    /// the wake-up; `a4`, `a5`: ids of its [helpers](crate::futex::helpers) (S2G-02). The number
    /// word and the results are those of [`Call::InheritWait`].
    InheritCondWait = 70,
    /// Lets the thread of the highest priority that waits for the inheriting condition at address
    /// `a0`, or all of them if `a1` is 1, wait for their mutex, which the caller owns.
    InheritRequeue = 71,
    /// The thread with the id `a1` helps the inheriting condition at address `a0` from now on if
    /// `a2` is 1, with 0 no longer (S2G-02). The kernel knows the helpers of a condition while
    /// threads wait for it.
    InheritHelp = 72,
    /// Sets the calling thread's [ceiling](crate::futex::NO_CEILING) to `a0`: it runs with at least
    /// this priority until it sets another one. Result 0 is its own priority, without what it
    /// inherits. Not inside another domain, and none on a reservation, but one that is lower than
    /// before.
    Ceiling = 73,
    /// With `a1` = 1 the calling thread serves the endpoint in slot `a0` from now on, where it may
    /// receive; with 0 no longer. Threads that wait in the endpoint's queue of senders lend it
    /// their priorities, and each thread whose call it has received does so until it is answered
    /// (S2G-03). Not inside another domain. A kernel with a scheduling tree lends leaves so,
    /// if the manifest does not say otherwise.
    Serve = 74,

    /// Creates a [train](crate::train) in slot `a0` (S4-11): threads of other domains enter the
    /// caller's at address `a1`, with the word `a2`, on one of `a5` stacks (at most
    /// [`STACKS`](crate::train::STACKS)) of `a4` bytes each, the lowest of which begins at `a3`.
    TrainCreate = 128,
    /// Enters the domain of the train in slot `a0` with all message words, and goes on when
    /// [`Call::TrainReturn`] is called there. `a2`: deadline; the number word says
    /// [how long](crate::train::number) the caller waits for a stack.
    TrainCall = 129,
    /// Goes back to where the thread has entered this domain, with result 0 `a0` and all message
    /// words.
    TrainReturn = 130,
}

impl Call {
    /// All system calls, in the order of their numbers.
    pub const ALL: [Call; 60] = [
        Call::Ipc,
        Call::Call,
        Call::ReplyWait,
        Call::Signal,
        Call::Yield,
        Call::Null,
        Call::Clock,
        Call::Fact,
        Call::CapCopy,
        Call::CapDelete,
        Call::CapRevoke,
        Call::CapSaveReply,
        Call::CapInspect,
        Call::Destroy,
        Call::EndpointCreate,
        Call::NotificationCreate,
        Call::TimerCreate,
        Call::TimerSet,
        Call::InterruptAck,
        Call::InterruptRoute,
        Call::MemoryCreate,
        Call::Map,
        Call::Protect,
        Call::MemoryAddress,
        Call::PortRead,
        Call::PortWrite,
        Call::DomainCreate,
        Call::DomainGrant,
        Call::ThreadCreate,
        Call::ThreadExchange,
        Call::ThreadResume,
        Call::ThreadSuspend,
        Call::ThreadPriority,
        Call::ThreadInspect,
        Call::ThreadMigrate,
        Call::ReservationCreate,
        Call::ReservationSet,
        Call::ReservationJoin,
        Call::Reserve,
        Call::ReservationInspect,
        Call::Name,
        Call::ConsoleWrite,
        Call::ConsoleRead,
        Call::Shutdown,
        Call::Inspect,
        Call::Observe,
        Call::MutexWait,
        Call::MutexWake,
        Call::CondWait,
        Call::CondRequeue,
        Call::InheritWait,
        Call::InheritWake,
        Call::InheritCondWait,
        Call::InheritRequeue,
        Call::InheritHelp,
        Call::Ceiling,
        Call::Serve,
        Call::TrainCreate,
        Call::TrainCall,
        Call::TrainReturn,
    ];

    const TABLE: [Option<Call>; 131] = {
        let mut table = [None; 131];
        let mut i = 0;
        while i < Call::ALL.len() {
            table[Call::ALL[i] as usize] = Some(Call::ALL[i]);
            i += 1;
        }
        table
    };

    /// The part of [`Call::TABLE`] before the last calls.
    const FIRST: [Option<Call>; 64] = {
        let mut table = [None; 64];
        let mut i = 0;
        while i < table.len() {
            table[i] = Call::TABLE[i];
            i += 1;
        }
        table
    };

    /// The system call in a number word, if it is none of the last ones, on
    /// [mutexes and conditions](crate::futex) and [trains](crate::train).
    #[inline]
    pub fn of_management(number: u64) -> Option<Call> {
        Call::FIRST.get(number as u8 as usize).copied().flatten()
    }

    /// The system call in a number word, whose upper bits hold options.
    #[inline]
    pub fn from_number(number: u64) -> Option<Call> {
        Call::TABLE.get(number as u8 as usize).copied().flatten()
    }
}

/// Slot number of a missing half of an IPC operation.
pub const NOTHING: u32 = 0;

/// Slot number that stands for the reply right in the send half, and for the reply to this call
/// in the receive half.
pub const REPLY: u32 = u32::MAX;

/// How long one half of an IPC operation may block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Timeout {
    /// As long as it takes.
    Never = 0,
    /// Not at all.
    Zero = 1,
    /// Until the deadline argument, an instant in nanoseconds since boot.
    At = 2,
}

/// How far left the timeout of the send half stands in the number word.
pub const SEND_TIMEOUT_SHIFT: u32 = 8;
/// How far left that of the receive half stands.
pub const RECEIVE_TIMEOUT_SHIFT: u32 = 10;
/// How far left the receive slot stands in the slot argument of an IPC operation.
pub const RECEIVE_SLOT_SHIFT: u32 = 32;
/// How far left the rights stand in the last argument of [`Call::Map`].
pub const MAP_RIGHTS_SHIFT: u32 = 32;

/// The number word of an IPC operation with these timeouts of its send and receive halves.
pub const fn ipc(send: Timeout, receive: Timeout) -> u64 {
    let timeouts = (send as u64) << SEND_TIMEOUT_SHIFT | (receive as u64) << RECEIVE_TIMEOUT_SHIFT;
    Call::Ipc as u64 | timeouts
}

/// The slot argument of an IPC operation.
pub const fn partners(send: u32, receive: u32) -> u64 {
    send as u64 | (receive as u64) << RECEIVE_SLOT_SHIFT
}

/// Labels of the answer to a fault message.
pub mod fault {
    /// Execute the faulting instruction again.
    pub const RETRY: u32 = 0;
    /// Go on at the instruction pointer in word 0.
    pub const CONTINUE: u32 = 1;
    /// Suspend the thread.
    pub const SUSPEND: u32 = 2;
}

/// Ticks of a time slice that a thread does not come to the end of, to speak of: in a system with
/// it threads of one priority do not take turns.
pub const NO_SLICE: u32 = u32::MAX;

/// Facts that [`Call::Fact`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Fact {
    /// The name of the running kernel: 16 bytes of text, zero-padded, in both results.
    KernelName = 0,
    /// Frequency of the cycle counter that programs read, in Hz, and its value at the instant 0.
    CounterHz = 1,
    /// The scheduling tick and a thread's time slice, in nanoseconds; that is [`NO_SLICE`] ticks
    /// where threads do not take turns.
    Tick = 2,
    /// Bytes of kernel text, and instructions or cycles from kernel entry to the first user
    /// instruction.
    Kernel = 3,
    /// How many CPUs the kernel has, and which one the caller runs on.
    Cpus = 4,
    /// The caller's ids in [futexes](crate::futex) of its domain and of shared memory; in the
    /// first one's high half a number for the name of its domain, which one that is made again has
    /// again.
    Identity = 5,
}

/// Tables that [`Call::Inspect`] reads, one row an index; past the last row it fails with
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Table {
    /// Domain `a2`: results are 1 if it is alive and its maximum priority; `w0`, `w1` its name;
    /// `w2` its threads, and in the high half the index of the domain that it is in, its own for
    /// one of the manifest; `w3` slots in use and in all (high half).
    Domain = 0,
    /// Thread `a2`: results are its state (0 if it does not exist) in the low byte and above that
    /// what it waits for ([`Awaited::word`]), and its own priority with the
    /// one that it has now, lent or its own, in the high half; `w0` its domain's index; `w1` its
    /// instruction pointer; `w2` its stack pointer; `w3` is 0, or one more than the node of the
    /// reservation that it was given.
    Thread = 1,
    /// Resource `a2 >> 32` of domain `a2 & 0xffff_ffff`: used and quota.
    Quota = 2,
    /// Resource `a2` of the whole machine: in use and pool size.
    Pool = 3,
    /// Slot `a2 >> 32` of domain `a2 & 0xffff_ffff`: kind and rights, badge.
    Slot = 4,
    /// [`Counter`](crate::statistics::Counter) `a2 & 0xffff_ffff` of CPU `a2 >> 32`: its value.
    /// Fails as behind the last row if the kernel was built without statistics.
    Counter = 5,
    /// How often the ready queue of CPU `a2 >> 32` had the length `a2 & 0xffff_ffff`, below
    /// [`LENGTHS`](crate::statistics::LENGTHS).
    Length = 6,
    /// How long CPU `a2 >> 32` has run thread `a2 & 0xffff_ffff`, in steps of its counter, since
    /// the thread was created or the statistics were reset. Fails as behind the last row if the
    /// kernel was built without statistics, and from [`TIMED`](crate::statistics::TIMED) threads
    /// on.
    Time = 7,
    /// Block `a2 >> 32` of [`BLOCK_WORDS`] words of the address space of domain `a2 & 0xffff_ffff`:
    /// 1 if it is mapped, and how many of its words are zero before the first that is not.
    Block = 8,
    /// Reservation `a2`: results are 0 if it does not exist, else 1, its policy (0 for a leaf)
    /// shifted left by 8, whether it waits for budget by 16, the kind of its server by 24; and its
    /// node, with the node of its class in the high half (ones for a root). `w0` is the CPU time
    /// that it has had, `w1` how often its budget was exhausted, in the high half how many of its
    /// jobs were late; `w2` its budget, `w3` its period. A kernel without a scheduling tree has no
    /// row.
    Reservation = 9,
    /// Reservation `a2`: results are the code of its [share](crate::reservation::Share) and the
    /// jobs that have ended; `w0..w3` the words of the share.
    Share = 10,
    /// Thread `a2`: results are its name, which [`Call::Name`] gave it, or zeros.
    ThreadName = 11,
}

/// Words of a [`Table::Block`].
pub const BLOCK_WORDS: usize = 16;

/// What [`Call::ReservationSet`] changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Setting {
    /// Its [`Share`](crate::reservation::Share).
    Share = 0,
    /// Its limit: words of a [`Budget`](crate::reservation::Budget) or of none.
    Budget = 1,
    /// What its jobs are like: words of a [`Timing`](crate::reservation::Timing) or of none.
    Timing = 2,
    /// A class of time partitions has no windows any more; its frame begins at the instant `w0`.
    Frame = 3,
    /// It has one [window](crate::reservation::Window) more, behind the last: `w0` is its end, `w1`
    /// the partition.
    Window = 4,
    /// Signals the notification in slot `a2`, which the caller may send to, from now on; with 0
    /// none: the bits `w0` when a job of a leaf has not ended by its deadline, `w1` when its budget
    /// is used up. Zero bits stand for no signal.
    Monitor = 5,
    /// It runs on below everything else on its CPU: with `w0` 1 where its budget is used up, until
    /// it comes back; with `w1` 1 where a job has not ended by its deadline, until it ends.
    Background = 6,
}

/// What [`Call::Observe`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Observe {
    /// All counters of the statistics begin again.
    Reset = 0,
    /// The trace stops: what it holds stays.
    Freeze = 1,
    /// The trace goes on.
    Record = 2,
    /// The trace receives a [`Mark`](crate::trace::Event::Mark) with this value.
    Mark = 3,
    /// A [`UserBefore`](crate::trace::Event::UserBefore) with this value.
    UserBefore = 4,
    /// A [`UserAfter`](crate::trace::Event::UserAfter) with this value.
    UserAfter = 5,
}

/// A thread's state as [`Call::ThreadInspect`] and [`Table::Thread`] report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ThreadState {
    /// Running or ready to run.
    Ready = 1,
    /// Suspended.
    Suspended = 2,
    /// Blocked sending.
    Sending = 3,
    /// Blocked receiving.
    Receiving = 4,
    /// Blocked until its call is answered.
    Calling = 5,
    /// Blocked until it owns a mutex.
    Waiting = 6,
}

impl ThreadState {
    /// All states with what they are called, in the order of their codes.
    pub const ALL: [(ThreadState, &str); 6] = [
        (ThreadState::Ready, "ready"),
        (ThreadState::Suspended, "suspended"),
        (ThreadState::Sending, "sending"),
        (ThreadState::Receiving, "receiving"),
        (ThreadState::Calling, "calling"),
        (ThreadState::Waiting, "waiting"),
    ];

    /// What the state in the low byte of a word is called, if there is such a state.
    pub fn name_of(word: u64) -> Option<&'static str> {
        let code = word as u8;
        ThreadState::ALL.iter().find(|(state, _)| *state as u8 == code).map(|(_, name)| *name)
    }
}

/// What a blocked thread waits for, in the state of a row of [`Table::Thread`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Awaited {
    /// An instant, or nothing.
    Time = 1,
    /// To send to or to receive from an endpoint, by its place in the kernel's table.
    Endpoint = 2,
    /// A notification, by its place.
    Notification = 3,
    /// A stack of a train, by its place.
    Train = 4,
    /// The answer of a thread, by one more than its place; 0: not known of which.
    Answer = 5,
    /// A mutex or condition, by its address.
    Words = 6,
}

impl Awaited {
    /// All kinds, in the order of their codes.
    pub const ALL: [Awaited; 6] = [
        Awaited::Time,
        Awaited::Endpoint,
        Awaited::Notification,
        Awaited::Train,
        Awaited::Answer,
        Awaited::Words,
    ];

    /// Above the state of a thread: the code in the second byte, which one from the third byte on.
    pub const fn word(self, which: u64) -> u64 {
        (self as u64) << 8 | which << 16
    }

    /// What a word says, if its thread waits.
    pub fn of(word: u64) -> Option<(Awaited, u64)> {
        let code = (word >> 8) as u8;
        let kind = Awaited::ALL.get(usize::from(code).checked_sub(1)?)?;
        Some((*kind, word >> 16))
    }
}

/// Bits of the mask of [`Call::ThreadExchange`].
pub mod exchange {
    /// Set the instruction pointer.
    pub const INSTRUCTION: u64 = 1;
    /// Set the stack pointer.
    pub const STACK: u64 = 2;
    /// Set the first argument register.
    pub const ARGUMENT: u64 = 4;
    /// Set the thread pointer.
    pub const THREAD: u64 = 8;
    /// Cancel the IPC operation that the thread is blocked in.
    pub const CANCEL: u64 = 16;
}
