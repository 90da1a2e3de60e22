//! `futex-cost`: what calls on futexes cost, by waiters and futexes (S2H-E01).

pub mod across;
mod claims;
mod measure;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "futex-cost",
    about: "What calls on futexes cost, by waiters and futexes, and beside an attack",
    ledger: &[
        "S2H-E01", "S2H-08", "S2H-09", "S2H-C01", "S2H-C02", "S2H-C03", "S2H-C04", "S2H-C05",
        "S2H-C06",
    ],
    golden: true,
    machines: &[Measure::Emulated(measure::measure)],
    kernels: &KERNELS,
    metrics: &METRICS,
    cases: &[],
    parameters: &[Parameter::count(
        "rounds",
        [4, 64],
        &[16],
        "of each operation of a case; of a requeue of \
             all and of a deadline a quarter",
    )
    .sets("rounds")],
    conditions: &[
        ("waiters", "that wait for the mutex or condition, with the one that the call is about"),
        ("futexes", "that threads wait for: one each, but for the measured one's waiters"),
        ("links", "threads that have the priority of a waiter, one behind the other, as it waits"),
        ("attack", "seven threads of another domain write over their words and make every call"),
    ],
    notes: &[
        "Spans are from counter read to counter read, stubs included. `mutex-wait` and `cond-wait` \
         end, and `mutex-wake` too, in the thread that runs next: the block, or the wake-up, is a \
         part of them.",
        "`timeout` begins at the last counter value that a lower thread stored, and ends in the \
         thread whose deadline ended: interrupt, timer, wake-up. `sleep` is the same for a thread \
         that waits for nothing, and `dequeue` what `timeout` takes more.",
        "`hashed-wait` and `hashed-wake` are of a program's model of queues in a hash table whose \
         keys fall into one bucket: no kernel entry and no thread has a part in them.",
        "`boost` is a wait for an inheriting mutex whose owner waits for the next, and so on, to \
         where the last owner goes on: its growth is what a link takes.",
        "With one waiter a wait begins a queue, and a wake-up ends it.",
    ],
    claims: claims::claims,
    ..Experiment::USUAL
};

/// One that is fast on messages, and the one that keeps its ready queue exactly.
const KERNELS: [&str; 2] = ["fastpath", "strict-eager"];

const MUTEX_WAIT: &str = "mutex-wait";
const MUTEX_WAKE: &str = "mutex-wake";
const COND_WAIT: &str = "cond-wait";
const REQUEUE_ONE: &str = "cond-requeue";
const REQUEUE_ALL: &str = "cond-requeue-all";
const TIMEOUT: &str = "timeout";
const SLEEP: &str = "sleep";
const DEQUEUE: &str = "dequeue";
const LOCK: &str = "lock";
const UNLOCK: &str = "unlock";
const INHERIT_LOCK: &str = "inherit-lock";
const INHERIT_UNLOCK: &str = "inherit-unlock";
const BOOST: &str = "boost";
const HASHED_WAIT: &str = "hashed-wait";
const HASHED_WAKE: &str = "hashed-wake";
/// A fact: calls of the attack that the kernel was not harmed by.
const CALLS: &str = "calls of the attack";

/// By their numbers in the recording, from 1.
const RECORDED: [&str; 14] = [
    MUTEX_WAIT,
    MUTEX_WAKE,
    COND_WAIT,
    REQUEUE_ONE,
    REQUEUE_ALL,
    TIMEOUT,
    SLEEP,
    LOCK,
    UNLOCK,
    INHERIT_LOCK,
    INHERIT_UNLOCK,
    HASHED_WAIT,
    HASHED_WAKE,
    BOOST,
];
/// These, and what follows from two of them.
const METRICS: [&str; RECORDED.len() + 1] = {
    let mut all = [DEQUEUE; RECORDED.len() + 1];
    all.split_at_mut(RECORDED.len()).0.copy_from_slice(&RECORDED);
    all
};
/// The kernel's operations of the ledger.
const OPERATIONS: [&str; 6] =
    [MUTEX_WAIT, MUTEX_WAKE, COND_WAIT, REQUEUE_ONE, REQUEUE_ALL, TIMEOUT];
/// Of free mutexes.
const FREE: [&str; 4] = [LOCK, UNLOCK, INHERIT_LOCK, INHERIT_UNLOCK];

/// Waiters, with one futex.
const WAITERS: [u64; 7] = [1, 2, 4, 16, 64, 256, 1024];
/// Futexes, with one waiter.
const FUTEXES: [u64; 6] = [1, 4, 16, 64, 256, 1024];

/// Threads in a row that one waits for.
const LINKS: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// A case of [`BOOST`].
fn row(links: u64) -> String {
    format!("links={links}")
}

/// A case.
fn case(waiters: u64, futexes: u64) -> String {
    format!("waiters={waiters} futexes={futexes}")
}

/// All cases, in the program's order.
fn cases() -> Vec<String> {
    let more = FUTEXES.into_iter().skip(1).map(|futexes| case(1, futexes));
    WAITERS.into_iter().map(|waiters| case(waiters, 1)).chain(more).collect()
}

/// Cases that should cost the same: those in which others wait already, and those in which none
/// does.
fn alike() -> [Vec<String>; 2] {
    [
        WAITERS.into_iter().skip(1).map(|waiters| case(waiters, 1)).collect(),
        FUTEXES.into_iter().map(|futexes| case(1, futexes)).collect(),
    ]
}

/// Operations that an attack is measured beside.
const ATTACKED: [&str; 5] = [MUTEX_WAIT, MUTEX_WAKE, COND_WAIT, REQUEUE_ONE, REQUEUE_ALL];

/// The same beside an attack.
fn attacked(case: &str) -> String {
    format!("{case} beside=attack")
}
