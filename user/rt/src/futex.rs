//! Futex calls, and the ids of threads in futexes (S2H). Mutexes and conditions themselves are in
//! the package `giusto-sync`, which uses these.

use crate::arch::{self, ANY, word};
use crate::ipc::Wait;
use crate::system;
use abi::Error;
use abi::call::{Call, Fact};
use abi::futex::{NO_CEILING, OWNER_DIED, helpers, number};

pub use abi::futex::{HELPERS, Scope, WAITERS};

/// How futexes know the calling thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Its id in those of the domain that it is in. It means nothing elsewhere. At home it does not
    /// change; each visit by a train has another one.
    pub own: u32,
    /// Its id in those of shared memory, of which the same is true.
    pub shared: u32,
    /// A number for its domain, that domains of other names hardly have; one that is made again
    /// has it again.
    pub domain: u32,
}

/// How futexes know the calling thread.
pub fn identity() -> Identity {
    let (own, shared) = system::fact(Fact::Identity).unwrap_or_default();
    Identity { own: own as u32, shared: shared as u32, domain: (own >> 32) as u32 }
}

/// Waits for the mutex at `address`, whose first word is `expected`, no longer than the send half
/// of a message with this limit might. The caller then owns it.
///
/// # Errors
///
/// [`Error::Changed`]: the word is another one; [`Error::Timeout`], [`Error::Cancelled`]; and if
/// the words are no mutex [`Error::BadAddress`], [`Error::BrokenQueue`] or
/// [`Error::InvalidArgument`].
pub fn mutex_wait(address: u64, scope: Scope, expected: u32, wait: Wait) -> Result<(), Error> {
    let a = [word(address), word(expected.into()), word(wait.deadline), ANY, ANY, ANY];
    let number = number(Call::MutexWait, scope, wait.send);
    arch::syscall(number, a, arch::words([])).status.result()
}

/// Hands the mutex at `address` to the thread that has waited longest, or frees it.
///
/// # Errors
///
/// [`Error::BadAddress`], [`Error::BrokenQueue`].
pub fn mutex_wake(address: u64, scope: Scope) -> Result<(), Error> {
    let number = number(Call::MutexWake, scope, Wait::NEVER.send);
    let a = [word(address), ANY, ANY, ANY, ANY, ANY];
    arch::syscall(number, a, arch::words([])).status.result()
}

/// Waits for the condition at `address`, whose first word is `expected`, and then for the mutex at
/// `mutex`, which the caller then owns.
///
/// # Errors
///
/// Those of [`mutex_wait`]; [`Error::OtherMutex`]: another thread waits for the condition with
/// another mutex. The caller does not own the mutex then.
pub fn cond_wait(
    address: u64,
    scope: Scope,
    expected: u32,
    mutex: u64,
    wait: Wait,
) -> Result<(), Error> {
    let a = [word(address), word(expected.into()), word(mutex), word(wait.deadline), ANY, ANY];
    let number = number(Call::CondWait, scope, wait.send);
    arch::syscall(number, a, arch::words([])).status.result()
}

/// Lets the thread that has waited longest for the condition at `address`, or all that do, wait for
/// their mutex, which the caller owns. Whether there was one.
///
/// # Errors
///
/// [`Error::WrongState`]: the caller does not own the mutex; [`Error::BadAddress`],
/// [`Error::BrokenQueue`].
pub fn cond_requeue(address: u64, scope: Scope, all: bool) -> Result<bool, Error> {
    let number = number(Call::CondRequeue, scope, Wait::NEVER.send);
    let a = [word(address), word(all.into()), ANY, ANY, ANY, ANY];
    let outcome = arch::syscall(number, a, arch::words([]));
    outcome.status.result().map(|()| outcome.badge != 0)
}

/// Waits for the inheriting mutex at `address` of the caller's domain, whose first word is
/// `expected`; otherwise as [`mutex_wait`]. Whether its last owner has ended.
///
/// # Errors
///
/// Those of [`mutex_wait`]; [`Error::Deadlock`]: the thread would wait for itself;
pub fn inherit_wait(address: u64, expected: u32, wait: Wait) -> Result<bool, Error> {
    let a = [word(address), word(expected.into()), word(wait.deadline), ANY, ANY, ANY];
    let number = number(Call::InheritWait, Scope::Domain, wait.send);
    let outcome = arch::syscall(number, a, arch::words([]));
    outcome.status.result().map(|()| outcome.badge == OWNER_DIED)
}

/// Hands the inheriting mutex at `address`, which the caller owns, to the thread of the highest
/// priority that waits for it, or frees it.
///
/// # Errors
///
/// [`Error::WrongState`]: the caller does not own it; [`Error::BadAddress`],
/// [`Error::BrokenQueue`].
pub fn inherit_wake(address: u64) -> Result<(), Error> {
    let number = number(Call::InheritWake, Scope::Domain, Wait::NEVER.send);
    let a = [word(address), ANY, ANY, ANY, ANY, ANY];
    arch::syscall(number, a, arch::words([])).status.result()
}

/// Waits for the inheriting condition at `address`, whose first word is `expected`, and then for
/// the inheriting mutex at `mutex`, which the caller then owns. While it waits for the condition,
/// which alone has a limit, it lends its priority to the threads with the ids of `help` (0: none).
/// Whether the mutex's last owner has ended.
///
/// # Errors
///
/// Those of [`inherit_wait`], without [`Error::Deadlock`]; [`Error::OtherMutex`]: another thread
/// waits for the condition with another mutex. The caller does not own the mutex then.
pub fn inherit_cond_wait(
    address: u64,
    expected: u32,
    mutex: u64,
    wait: Wait,
    help: [u32; HELPERS],
) -> Result<bool, Error> {
    let [first, second] = helpers(help);
    let a = [address, expected.into(), mutex, wait.deadline, first, second].map(word);
    let number = number(Call::InheritCondWait, Scope::Domain, wait.send);
    let outcome = arch::syscall(number, a, arch::words([]));
    outcome.status.result().map(|()| outcome.badge == OWNER_DIED)
}

/// Lets the thread of the highest priority that waits for the inheriting condition at `address`, or
/// all that do, wait for their mutex, which the caller owns.
///
/// # Errors
///
/// [`Error::WrongState`]: the caller does not own the mutex; [`Error::BadAddress`],
/// [`Error::BrokenQueue`].
pub fn inherit_requeue(address: u64, all: bool) -> Result<(), Error> {
    let number = number(Call::InheritRequeue, Scope::Domain, Wait::NEVER.send);
    let a = [word(address), word(all.into()), ANY, ANY, ANY, ANY];
    arch::syscall(number, a, arch::words([])).status.result()
}

/// The thread of the caller's domain with this id helps the inheriting condition at `address` from
/// now on, or no longer. What is said while no thread waits is forgotten: each wait says it.
///
/// # Errors
///
/// [`Error::Stale`]: no thread of the domain has the id, or it has ended. While threads wait:
/// [`Error::HelpsAlready`], [`Error::NoHelper`], [`Error::TooManyHelpers`].
/// [`Error::BadAddress`], [`Error::BrokenQueue`].
pub fn inherit_help(address: u64, helper: u32, helps: bool) -> Result<(), Error> {
    let number = number(Call::InheritHelp, Scope::Domain, Wait::NEVER.send);
    let a = [word(address), word(helper.into()), word(helps.into()), ANY, ANY, ANY];
    arch::syscall(number, a, arch::words([])).status.result()
}

/// Sets the priority that the calling thread has at least; `None`: none. Its own priority, without
/// what it inherits.
///
/// # Errors
///
/// [`Error::PriorityTooHigh`]: its domain may not have this priority; [`Error::WrongState`]: it is
/// inside another domain; [`Error::OnReservation`]: it has a reservation of its own, whose class
/// says when it runs.
pub fn set_ceiling(ceiling: Option<u8>) -> Result<u8, Error> {
    let number = number(Call::Ceiling, Scope::Domain, Wait::NEVER.send);
    let a = [word(ceiling.map_or(NO_CEILING, u64::from)), ANY, ANY, ANY, ANY, ANY];
    let outcome = arch::syscall(number, a, arch::words([]));
    outcome.status.result().map(|()| outcome.badge as u8)
}
