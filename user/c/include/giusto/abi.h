/**
 * What the kernel and programs agree on. Generated from the crate `abi`: do not edit, but run
 * `./giusto c --header`.
 */
#ifndef GIUSTO_ABI_H
#define GIUSTO_ABI_H

#include <stdint.h>

/** A system call. The low byte of the number word. */
enum giusto_call {
    /**
     * The IPC primitive. `a0`: send slot, and receive slot shifted left by 32 (`NOTHING` or `REPLY`
     * where a half is missing or is the reply right); `a1`: message; `a2`: deadline. Timeouts are
     * in the number word.
     */
    GIUSTO_CALL_IPC = 0,
    /** `Ipc` with send slot `a0`, then receive the reply; no timeout. */
    GIUSTO_CALL_CALL = 1,
    /** `Ipc` that replies, then receives on slot `a0`; no timeout. */
    GIUSTO_CALL_REPLY_WAIT = 2,
    /**
     * Signals the notification in slot `a0` with the capability's badge, or bit 0 if it has none.
     */
    GIUSTO_CALL_SIGNAL = 3,
    /**
     * Gives the rest of the tick to the thread in slot `a0`, or with 0 to the next thread of the
     * same priority (S0-29).
     */
    GIUSTO_CALL_YIELD = 4,
    /** Does nothing: the cost of entering and leaving the kernel. */
    GIUSTO_CALL_NULL = 5,
    /** Nanoseconds since boot (result 0). */
    GIUSTO_CALL_CLOCK = 6,
    /** A fact about the kernel: `a0` is a `Fact`, `a1` an index. */
    GIUSTO_CALL_FACT = 7,
    /**
     * Copies slot `a0` to the empty slot `a1` with at most the rights `a2`. `a3`, if not zero,
     * becomes the badge of a copy of an unbadged endpoint or notification capability.
     */
    GIUSTO_CALL_CAP_COPY = 16,
    /** Empties slot `a0`. */
    GIUSTO_CALL_CAP_DELETE = 17,
    /**
     * Makes every other capability to the object in slot `a0` stale. Operations that have begun and
     * ties that the kernel keeps (fault handlers, targets of timers and interrupts, attached
     * notifications) stay.
     */
    GIUSTO_CALL_CAP_REVOKE = 18,
    /** Moves the reply right that the thread holds to the empty slot `a0`. */
    GIUSTO_CALL_CAP_SAVE_REPLY = 19,
    /** What slot `a0` holds: kind and rights (result 0), badge (result 1). */
    GIUSTO_CALL_CAP_INSPECT = 20,
    /**
     * Destroys the object in slot `a0` and empties the slot. Other capabilities to it become stale
     * and keep their slots until they are deleted. An object whose last capability is deleted
     * stays, and stays charged, until the domain that owns it ends.
     */
    GIUSTO_CALL_DESTROY = 21,
    /**
     * Creates an endpoint in slot `a0`, with the notification in slot `a1` (or 0) attached:
     * receiving on the endpoint also receives its signals. A notification is attached to at most
     * one endpoint.
     */
    GIUSTO_CALL_ENDPOINT_CREATE = 24,
    /** Creates a notification in slot `a0`. */
    GIUSTO_CALL_NOTIFICATION_CREATE = 25,
    /** Creates a timer in slot `a0` that signals the notification in slot `a1`. */
    GIUSTO_CALL_TIMER_CREATE = 26,
    /** Arms the timer in slot `a0` for the instant `a1`; 0 disarms it. */
    GIUSTO_CALL_TIMER_SET = 27,
    /** Unmasks the interrupt in slot `a0` again after it was delivered. */
    GIUSTO_CALL_INTERRUPT_ACK = 28,
    /**
     * Lets the interrupt in slot `a0` come to CPU `a1` from now on, which the caller's domain may
     * use.
     */
    GIUSTO_CALL_INTERRUPT_ROUTE = 29,
    /** Creates a memory object of `a1` pages in slot `a0`. */
    GIUSTO_CALL_MEMORY_CREATE = 32,
    /**
     * Maps `a3` pages from page `a4` of the memory in slot `a1` into the domain in slot `a0` (0:
     * the caller's) at address `a2`, and puts the mapping into the slot in `a5`'s low half; the
     * rights are in its high half.
     */
    GIUSTO_CALL_MAP = 33,
    /** Changes the rights of the mapping in slot `a0` to `a1`. */
    GIUSTO_CALL_PROTECT = 34,
    /**
     * Where the memory in slot `a0` lies: its physical address (result 0), and its bytes from there
     * (result 1).
     */
    GIUSTO_CALL_MEMORY_ADDRESS = 35,
    /**
     * Reads `a2` bytes (1, 2 or 4) from the I/O port that is `a1` behind the first one of the
     * memory in slot `a0`: the value (result 0).
     */
    GIUSTO_CALL_PORT_READ = 36,
    /**
     * Writes the lowest `a2` bytes (1, 2 or 4) of `a3` to the I/O port that is `a1` behind the
     * first one of the memory in slot `a0`.
     */
    GIUSTO_CALL_PORT_WRITE = 37,
    /**
     * Creates a domain in slot `a0` with `a1` capability slots (at most 64, unless the pool slot is
     * one that a boot domain with a larger table has left) and maximum priority `a2`; its threads
     * may use the CPUs in `a3` (a bit each, all among the creator's own; 0: those); `w0..w3` hold
     * its quotas as 16-bit numbers in the order of `Resource`, taken from the caller's.
     */
    GIUSTO_CALL_DOMAIN_CREATE = 40,
    /**
     * Copies the caller's slot `a1` into slot `a2` of the domain in slot `a0`, with at most the
     * rights `a3`.
     */
    GIUSTO_CALL_DOMAIN_GRANT = 41,
    /**
     * Creates a suspended thread in slot `a0`, in the domain of slot `a1` (0: the caller's) with
     * priority `a2` and its message buffer at address `a3` (0: no buffer). `a4` is the slot of its
     * fault handler's endpoint, or 0. It belongs to the caller's CPU if the domain may use that,
     * else to the first that the domain may use.
     */
    GIUSTO_CALL_THREAD_CREATE = 42,
    /**
     * Sets and reads registers of the suspended thread in slot `a0`: instruction pointer `a1`,
     * stack pointer `a2`, first argument `a3`, thread pointer `a4`; `a5` is a mask of `exchange`
     * bits. Returns the old instruction and stack pointer.
     */
    GIUSTO_CALL_THREAD_EXCHANGE = 43,
    /** Lets the thread in slot `a0` run. */
    GIUSTO_CALL_THREAD_RESUME = 44,
    /** Stops the thread in slot `a0`; an IPC operation that it is blocked in goes on. */
    GIUSTO_CALL_THREAD_SUSPEND = 45,
    /** Sets the priority of the thread in slot `a0` to `a1`. */
    GIUSTO_CALL_THREAD_PRIORITY = 46,
    /**
     * The state of the thread in slot `a0`; its own priority, and in the high half the id that it
     * has in [futexes](crate::futex) of the domain that it is in, if that is the caller's, else 0.
     */
    GIUSTO_CALL_THREAD_INSPECT = 47,
    /**
     * Makes the thread in slot `a0` run on CPU `a1` from now on, which its domain and the caller's
     * may use.
     */
    GIUSTO_CALL_THREAD_MIGRATE = 48,
    /**
     * Creates a reservation in slot `a0`, in the class in slot `a1`: a class with the
     * [policy](crate::reservation::Policy) `a2`, or with 0 a leaf. Code and words of its
     * [share](crate::reservation::Share) are in `a3` and `w0..w3`. Of the calls from here on a
     * kernel without a scheduling tree knows none.
     */
    GIUSTO_CALL_RESERVATION_CREATE = 49,
    /**
     * Changes the reservation in slot `a0`: `a1` is a `Setting`, `a2` the code and `w0..w3` the
     * words of its value.
     */
    GIUSTO_CALL_RESERVATION_SET = 50,
    /**
     * Moves the reservation in slot `a0` into the class in slot `a1`, of the same CPU, where code
     * and words of its share are in `a2` and `w0..w3`.
     */
    GIUSTO_CALL_RESERVATION_JOIN = 51,
    /**
     * Lets the thread in slot `a0` run on the leaf in slot `a1`, or with 0 on the one of its
     * domain; or slot `a0` holds a domain without threads, and its threads will do so, and domains
     * that it creates from now on.
     */
    GIUSTO_CALL_RESERVE = 52,
    /**
     * What the reservation in slot `a0` has had: CPU time (result 0), how often its budget was
     * exhausted (result 1, its node in the high half); of a leaf's jobs how many have ended and how
     * many of these too late, the longest time from release to end, and from deadline to end. With
     * `a1` 1 of a leaf's job that is released, or the last one: its number, whether it has ended,
     * how long it takes, how much of that behind its deadline. With `UNSERVED` what was left of a
     * periodic server's budgets when their periods ended, in nanoseconds, while something inside
     * was ready.
     */
    GIUSTO_CALL_RESERVATION_INSPECT = 53,
    /**
     * Names the thread or domain in slot `a0`, for people: `a1` and `a2` are the name, which
     * `is_name` must admit; zeros take the old one away. Domains of the manifest keep theirs.
     */
    GIUSTO_CALL_NAME = 54,
    /**
     * Writes the low `a1` bytes of `w0..w3` (at most 32) to the console in slot `a0`, or nothing
     * and fails with `Error::Timeout`: 8 writes of the domain wait.
     */
    GIUSTO_CALL_CONSOLE_WRITE = 56,
    /**
     * Reads one byte from the console in slot `a0` (result 0), or fails with `Error::Timeout` if
     * there is none.
     */
    GIUSTO_CALL_CONSOLE_READ = 57,
    /**
     * Ends the run with the exit status in the low half of `a1`; slot `a0` holds the system
     * capability. With `PANIC_STATUS` the console is told of a panic, whose place is in the high
     * half, as `PANIC` says.
     */
    GIUSTO_CALL_SHUTDOWN = 58,
    /**
     * Statistics: slot `a0` holds the system capability, `a1` is a `Table`, `a2` an index. The
     * results are words.
     */
    GIUSTO_CALL_INSPECT = 59,
    /**
     * Steers statistics and trace: slot `a0` holds the system capability, `a1` is an `Observe`,
     * `a2` its value. A kernel that was built without what is asked for does not know the call.
     */
    GIUSTO_CALL_OBSERVE = 60,
    /**
     * Waits for the [mutex](crate::futex) at address `a0`, whose first word is `a1`; `a2`:
     * deadline. The number word says [how long](crate::futex::number) and in which scope. With
     * success the caller owns the mutex.
     */
    GIUSTO_CALL_MUTEX_WAIT = 64,
    /**
     * Hands the mutex at address `a0` to the first thread that waits for it. The number word says
     * the scope.
     */
    GIUSTO_CALL_MUTEX_WAKE = 65,
    /**
     * Waits for a wake-up of the [condition](crate::futex) at address `a0`, whose first word is
     * `a1`, and for the mutex at address `a2` behind that; `a3`: deadline. The number word is that
     * of `Call::MutexWait`. With success the caller owns the mutex.
     */
    GIUSTO_CALL_COND_WAIT = 66,
    /**
     * Lets the first thread that waits for the condition at address `a0`, or all of them if `a1` is
     * 1, wait for their mutex, which the caller owns. The number word says the scope. Result 0 is 1
     * if there was one.
     */
    GIUSTO_CALL_COND_REQUEUE = 67,
    /**
     * Waits for the [inheriting mutex](crate::futex) at address `a0`, whose first word is `a1`;
     * `a2`: deadline. The number word is that of `Call::MutexWait`. With success the caller owns
     * the mutex; result 0 is `OWNER_DIED` if its last owner has ended.
     */
    GIUSTO_CALL_INHERIT_WAIT = 68,
    /**
     * Hands the inheriting mutex at address `a0`, which the caller owns, to the waiting thread of
     * the highest priority.
     */
    GIUSTO_CALL_INHERIT_WAKE = 69,
    /**
     * Waits for a wake-up of the [inheriting condition](crate::futex) at address `a0`, whose first
     * word is `a1`, and for the inheriting mutex at address `a2` behind that; `a3`: deadline of the
     * wake-up; `a4`, `a5`: ids of its [helpers](crate::futex::helpers) (S2G-02). The number word
     * and the results are those of `Call::InheritWait`.
     */
    GIUSTO_CALL_INHERIT_COND_WAIT = 70,
    /**
     * Lets the thread of the highest priority that waits for the inheriting condition at address
     * `a0`, or all of them if `a1` is 1, wait for their mutex, which the caller owns.
     */
    GIUSTO_CALL_INHERIT_REQUEUE = 71,
    /**
     * The thread with the id `a1` helps the inheriting condition at address `a0` from now on if
     * `a2` is 1, with 0 no longer (S2G-02). The kernel knows the helpers of a condition while
     * threads wait for it.
     */
    GIUSTO_CALL_INHERIT_HELP = 72,
    /**
     * Sets the calling thread's [ceiling](crate::futex::NO_CEILING) to `a0`: it runs with at least
     * this priority until it sets another one. Result 0 is its own priority, without what it
     * inherits. Not inside another domain, and none on a reservation, but one that is lower than
     * before.
     */
    GIUSTO_CALL_CEILING = 73,
    /**
     * With `a1` = 1 the calling thread serves the endpoint in slot `a0` from now on, where it may
     * receive; with 0 no longer. Threads that wait in the endpoint's queue of senders lend it their
     * priorities, and each thread whose call it has received does so until it is answered (S2G-03).
     * Not inside another domain. A kernel with a scheduling tree lends leaves so, if the manifest
     * does not say otherwise.
     */
    GIUSTO_CALL_SERVE = 74,
    /**
     * Creates a [train](crate::train) in slot `a0` (S4-11): threads of other domains enter the
     * caller's at address `a1`, with the word `a2`, on one of `a5` stacks (at most `STACKS`) of
     * `a4` bytes each, the lowest of which begins at `a3`.
     */
    GIUSTO_CALL_TRAIN_CREATE = 128,
    /**
     * Enters the domain of the train in slot `a0` with all message words, and goes on when
     * `Call::TrainReturn` is called there. `a2`: deadline; the number word says [how
     * long](crate::train::number) the caller waits for a stack.
     */
    GIUSTO_CALL_TRAIN_CALL = 129,
    /**
     * Goes back to where the thread has entered this domain, with result 0 `a0` and all message
     * words.
     */
    GIUSTO_CALL_TRAIN_RETURN = 130,
};

/** `X(constant, name)` for each one of `enum giusto_call`. */
#define GIUSTO_CALLS(X) \
    X(GIUSTO_CALL_IPC, Ipc) \
    X(GIUSTO_CALL_CALL, Call) \
    X(GIUSTO_CALL_REPLY_WAIT, ReplyWait) \
    X(GIUSTO_CALL_SIGNAL, Signal) \
    X(GIUSTO_CALL_YIELD, Yield) \
    X(GIUSTO_CALL_NULL, Null) \
    X(GIUSTO_CALL_CLOCK, Clock) \
    X(GIUSTO_CALL_FACT, Fact) \
    X(GIUSTO_CALL_CAP_COPY, CapCopy) \
    X(GIUSTO_CALL_CAP_DELETE, CapDelete) \
    X(GIUSTO_CALL_CAP_REVOKE, CapRevoke) \
    X(GIUSTO_CALL_CAP_SAVE_REPLY, CapSaveReply) \
    X(GIUSTO_CALL_CAP_INSPECT, CapInspect) \
    X(GIUSTO_CALL_DESTROY, Destroy) \
    X(GIUSTO_CALL_ENDPOINT_CREATE, EndpointCreate) \
    X(GIUSTO_CALL_NOTIFICATION_CREATE, NotificationCreate) \
    X(GIUSTO_CALL_TIMER_CREATE, TimerCreate) \
    X(GIUSTO_CALL_TIMER_SET, TimerSet) \
    X(GIUSTO_CALL_INTERRUPT_ACK, InterruptAck) \
    X(GIUSTO_CALL_INTERRUPT_ROUTE, InterruptRoute) \
    X(GIUSTO_CALL_MEMORY_CREATE, MemoryCreate) \
    X(GIUSTO_CALL_MAP, Map) \
    X(GIUSTO_CALL_PROTECT, Protect) \
    X(GIUSTO_CALL_MEMORY_ADDRESS, MemoryAddress) \
    X(GIUSTO_CALL_PORT_READ, PortRead) \
    X(GIUSTO_CALL_PORT_WRITE, PortWrite) \
    X(GIUSTO_CALL_DOMAIN_CREATE, DomainCreate) \
    X(GIUSTO_CALL_DOMAIN_GRANT, DomainGrant) \
    X(GIUSTO_CALL_THREAD_CREATE, ThreadCreate) \
    X(GIUSTO_CALL_THREAD_EXCHANGE, ThreadExchange) \
    X(GIUSTO_CALL_THREAD_RESUME, ThreadResume) \
    X(GIUSTO_CALL_THREAD_SUSPEND, ThreadSuspend) \
    X(GIUSTO_CALL_THREAD_PRIORITY, ThreadPriority) \
    X(GIUSTO_CALL_THREAD_INSPECT, ThreadInspect) \
    X(GIUSTO_CALL_THREAD_MIGRATE, ThreadMigrate) \
    X(GIUSTO_CALL_RESERVATION_CREATE, ReservationCreate) \
    X(GIUSTO_CALL_RESERVATION_SET, ReservationSet) \
    X(GIUSTO_CALL_RESERVATION_JOIN, ReservationJoin) \
    X(GIUSTO_CALL_RESERVE, Reserve) \
    X(GIUSTO_CALL_RESERVATION_INSPECT, ReservationInspect) \
    X(GIUSTO_CALL_NAME, Name) \
    X(GIUSTO_CALL_CONSOLE_WRITE, ConsoleWrite) \
    X(GIUSTO_CALL_CONSOLE_READ, ConsoleRead) \
    X(GIUSTO_CALL_SHUTDOWN, Shutdown) \
    X(GIUSTO_CALL_INSPECT, Inspect) \
    X(GIUSTO_CALL_OBSERVE, Observe) \
    X(GIUSTO_CALL_MUTEX_WAIT, MutexWait) \
    X(GIUSTO_CALL_MUTEX_WAKE, MutexWake) \
    X(GIUSTO_CALL_COND_WAIT, CondWait) \
    X(GIUSTO_CALL_COND_REQUEUE, CondRequeue) \
    X(GIUSTO_CALL_INHERIT_WAIT, InheritWait) \
    X(GIUSTO_CALL_INHERIT_WAKE, InheritWake) \
    X(GIUSTO_CALL_INHERIT_COND_WAIT, InheritCondWait) \
    X(GIUSTO_CALL_INHERIT_REQUEUE, InheritRequeue) \
    X(GIUSTO_CALL_INHERIT_HELP, InheritHelp) \
    X(GIUSTO_CALL_CEILING, Ceiling) \
    X(GIUSTO_CALL_SERVE, Serve) \
    X(GIUSTO_CALL_TRAIN_CREATE, TrainCreate) \
    X(GIUSTO_CALL_TRAIN_CALL, TrainCall) \
    X(GIUSTO_CALL_TRAIN_RETURN, TrainReturn)

/** How long one half of an IPC operation may block. */
enum giusto_timeout {
    /** As long as it takes. */
    GIUSTO_TIMEOUT_NEVER = 0,
    /** Not at all. */
    GIUSTO_TIMEOUT_ZERO = 1,
    /** Until the deadline argument, an instant in nanoseconds since boot. */
    GIUSTO_TIMEOUT_AT = 2,
};

/** Facts that `Call::Fact` returns. */
enum giusto_fact {
    /** The name of the running kernel: 16 bytes of text, zero-padded, in both results. */
    GIUSTO_FACT_KERNEL_NAME = 0,
    /** Frequency of the cycle counter that programs read, in Hz, and its value at the instant 0. */
    GIUSTO_FACT_COUNTER_HZ = 1,
    /**
     * The scheduling tick and a thread's time slice, in nanoseconds; that is `NO_SLICE` ticks where
     * threads do not take turns.
     */
    GIUSTO_FACT_TICK = 2,
    /**
     * Bytes of kernel text, and instructions or cycles from kernel entry to the first user
     * instruction.
     */
    GIUSTO_FACT_KERNEL = 3,
    /** How many CPUs the kernel has, and which one the caller runs on. */
    GIUSTO_FACT_CPUS = 4,
    /**
     * The caller's ids in [futexes](crate::futex) of its domain and of shared memory; in the first
     * one's high half a number for the name of its domain, which one that is made again has again.
     */
    GIUSTO_FACT_IDENTITY = 5,
};

/**
 * Tables that `Call::Inspect` reads, one row an index; past the last row it fails with
 * `Error::InvalidArgument`.
 */
enum giusto_table {
    /**
     * Domain `a2`: results are 1 if it is alive and its maximum priority; `w0`, `w1` its name; `w2`
     * its threads, and in the high half the index of the domain that it is in, its own for one of
     * the manifest; `w3` slots in use and in all (high half).
     */
    GIUSTO_TABLE_DOMAIN = 0,
    /**
     * Thread `a2`: results are its state (0 if it does not exist) in the low byte and above that
     * what it waits for (`Awaited::word`), and its own priority with the one that it has now, lent
     * or its own, in the high half; `w0` its domain's index; `w1` its instruction pointer; `w2` its
     * stack pointer; `w3` is 0, or one more than the node of the reservation that it was given.
     */
    GIUSTO_TABLE_THREAD = 1,
    /** Resource `a2 >> 32` of domain `a2 & 0xffff_ffff`: used and quota. */
    GIUSTO_TABLE_QUOTA = 2,
    /** Resource `a2` of the whole machine: in use and pool size. */
    GIUSTO_TABLE_POOL = 3,
    /** Slot `a2 >> 32` of domain `a2 & 0xffff_ffff`: kind and rights, badge. */
    GIUSTO_TABLE_SLOT = 4,
    /**
     * `Counter` `a2 & 0xffff_ffff` of CPU `a2 >> 32`: its value. Fails as behind the last row if
     * the kernel was built without statistics.
     */
    GIUSTO_TABLE_COUNTER = 5,
    /**
     * How often the ready queue of CPU `a2 >> 32` had the length `a2 & 0xffff_ffff`, below
     * `LENGTHS`.
     */
    GIUSTO_TABLE_LENGTH = 6,
    /**
     * How long CPU `a2 >> 32` has run thread `a2 & 0xffff_ffff`, in steps of its counter, since the
     * thread was created or the statistics were reset. Fails as behind the last row if the kernel
     * was built without statistics, and from `TIMED` threads on.
     */
    GIUSTO_TABLE_TIME = 7,
    /**
     * Block `a2 >> 32` of `BLOCK_WORDS` words of the address space of domain `a2 & 0xffff_ffff`: 1
     * if it is mapped, and how many of its words are zero before the first that is not.
     */
    GIUSTO_TABLE_BLOCK = 8,
    /**
     * Reservation `a2`: results are 0 if it does not exist, else 1, its policy (0 for a leaf)
     * shifted left by 8, whether it waits for budget by 16, the kind of its server by 24; and its
     * node, with the node of its class in the high half (ones for a root). `w0` is the CPU time
     * that it has had, `w1` how often its budget was exhausted, in the high half how many of its
     * jobs were late; `w2` its budget, `w3` its period. A kernel without a scheduling tree has no
     * row.
     */
    GIUSTO_TABLE_RESERVATION = 9,
    /**
     * Reservation `a2`: results are the code of its [share](crate::reservation::Share) and the jobs
     * that have ended; `w0..w3` the words of the share.
     */
    GIUSTO_TABLE_SHARE = 10,
    /** Thread `a2`: results are its name, which `Call::Name` gave it, or zeros. */
    GIUSTO_TABLE_THREAD_NAME = 11,
};

/** What `Call::ReservationSet` changes. */
enum giusto_setting {
    /** Its `Share`. */
    GIUSTO_SETTING_SHARE = 0,
    /** Its limit: words of a `Budget` or of none. */
    GIUSTO_SETTING_BUDGET = 1,
    /** What its jobs are like: words of a `Timing` or of none. */
    GIUSTO_SETTING_TIMING = 2,
    /** A class of time partitions has no windows any more; its frame begins at the instant `w0`. */
    GIUSTO_SETTING_FRAME = 3,
    /**
     * It has one [window](crate::reservation::Window) more, behind the last: `w0` is its end, `w1`
     * the partition.
     */
    GIUSTO_SETTING_WINDOW = 4,
    /**
     * Signals the notification in slot `a2`, which the caller may send to, from now on; with 0
     * none: the bits `w0` when a job of a leaf has not ended by its deadline, `w1` when its budget
     * is used up. Zero bits stand for no signal.
     */
    GIUSTO_SETTING_MONITOR = 5,
    /**
     * It runs on below everything else on its CPU: with `w0` 1 where its budget is used up, until
     * it comes back; with `w1` 1 where a job has not ended by its deadline, until it ends.
     */
    GIUSTO_SETTING_BACKGROUND = 6,
};

/** What `Call::Observe` does. */
enum giusto_observe {
    /** All counters of the statistics begin again. */
    GIUSTO_OBSERVE_RESET = 0,
    /** The trace stops: what it holds stays. */
    GIUSTO_OBSERVE_FREEZE = 1,
    /** The trace goes on. */
    GIUSTO_OBSERVE_RECORD = 2,
    /** The trace receives a `Mark` with this value. */
    GIUSTO_OBSERVE_MARK = 3,
    /** A `UserBefore` with this value. */
    GIUSTO_OBSERVE_USER_BEFORE = 4,
    /** A `UserAfter` with this value. */
    GIUSTO_OBSERVE_USER_AFTER = 5,
};

/** A thread's state as `Call::ThreadInspect` and `Table::Thread` report it. */
enum giusto_thread_state {
    /** Running or ready to run. */
    GIUSTO_THREAD_STATE_READY = 1,
    /** Suspended. */
    GIUSTO_THREAD_STATE_SUSPENDED = 2,
    /** Blocked sending. */
    GIUSTO_THREAD_STATE_SENDING = 3,
    /** Blocked receiving. */
    GIUSTO_THREAD_STATE_RECEIVING = 4,
    /** Blocked until its call is answered. */
    GIUSTO_THREAD_STATE_CALLING = 5,
    /** Blocked until it owns a mutex. */
    GIUSTO_THREAD_STATE_WAITING = 6,
};

/** What a blocked thread waits for, in the state of a row of `Table::Thread`. */
enum giusto_awaited {
    /** An instant, or nothing. */
    GIUSTO_AWAITED_TIME = 1,
    /** To send to or to receive from an endpoint, by its place in the kernel's table. */
    GIUSTO_AWAITED_ENDPOINT = 2,
    /** A notification, by its place. */
    GIUSTO_AWAITED_NOTIFICATION = 3,
    /** A stack of a train, by its place. */
    GIUSTO_AWAITED_TRAIN = 4,
    /** The answer of a thread, by one more than its place; 0: not known of which. */
    GIUSTO_AWAITED_ANSWER = 5,
    /** A mutex or condition, by its address. */
    GIUSTO_AWAITED_WORDS = 6,
};

/**
 * Why a system call did not do what was asked. Nothing has changed when a call returns an error,
 * with two exceptions: `Status::in_receive` says that the send half of a combined operation was
 * done and its receive half failed; and a mapping that met a page in use is undone, but page tables
 * that it needed stay with the domain.
 */
enum giusto_error {
    /** No system call has this number. */
    GIUSTO_ERROR_UNKNOWN_CALL = 1,
    /** An argument is out of its range. */
    GIUSTO_ERROR_INVALID_ARGUMENT = 2,
    /** The slot is empty, or outside the domain's capability table. */
    GIUSTO_ERROR_NO_CAPABILITY = 3,
    /** The capability names an object of another kind. */
    GIUSTO_ERROR_WRONG_KIND = 4,
    /** The object was destroyed or the capability revoked since it was handed out. */
    GIUSTO_ERROR_STALE = 5,
    /** The capability lacks a right that the operation needs. */
    GIUSTO_ERROR_MISSING_RIGHT = 6,
    /** The destination slot holds a capability already. */
    GIUSTO_ERROR_SLOT_OCCUPIED = 7,
    /** The domain's quota of this kind of object is used up. */
    GIUSTO_ERROR_QUOTA_EXCEEDED = 8,
    /** Every slot of the pool is in use. */
    GIUSTO_ERROR_POOL_EXHAUSTED = 9,
    /** The deadline passed, or the operation would have blocked with timeout zero. */
    GIUSTO_ERROR_TIMEOUT = 10,
    /** The object that the thread was waiting on, or its partner, was destroyed. */
    GIUSTO_ERROR_DESTROYED = 11,
    /** Another thread cancelled the operation. */
    GIUSTO_ERROR_CANCELLED = 12,
    /** The thread holds no reply right. */
    GIUSTO_ERROR_NO_REPLY = 13,
    /** The operation needs a message buffer and the thread has none. */
    GIUSTO_ERROR_NO_BUFFER = 14,
    /** The message is longer than `crate::message::MAX_WORDS`. */
    GIUSTO_ERROR_TOO_LONG = 15,
    /** The receiver named no free slot for the capability that the message carries. */
    GIUSTO_ERROR_NOT_TAKEN = 16,
    /** Part of the address range is mapped already. */
    GIUSTO_ERROR_ADDRESS_IN_USE = 17,
    /**
     * The address is not aligned or not in user space, or nothing that the caller may write is
     * there.
     */
    GIUSTO_ERROR_BAD_ADDRESS = 18,
    /** The priority is above the domain's maximum. */
    GIUSTO_ERROR_PRIORITY_TOO_HIGH = 19,
    /** The object is in the wrong state for the operation. */
    GIUSTO_ERROR_WRONG_STATE = 20,
    /** A mapping may be writable or executable, not both. */
    GIUSTO_ERROR_WRITE_EXECUTE = 21,
    /** One operation would send to the endpoint that it receives from. */
    GIUSTO_ERROR_SELF_SEND = 22,
    /** The callee dropped the caller's reply right without answering. */
    GIUSTO_ERROR_ABANDONED = 23,
    /** The domain's threads may not use this CPU. */
    GIUSTO_ERROR_CPU_NOT_ALLOWED = 24,
    /** The class would promise more CPU time than it has. */
    GIUSTO_ERROR_OVERCOMMITTED = 25,
    /**
     * The scheduling tree would have too many levels, or the caller has entered as many domains as
     * a thread can.
     */
    GIUSTO_ERROR_TOO_DEEP = 26,
    /** The word is not what the caller has seen: another thread has changed it meanwhile. */
    GIUSTO_ERROR_CHANGED = 27,
    /** The second word of a mutex or condition is not the id of a thread that heads its queue. */
    GIUSTO_ERROR_BROKEN_QUEUE = 28,
    /** The threads that wait for the condition name another mutex. */
    GIUSTO_ERROR_OTHER_MUTEX = 29,
    /** The code that the caller has entered by a train has faulted. */
    GIUSTO_ERROR_FAULTED = 30,
    /** The thread helps the condition already. */
    GIUSTO_ERROR_HELPS_ALREADY = 31,
    /** The thread does not help the condition. */
    GIUSTO_ERROR_NO_HELPER = 32,
    /** The condition has as many helpers as it may have. */
    GIUSTO_ERROR_TOO_MANY_HELPERS = 33,
    /** The class is the reservation itself, or is inside it. */
    GIUSTO_ERROR_CYCLE = 34,
    /** The thread owns the mutex already. */
    GIUSTO_ERROR_ALREADY_OWNER = 35,
    /** The mutex is one of another domain, in memory that both have: it is of one domain alone. */
    GIUSTO_ERROR_OTHER_DOMAIN = 36,
    /**
     * The thread would wait for itself: the owner of the mutex waits for it, also through others.
     */
    GIUSTO_ERROR_DEADLOCK = 37,
    /** The thread has a reservation of its own, where a ceiling has no effect. */
    GIUSTO_ERROR_ON_RESERVATION = 38,
    /**
     * The budget is below `LEAST_BUDGET`: the switches to the reservation and away from it would
     * use it up.
     */
    GIUSTO_ERROR_BUDGET_TOO_SMALL = 39,
};

/** `X(constant, name)` for each one of `enum giusto_error`. */
#define GIUSTO_ERRORS(X) \
    X(GIUSTO_ERROR_UNKNOWN_CALL, UnknownCall) \
    X(GIUSTO_ERROR_INVALID_ARGUMENT, InvalidArgument) \
    X(GIUSTO_ERROR_NO_CAPABILITY, NoCapability) \
    X(GIUSTO_ERROR_WRONG_KIND, WrongKind) \
    X(GIUSTO_ERROR_STALE, Stale) \
    X(GIUSTO_ERROR_MISSING_RIGHT, MissingRight) \
    X(GIUSTO_ERROR_SLOT_OCCUPIED, SlotOccupied) \
    X(GIUSTO_ERROR_QUOTA_EXCEEDED, QuotaExceeded) \
    X(GIUSTO_ERROR_POOL_EXHAUSTED, PoolExhausted) \
    X(GIUSTO_ERROR_TIMEOUT, Timeout) \
    X(GIUSTO_ERROR_DESTROYED, Destroyed) \
    X(GIUSTO_ERROR_CANCELLED, Cancelled) \
    X(GIUSTO_ERROR_NO_REPLY, NoReply) \
    X(GIUSTO_ERROR_NO_BUFFER, NoBuffer) \
    X(GIUSTO_ERROR_TOO_LONG, TooLong) \
    X(GIUSTO_ERROR_NOT_TAKEN, NotTaken) \
    X(GIUSTO_ERROR_ADDRESS_IN_USE, AddressInUse) \
    X(GIUSTO_ERROR_BAD_ADDRESS, BadAddress) \
    X(GIUSTO_ERROR_PRIORITY_TOO_HIGH, PriorityTooHigh) \
    X(GIUSTO_ERROR_WRONG_STATE, WrongState) \
    X(GIUSTO_ERROR_WRITE_EXECUTE, WriteExecute) \
    X(GIUSTO_ERROR_SELF_SEND, SelfSend) \
    X(GIUSTO_ERROR_ABANDONED, Abandoned) \
    X(GIUSTO_ERROR_CPU_NOT_ALLOWED, CpuNotAllowed) \
    X(GIUSTO_ERROR_OVERCOMMITTED, Overcommitted) \
    X(GIUSTO_ERROR_TOO_DEEP, TooDeep) \
    X(GIUSTO_ERROR_CHANGED, Changed) \
    X(GIUSTO_ERROR_BROKEN_QUEUE, BrokenQueue) \
    X(GIUSTO_ERROR_OTHER_MUTEX, OtherMutex) \
    X(GIUSTO_ERROR_FAULTED, Faulted) \
    X(GIUSTO_ERROR_HELPS_ALREADY, HelpsAlready) \
    X(GIUSTO_ERROR_NO_HELPER, NoHelper) \
    X(GIUSTO_ERROR_TOO_MANY_HELPERS, TooManyHelpers) \
    X(GIUSTO_ERROR_CYCLE, Cycle) \
    X(GIUSTO_ERROR_ALREADY_OWNER, AlreadyOwner) \
    X(GIUSTO_ERROR_OTHER_DOMAIN, OtherDomain) \
    X(GIUSTO_ERROR_DEADLOCK, Deadlock) \
    X(GIUSTO_ERROR_ON_RESERVATION, OnReservation) \
    X(GIUSTO_ERROR_BUDGET_TOO_SMALL, BudgetTooSmall)

/** Which threads use a mutex or condition. */
enum giusto_scope {
    /** Those of one domain, at one address. */
    GIUSTO_SCOPE_DOMAIN = 0,
    /** Those of any domain that has the memory mapped writable, at whatever addresses. */
    GIUSTO_SCOPE_SHARED = 1,
};

/**
 * What happened, in the label of a fault message. The words are: address or detail, instruction
 * pointer, stack pointer, machine error code.
 */
enum giusto_fault_kind {
    /** Access to an address that is not mapped, or not with the needed right. */
    GIUSTO_FAULT_KIND_MEMORY = 1,
    /** An instruction that user mode may not execute or that does not exist. */
    GIUSTO_FAULT_KIND_INSTRUCTION = 2,
    /** Division by zero or overflow. */
    GIUSTO_FAULT_KIND_ARITHMETIC = 3,
    /** A breakpoint or single step. */
    GIUSTO_FAULT_KIND_DEBUG = 4,
    /** Anything else; the first word is the machine's exception number. */
    GIUSTO_FAULT_KIND_OTHER = 5,
};

/** What a capability names. */
enum giusto_kind {
    /** A protection domain: address space, capability table and quotas. */
    GIUSTO_KIND_DOMAIN = 1,
    /** A thread. */
    GIUSTO_KIND_THREAD = 2,
    /** A meeting point of senders and receivers. */
    GIUSTO_KIND_ENDPOINT = 3,
    /** A word of signal bits that threads wait for. */
    GIUSTO_KIND_NOTIFICATION = 4,
    /** A hardware interrupt (IRQ), delivered as a signal. */
    GIUSTO_KIND_INTERRUPT = 5,
    /** Page frames that can be mapped. */
    GIUSTO_KIND_MEMORY = 6,
    /** A range of one domain's addresses backed by memory. */
    GIUSTO_KIND_MAPPING = 7,
    /** A one-shot timer, delivered as a signal. */
    GIUSTO_KIND_TIMER = 8,
    /** The right to answer one call. */
    GIUSTO_KIND_REPLY = 9,
    /** The text console. */
    GIUSTO_KIND_CONSOLE = 10,
    /** The machine: statistics of all domains, and ending the run. */
    GIUSTO_KIND_SYSTEM = 11,
    /** A right to CPU time, or a class of such rights. */
    GIUSTO_KIND_RESERVATION = 12,
    /** An entry into a domain, with stacks for those who enter. */
    GIUSTO_KIND_TRAIN = 13,
};

/** `X(constant, name)` for each one of `enum giusto_kind`. */
#define GIUSTO_KINDS(X) \
    X(GIUSTO_KIND_DOMAIN, Domain) \
    X(GIUSTO_KIND_THREAD, Thread) \
    X(GIUSTO_KIND_ENDPOINT, Endpoint) \
    X(GIUSTO_KIND_NOTIFICATION, Notification) \
    X(GIUSTO_KIND_INTERRUPT, Interrupt) \
    X(GIUSTO_KIND_MEMORY, Memory) \
    X(GIUSTO_KIND_MAPPING, Mapping) \
    X(GIUSTO_KIND_TIMER, Timer) \
    X(GIUSTO_KIND_REPLY, Reply) \
    X(GIUSTO_KIND_CONSOLE, Console) \
    X(GIUSTO_KIND_SYSTEM, System) \
    X(GIUSTO_KIND_RESERVATION, Reservation) \
    X(GIUSTO_KIND_TRAIN, Train)

/** Resources that have a pool and a quota, in the order of the quota arrays of `crate::boot`. */
enum giusto_resource {
    /** Domains. */
    GIUSTO_RESOURCE_DOMAINS = 0,
    /** Threads; each brings one page frame for its message buffer. */
    GIUSTO_RESOURCE_THREADS = 1,
    /** Endpoints. */
    GIUSTO_RESOURCE_ENDPOINTS = 2,
    /** Notifications. */
    GIUSTO_RESOURCE_NOTIFICATIONS = 3,
    /** Interrupts. */
    GIUSTO_RESOURCE_INTERRUPTS = 4,
    /** Memory objects. */
    GIUSTO_RESOURCE_MEMORIES = 5,
    /** Mappings. */
    GIUSTO_RESOURCE_MAPPINGS = 6,
    /** Timers. */
    GIUSTO_RESOURCE_TIMERS = 7,
    /**
     * Page frames of memory objects that programs create; each object takes one more than it has
     * pages, for its index.
     */
    GIUSTO_RESOURCE_FRAMES = 8,
    /** Page-table frames. */
    GIUSTO_RESOURCE_TABLES = 9,
    /** Capability slots. */
    GIUSTO_RESOURCE_SLOTS = 10,
    /** Reservations of CPU time. */
    GIUSTO_RESOURCE_RESERVATIONS = 11,
    /** Trains. */
    GIUSTO_RESOURCE_TRAINS = 12,
    /** Stacks of trains, each with what the kernel keeps of the thread on it. */
    GIUSTO_RESOURCE_STACKS = 13,
};

/** `X(constant, name)` for each one of `enum giusto_resource`. */
#define GIUSTO_RESOURCES(X) \
    X(GIUSTO_RESOURCE_DOMAINS, Domains) \
    X(GIUSTO_RESOURCE_THREADS, Threads) \
    X(GIUSTO_RESOURCE_ENDPOINTS, Endpoints) \
    X(GIUSTO_RESOURCE_NOTIFICATIONS, Notifications) \
    X(GIUSTO_RESOURCE_INTERRUPTS, Interrupts) \
    X(GIUSTO_RESOURCE_MEMORIES, Memories) \
    X(GIUSTO_RESOURCE_MAPPINGS, Mappings) \
    X(GIUSTO_RESOURCE_TIMERS, Timers) \
    X(GIUSTO_RESOURCE_FRAMES, Frames) \
    X(GIUSTO_RESOURCE_TABLES, Tables) \
    X(GIUSTO_RESOURCE_SLOTS, Slots) \
    X(GIUSTO_RESOURCE_RESERVATIONS, Reservations) \
    X(GIUSTO_RESOURCE_TRAINS, Trains) \
    X(GIUSTO_RESOURCE_STACKS, Stacks)

/** What becomes of a leaf while its thread runs on a lent one (S4-07). */
enum giusto_inheritance {
    /** No leaf is lent: each thread uses its own. */
    GIUSTO_INHERITANCE_NONE = 0,
    /** What the thread uses is charged to its own leaf as well. */
    GIUSTO_INHERITANCE_CHARGED = 1,
    /** It sleeps. */
    GIUSTO_INHERITANCE_LEAVES = 2,
};

/** How a class chooses among its children. */
enum giusto_policy {
    /** The highest priority; equals take turns, a time slice each (S2C-07). */
    GIUSTO_POLICY_FIXED_PRIORITY = 1,
    /** The earliest deadline (S2C-07). */
    GIUSTO_POLICY_EARLIEST_DEADLINE = 2,
    /**
     * Service curves (S4-04): the earliest deadline of those that must be served, else the least
     * virtual time.
     */
    GIUSTO_POLICY_SERVICE_CURVES = 3,
    /** Time partitions in windows of a major frame (S2D-07). */
    GIUSTO_POLICY_PARTITIONS = 4,
};

/** How a server's budget comes back. */
enum giusto_server {
    /** The budget at the beginning of each period (S2B-01). */
    GIUSTO_SERVER_PERIODIC = 1,
    /** Constant bandwidth: out of budget, it waits for its deadline. */
    GIUSTO_SERVER_CONSTANT = 2,
    /** Constant bandwidth: out of budget, it goes on with a later deadline. */
    GIUSTO_SERVER_CONSTANT_SOFT = 3,
    /** Each use comes back a period later. */
    GIUSTO_SERVER_SPORADIC = 4,
};

/**
 * Bytes in a page, the unit of mapping and of memory objects. Programs are compiled for this size;
 * the kernel asks its port.
 */
#define GIUSTO_PAGE 4096

/**
 * First address above user space, as programs are compiled for it. The page that begins here, the
 * last of the lower half, is never mapped: no user instruction pointer can run over the end.
 */
#define GIUSTO_USER_TOP UINT64_C(0x7ffffffff000)

/** Priorities are `0..PRIORITIES`; a larger number is more important (S0-05). */
#define GIUSTO_PRIORITIES 256

/**
 * Set by the kernel in the number word of a call that was interrupted and is issued again, and seen
 * by a program whose thread is moved elsewhere in the middle of one. A program that sets it gets
 * what the rest of such a call of its own brings.
 */
#define GIUSTO_RESTARTED UINT64_C(0x8000000000000000)

/** Slot number of a missing half of an IPC operation. */
#define GIUSTO_NOTHING 0

/**
 * Slot number that stands for the reply right in the send half, and for the reply to this call in
 * the receive half.
 */
#define GIUSTO_REPLY UINT32_C(0xffffffff)

/** How far left the timeout of the send half stands in the number word. */
#define GIUSTO_SEND_TIMEOUT_SHIFT 8

/** How far left that of the receive half stands. */
#define GIUSTO_RECEIVE_TIMEOUT_SHIFT 10

/** How far left the receive slot stands in the slot argument of an IPC operation. */
#define GIUSTO_RECEIVE_SLOT_SHIFT 32

/** How far left the rights stand in the last argument of `Call::Map`. */
#define GIUSTO_MAP_RIGHTS_SHIFT 32

/** Words of a `Table::Block`. */
#define GIUSTO_BLOCK_WORDS 16

/**
 * Ticks of a time slice that a thread does not come to the end of, to speak of: in a system with it
 * threads of one priority do not take turns.
 */
#define GIUSTO_NO_SLICE UINT32_C(0xffffffff)

/** Execute the faulting instruction again. */
#define GIUSTO_FAULT_RETRY 0

/** Go on at the instruction pointer in word 0. */
#define GIUSTO_FAULT_CONTINUE 1

/** Suspend the thread. */
#define GIUSTO_FAULT_SUSPEND 2

/** Set the instruction pointer. */
#define GIUSTO_EXCHANGE_INSTRUCTION 1

/** Set the stack pointer. */
#define GIUSTO_EXCHANGE_STACK 2

/** Set the first argument register. */
#define GIUSTO_EXCHANGE_ARGUMENT 4

/** Set the thread pointer. */
#define GIUSTO_EXCHANGE_THREAD 8

/** Cancel the IPC operation that the thread is blocked in. */
#define GIUSTO_EXCHANGE_CANCEL 16

/** Set in a mutex while threads wait for it. The other bits are the owner's id, 1 to 2^31 - 1. */
#define GIUSTO_FUTEX_WAITERS UINT32_C(0x80000000)

/**
 * The result of a wait for an inheriting mutex whose last owner has ended: what the mutex protects
 * may be halfway through a change.
 */
#define GIUSTO_FUTEX_OWNER_DIED 1

/** Where the bit of the scope stands in the number word of a futex call: 1 is `Scope::Shared`. */
#define GIUSTO_FUTEX_SCOPE_SHIFT 16

/**
 * No priority that a thread has at least: it gives up its ceiling (priority ceiling protocol). Of
 * several mutexes with ceilings that a thread owns, the highest one counts.
 */
#define GIUSTO_FUTEX_NO_CEILING UINT64_C(0xffffffffffffffff)

/** How many threads may help one inheriting condition (S2G-02). */
#define GIUSTO_FUTEX_HELPERS 4

/** Message words that travel in registers. */
#define GIUSTO_REGISTER_WORDS 4

/**
 * The longest message, in 64-bit words. Words from `REGISTER_WORDS` on are read from the sender's
 * buffer and written to the receiver's, at their own index.
 */
#define GIUSTO_MAX_WORDS 128

/** 64-bit words in a message buffer (one page). */
#define GIUSTO_BUFFER_WORDS 512

/** Buffer word with the slot of the capability to send, read when `Info::CAPABILITY` is set. */
#define GIUSTO_BUFFER_SEND_SLOT 128

/** Buffer word with the rights that the receiver may get at most. */
#define GIUSTO_BUFFER_SEND_RIGHTS 129

/** Buffer word with the free slot in which the thread accepts a capability; 0 accepts none. */
#define GIUSTO_BUFFER_RECEIVE_SLOT 130

/**
 * Where programs that panic fault: a memory fault at this address plus that of a place in the
 * program, or plus 0 if it has none. Nothing else lies there. A place is the address of the file's
 * name and its length in bytes, as words, then line and column (0 if it is not known), as halves of
 * a word: so the compiler lays a `core::panic::Location` out.
 */
#define GIUSTO_PANIC UINT64_C(0x7fff00000000)

/** How far above `PANIC` such an address may be: programs lie below. */
#define GIUSTO_PANIC_RANGE UINT64_C(0x100000000)

/** Exit status of a run that a panicking program ended. */
#define GIUSTO_PANIC_STATUS 100

/** The bits of the length. */
#define GIUSTO_INFO_LENGTH 255

/** How far left the label stands. */
#define GIUSTO_INFO_LABEL_SHIFT 32

/** The message carries a capability. */
#define GIUSTO_INFO_CAPABILITY 256

/** Set by the kernel: not a message but the bits of a notification, in the badge. */
#define GIUSTO_INFO_NOTIFICATION 512

/** Set by the kernel: a fault of the thread whose reply right the receiver now holds. */
#define GIUSTO_INFO_FAULT 1024

/** The call succeeded. */
#define GIUSTO_STATUS_OK 0

/** Set if the receive half failed. */
#define GIUSTO_STATUS_RECEIVE 256

/** No right at all. */
#define GIUSTO_RIGHTS_NONE 0

/** Endpoint: send and call. Notification: signal. Train: enter. */
#define GIUSTO_RIGHTS_SEND 1

/** Endpoint, notification: receive. */
#define GIUSTO_RIGHTS_RECEIVE 2

/** Endpoint: send capabilities along with a message. */
#define GIUSTO_RIGHTS_GRANT 4

/** Memory: map readable. */
#define GIUSTO_RIGHTS_READ 1

/** Memory: map writable. */
#define GIUSTO_RIGHTS_WRITE 2

/** Memory: map executable. */
#define GIUSTO_RIGHTS_EXECUTE 4

/**
 * Domain, thread, interrupt, timer, mapping, console, system: use and change it. Reservation:
 * change and move it.
 */
#define GIUSTO_RIGHTS_CONTROL 1

/** Copy the capability to another slot or into a message. */
#define GIUSTO_RIGHTS_COPY 8

/** Make every other capability to the object stale. */
#define GIUSTO_RIGHTS_REVOKE 16

/** Destroy the object. */
#define GIUSTO_RIGHTS_DESTROY 32

/** Reservation: let threads run on it. */
#define GIUSTO_RIGHTS_RESERVE 2

/** Reservation that is a class: make reservations in it, and move some into it. */
#define GIUSTO_RIGHTS_DIVIDE 4

/** Memory: learn where it lies in physical memory. */
#define GIUSTO_RIGHTS_PHYSICAL 64

/**
 * Every right that comes with an object: all but `Rights::PHYSICAL`, which only the manifest gives.
 */
#define GIUSTO_RIGHTS_ALL 63

/**
 * Fixed priorities that a class tells apart (S2C-07). Threads without a reservation use the lower
 * half.
 */
#define GIUSTO_LEVELS 512

/** The slope of a whole CPU. */
#define GIUSTO_WHOLE 1000000

/** The longest time: instants and debts never wrap. */
#define GIUSTO_LONGEST UINT64_C(0x4000000000000000)

/**
 * The shortest period and deadline: what follows an instant of them takes a CPU's time from
 * whichever thread runs.
 */
#define GIUSTO_SHORTEST 100000

/** The shortest window: its end takes a CPU's time from whatever is no more urgent. */
#define GIUSTO_SHORTEST_WINDOW 500000

/**
 * The least budget that the kernel accepts: more than it takes of one for its return, the switch to
 * the reservation, the interrupt at its end and the switch away, on the deepest leaf. Of a smaller
 * one nothing would be left to run in. Measured by the experiment `tree-cost`.
 */
#define GIUSTO_LEAST_BUDGET 20000

/** The least budget, and part of one, that the scheduling tree itself tells apart. */
#define GIUSTO_LEAST_PART 1000

/** Windows that one class of time partitions can have, gaps included. */
#define GIUSTO_WINDOWS 32

/** What `ReservationInspect` takes to tell what was left of budgets. */
#define GIUSTO_UNSERVED 2

/** The label of an answer with a value. */
#define GIUSTO_ANSWER_DONE 0

/** The label of an answer with an error of the method's. */
#define GIUSTO_ANSWER_REFUSED 1

/**
 * The label of the answer to a request that is no call of the service: its label, its length or one
 * of its words means nothing.
 */
#define GIUSTO_ANSWER_UNKNOWN UINT32_C(0xfffffffe)

/**
 * The label of what a caller gets whose server made an answer that cannot be sent: too long, or
 * without the buffer that it needs, or with a capability that may not be passed on; or whose server
 * finds, when it answers, that its endpoint is gone.
 */
#define GIUSTO_ANSWER_NOT_SENT UINT32_C(0xffffffff)

/** Nanoseconds from pulse to pulse; 50,000 at first. */
#define GIUSTO_PWM_PERIOD 0

/** How long each is, in nanoseconds: from 0 to the period. */
#define GIUSTO_PWM_DUTY 1

/** `ON`, `INTERRUPT`. */
#define GIUSTO_PWM_CONTROL 2

/** `ENDED`: write 1. */
#define GIUSTO_PWM_STATUS 3

/** Of the control: there are pulses. */
#define GIUSTO_PWM_ON 1

/** Of the control: it interrupts when a period ends. */
#define GIUSTO_PWM_INTERRUPT 2

/** Of the status: a period has ended. */
#define GIUSTO_PWM_ENDED 1

/** The shortest period, and the longest one: others are taken for these. */
#define GIUSTO_PWM_SHORTEST 1000

/** Likewise. */
#define GIUSTO_PWM_LONGEST 1000000000

/** `START`, `INTERRUPT`. */
#define GIUSTO_ADC_CONTROL 0

/** `DONE`, which reading the result clears, or `BUSY`. */
#define GIUSTO_ADC_STATUS 1

/** What was measured, 0 to `GREATEST`. */
#define GIUSTO_ADC_RESULT 2

/** Of the control: begins, unless it is busy. */
#define GIUSTO_ADC_START 1

/** Of the control: it interrupts when there is a result. */
#define GIUSTO_ADC_INTERRUPT 2

/** Of the status: there is a result that was not read. */
#define GIUSTO_ADC_DONE 1

/** Of the status: it measures. */
#define GIUSTO_ADC_BUSY 2

/** The greatest result. */
#define GIUSTO_ADC_GREATEST 4095

/** Nanoseconds that it measures. */
#define GIUSTO_ADC_TIME 10000

/** `INTERRUPT`. */
#define GIUSTO_ENCODER_CONTROL 0

/** `MOVED`: write 1. */
#define GIUSTO_ENCODER_STATUS 1

/** Counts since the start, as a signed number. */
#define GIUSTO_ENCODER_COUNT 2

/** It has moved when the count differs by so many from that of the last time; 1 at first. */
#define GIUSTO_ENCODER_EVERY 3

/** Of the control: it interrupts when it has moved. */
#define GIUSTO_ENCODER_INTERRUPT 2

/** Of the status: it has moved. */
#define GIUSTO_ENCODER_MOVED 1

/** What those pins have that are driven. */
#define GIUSTO_GPIO_OUT 0

/** What all have. */
#define GIUSTO_GPIO_IN 1

/** Pins that are driven; none at first. */
#define GIUSTO_GPIO_DRIVEN 2

/** Pins that interrupt when they go from 0 to 1. */
#define GIUSTO_GPIO_RISES 3

/** Pins that interrupt when they go from 1 to 0. */
#define GIUSTO_GPIO_FALLS 4

/** Pins that have done what they interrupt for: write 1. */
#define GIUSTO_GPIO_EDGES 5

/** Pins at most. */
#define GIUSTO_GPIO_PINS 64

/** `SEND`, `INTERRUPT`. */
#define GIUSTO_CAN_CONTROL 0

/** `SENDING`, `RECEIVED`, `LOST`. */
#define GIUSTO_CAN_STATUS 1

/** Id, length and bytes of the frame to send, the first byte lowest. */
#define GIUSTO_CAN_SEND_ID 2

/** Likewise. */
#define GIUSTO_CAN_SEND_LEN 3

/** Likewise. */
#define GIUSTO_CAN_SEND_DATA 4

/** Id, length and bytes of the first frame that was received. */
#define GIUSTO_CAN_ID 5

/** Likewise. */
#define GIUSTO_CAN_LEN 6

/** Likewise. */
#define GIUSTO_CAN_DATA 7

/** Written: the first frame that was received goes, and the next one is there. */
#define GIUSTO_CAN_NEXT 8

/** Of the control: sends, unless it is sending. */
#define GIUSTO_CAN_SEND 1

/** Of the control: it interrupts while there is a frame that was received. */
#define GIUSTO_CAN_INTERRUPT 2

/** Of the status: a frame is on its way. */
#define GIUSTO_CAN_SENDING 1

/** Of the status: there is a frame that was received. */
#define GIUSTO_CAN_RECEIVED 2

/** Of the status: one came when `ROOM` waited already, and is lost: write 1. */
#define GIUSTO_CAN_LOST 4

/** Frames that wait to be taken at most. */
#define GIUSTO_CAN_ROOM 8

/** Nanoseconds of a bit: 500 kbit/s. */
#define GIUSTO_CAN_BIT 2000

/** Bits of a frame beside its bytes. */
#define GIUSTO_CAN_BITS 47

/** Bytes of a frame at most. */
#define GIUSTO_CAN_BYTES 8

/**
 * `X(call, word, shift, wants, kinds, rights)` for each slot that a call is given, in the order in
 * which the kernel looks at them. It stands in one of three words that say what a call is about, so
 * far left. `wants`: 0, a capability of one of these kinds (a bit each; 0: any) with these rights;
 * 1, an empty slot; 2, an empty slot of another domain.
 */
#define GIUSTO_USES(X) \
    X(GIUSTO_CALL_IPC, 0, 0, 0, 0x208, 1) \
    X(GIUSTO_CALL_IPC, 0, 32, 0, 0x18, 2) \
    X(GIUSTO_CALL_CALL, 0, 0, 0, 0x208, 1) \
    X(GIUSTO_CALL_REPLY_WAIT, 0, 0, 0, 0x18, 2) \
    X(GIUSTO_CALL_SIGNAL, 0, 0, 0, 0x10, 1) \
    X(GIUSTO_CALL_YIELD, 0, 0, 0, 0x4, 1) \
    X(GIUSTO_CALL_CAP_COPY, 0, 0, 0, 0x0, 8) \
    X(GIUSTO_CALL_CAP_COPY, 1, 0, 1, 0x0, 0) \
    X(GIUSTO_CALL_CAP_DELETE, 0, 0, 0, 0x0, 0) \
    X(GIUSTO_CALL_CAP_REVOKE, 0, 0, 0, 0x0, 16) \
    X(GIUSTO_CALL_CAP_SAVE_REPLY, 0, 0, 1, 0x0, 0) \
    X(GIUSTO_CALL_CAP_INSPECT, 0, 0, 0, 0x0, 0) \
    X(GIUSTO_CALL_DESTROY, 0, 0, 0, 0x0, 32) \
    X(GIUSTO_CALL_ENDPOINT_CREATE, 0, 0, 1, 0x0, 0) \
    X(GIUSTO_CALL_ENDPOINT_CREATE, 1, 0, 0, 0x10, 2) \
    X(GIUSTO_CALL_NOTIFICATION_CREATE, 0, 0, 1, 0x0, 0) \
    X(GIUSTO_CALL_TIMER_CREATE, 0, 0, 1, 0x0, 0) \
    X(GIUSTO_CALL_TIMER_CREATE, 1, 0, 0, 0x10, 1) \
    X(GIUSTO_CALL_TIMER_SET, 0, 0, 0, 0x100, 1) \
    X(GIUSTO_CALL_INTERRUPT_ACK, 0, 0, 0, 0x20, 1) \
    X(GIUSTO_CALL_INTERRUPT_ROUTE, 0, 0, 0, 0x20, 1) \
    X(GIUSTO_CALL_MEMORY_CREATE, 0, 0, 1, 0x0, 0) \
    X(GIUSTO_CALL_MAP, 0, 0, 0, 0x2, 1) \
    X(GIUSTO_CALL_MAP, 1, 0, 0, 0x40, 0) \
    X(GIUSTO_CALL_MAP, 2, 0, 1, 0x0, 0) \
    X(GIUSTO_CALL_PROTECT, 0, 0, 0, 0x80, 1) \
    X(GIUSTO_CALL_MEMORY_ADDRESS, 0, 0, 0, 0x40, 64) \
    X(GIUSTO_CALL_PORT_READ, 0, 0, 0, 0x40, 1) \
    X(GIUSTO_CALL_PORT_WRITE, 0, 0, 0, 0x40, 2) \
    X(GIUSTO_CALL_DOMAIN_CREATE, 0, 0, 1, 0x0, 0) \
    X(GIUSTO_CALL_DOMAIN_GRANT, 0, 0, 0, 0x2, 1) \
    X(GIUSTO_CALL_DOMAIN_GRANT, 1, 0, 0, 0x0, 8) \
    X(GIUSTO_CALL_DOMAIN_GRANT, 2, 0, 2, 0x0, 0) \
    X(GIUSTO_CALL_THREAD_CREATE, 0, 0, 1, 0x0, 0) \
    X(GIUSTO_CALL_THREAD_CREATE, 1, 0, 0, 0x2, 1) \
    X(GIUSTO_CALL_THREAD_CREATE, 2, 0, 0, 0x8, 1) \
    X(GIUSTO_CALL_THREAD_EXCHANGE, 0, 0, 0, 0x4, 1) \
    X(GIUSTO_CALL_THREAD_RESUME, 0, 0, 0, 0x4, 1) \
    X(GIUSTO_CALL_THREAD_SUSPEND, 0, 0, 0, 0x4, 1) \
    X(GIUSTO_CALL_THREAD_PRIORITY, 0, 0, 0, 0x4, 1) \
    X(GIUSTO_CALL_THREAD_INSPECT, 0, 0, 0, 0x4, 1) \
    X(GIUSTO_CALL_THREAD_MIGRATE, 0, 0, 0, 0x4, 1) \
    X(GIUSTO_CALL_RESERVATION_CREATE, 0, 0, 1, 0x0, 0) \
    X(GIUSTO_CALL_RESERVATION_CREATE, 1, 0, 0, 0x1000, 4) \
    X(GIUSTO_CALL_RESERVATION_SET, 0, 0, 0, 0x1000, 1) \
    X(GIUSTO_CALL_RESERVATION_SET, 2, 0, 0, 0x10, 1) \
    X(GIUSTO_CALL_RESERVATION_JOIN, 0, 0, 0, 0x1000, 1) \
    X(GIUSTO_CALL_RESERVATION_JOIN, 1, 0, 0, 0x1000, 4) \
    X(GIUSTO_CALL_RESERVE, 0, 0, 0, 0x6, 1) \
    X(GIUSTO_CALL_RESERVE, 1, 0, 0, 0x1000, 2) \
    X(GIUSTO_CALL_RESERVATION_INSPECT, 0, 0, 0, 0x1000, 0) \
    X(GIUSTO_CALL_NAME, 0, 0, 0, 0x6, 1) \
    X(GIUSTO_CALL_CONSOLE_WRITE, 0, 0, 0, 0x400, 1) \
    X(GIUSTO_CALL_CONSOLE_READ, 0, 0, 0, 0x400, 1) \
    X(GIUSTO_CALL_SHUTDOWN, 0, 0, 0, 0x800, 1) \
    X(GIUSTO_CALL_INSPECT, 0, 0, 0, 0x800, 1) \
    X(GIUSTO_CALL_OBSERVE, 0, 0, 0, 0x800, 1) \
    X(GIUSTO_CALL_SERVE, 0, 0, 0, 0x18, 2) \
    X(GIUSTO_CALL_TRAIN_CREATE, 0, 0, 1, 0x0, 0) \
    X(GIUSTO_CALL_TRAIN_CALL, 0, 0, 0, 0x2000, 1)

/** `X(call, resource)` for each resource that a call uses up. */
#define GIUSTO_SPENDS(X) \
    X(GIUSTO_CALL_ENDPOINT_CREATE, GIUSTO_RESOURCE_ENDPOINTS) \
    X(GIUSTO_CALL_NOTIFICATION_CREATE, GIUSTO_RESOURCE_NOTIFICATIONS) \
    X(GIUSTO_CALL_TIMER_CREATE, GIUSTO_RESOURCE_TIMERS) \
    X(GIUSTO_CALL_MEMORY_CREATE, GIUSTO_RESOURCE_MEMORIES) \
    X(GIUSTO_CALL_MEMORY_CREATE, GIUSTO_RESOURCE_FRAMES) \
    X(GIUSTO_CALL_MAP, GIUSTO_RESOURCE_MAPPINGS) \
    X(GIUSTO_CALL_MAP, GIUSTO_RESOURCE_TABLES) \
    X(GIUSTO_CALL_DOMAIN_CREATE, GIUSTO_RESOURCE_DOMAINS) \
    X(GIUSTO_CALL_DOMAIN_CREATE, GIUSTO_RESOURCE_SLOTS) \
    X(GIUSTO_CALL_THREAD_CREATE, GIUSTO_RESOURCE_THREADS) \
    X(GIUSTO_CALL_THREAD_CREATE, GIUSTO_RESOURCE_TABLES) \
    X(GIUSTO_CALL_RESERVATION_CREATE, GIUSTO_RESOURCE_RESERVATIONS) \
    X(GIUSTO_CALL_TRAIN_CREATE, GIUSTO_RESOURCE_TRAINS) \
    X(GIUSTO_CALL_TRAIN_CREATE, GIUSTO_RESOURCE_STACKS)

#endif
