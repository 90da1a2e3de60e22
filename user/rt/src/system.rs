//! The kernel itself: clock, facts, statistics, the end of the run.

use crate::Slot;
use crate::arch::{self, ANY, Outcome, word};
use crate::ipc::{Wait, receive};
use crate::noted;
use abi::boot::{MOST_NAME, name_words};
use abi::call::{BLOCK_WORDS, Call, Fact, Observe, Table};
use abi::message::PANIC_STATUS;
use abi::statistics::Counter;
use abi::{Error, Status};

/// A system call with no message words.
#[inline(always)]
pub(crate) fn simple<const N: usize>(call: Call, arguments: [u64; N]) -> Outcome {
    let mut a = [ANY; 6];
    for (to, value) in a.iter_mut().zip(arguments) {
        *to = word(value);
    }
    arch::syscall(call as u64, a, arch::words([]))
}

/// A system call that has no results, and is about its first arguments.
#[inline(always)]
pub(crate) fn done<const N: usize>(call: Call, arguments: [u64; N]) -> Result<(), Error> {
    results(call, arguments).map(|_| ())
}

/// The results of a system call that is about its first arguments.
#[inline(always)]
pub(crate) fn results<const N: usize>(call: Call, arguments: [u64; N]) -> Result<Outcome, Error> {
    let outcome = simple(call, arguments);
    let about = core::array::from_fn(|index| arguments.get(index).copied().unwrap_or(0));
    noted::result(outcome.status, call, about)?;
    Ok(outcome)
}

/// Any system call without message words; its status undigested.
#[inline(always)]
pub fn status<const N: usize>(call: Call, arguments: [u64; N]) -> Status {
    simple(call, arguments).status
}

/// Names what is in a slot.
pub(crate) fn name(slot: Slot, name: &str) -> Result<(), Error> {
    if name.len() > MOST_NAME {
        return Err(Error::InvalidArgument);
    }
    let [low, high] = name_words(name);
    done(Call::Name, [slot.word(), low, high])
}

/// Enters the kernel and leaves it.
#[inline(always)]
pub fn null() -> Result<(), Error> {
    done(Call::Null, [])
}

/// Nanoseconds since boot.
pub fn clock() -> u64 {
    simple(Call::Clock, []).badge
}

/// Waits until an instant in nanoseconds since boot.
pub fn sleep_until(instant: u64) {
    // Nothing can arrive, so the only way out is the deadline.
    let _ = receive(Slot::NONE, Wait::until(instant));
}

/// Waits for some nanoseconds.
pub fn sleep(nanoseconds: u64) {
    sleep_until(clock().saturating_add(nanoseconds));
}

/// Two words of a fact about the kernel.
pub fn fact(fact: Fact) -> Result<(u64, u64), Error> {
    let outcome = simple(Call::Fact, [fact as u64, 0]);
    outcome.status.result().map(|()| (outcome.badge, outcome.info.0))
}

/// A row of a table of statistics.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The two results.
    pub results: [u64; 2],
    /// The message words.
    pub words: [u64; 4],
}

/// Reads a row of a table.
pub fn inspect(system: Slot, table: Table, index: u64) -> Result<Row, Error> {
    let outcome = results(Call::Inspect, [system.word(), table as u64, index])?;
    Ok(Row { results: [outcome.badge, outcome.info.0], words: outcome.words })
}

/// Steers the statistics or the trace; `value` matters to marks only. A kernel that was built
/// without what is asked for refuses with [`Error::UnknownCall`].
pub fn observe(system: Slot, what: Observe, value: u64) -> Result<(), Error> {
    done(Call::Observe, [system.word(), what as u64, value])
}

/// A counter of the first CPU, since the last [`Observe::Reset`]. A kernel that was built without
/// statistics refuses with [`Error::InvalidArgument`].
pub fn counter(system: Slot, counter: Counter) -> Result<u64, Error> {
    counter_of(system, 0, counter)
}

/// A [`counter`] of a CPU. One that does not exist is refused with [`Error::InvalidArgument`].
pub fn counter_of(system: Slot, cpu: u64, counter: Counter) -> Result<u64, Error> {
    Ok(inspect(system, Table::Counter, cpu << 32 | counter as u64)?.results[0])
}

/// How often the ready queue of the first CPU had this length, below
/// [`LENGTHS`](abi::statistics::LENGTHS), since the last [`Observe::Reset`]. Refuses as
/// [`counter`] does.
pub fn length(system: Slot, length: usize) -> Result<u64, Error> {
    Ok(inspect(system, Table::Length, length as u64)?.results[0])
}

/// How long a CPU has run a thread, by its index, in steps of the counter: from switch to switch,
/// with what the kernel and interrupts did meanwhile. A kernel that was built without statistics
/// refuses with [`Error::InvalidArgument`], as do threads from [`TIMED`](abi::statistics::TIMED)
/// on.
pub fn time(system: Slot, cpu: u64, thread: u64) -> Result<u64, Error> {
    Ok(inspect(system, Table::Time, cpu << 32 | thread)?.results[0])
}

/// Of the [`BLOCK_WORDS`] words from an address of a domain, by its index,
/// how many are zero before the first that is not; `None`: nothing is mapped there. The address is
/// rounded down to as many words; from 512 GiB on it is refused with [`Error::InvalidArgument`].
pub fn zeros(system: Slot, domain: u64, address: u64) -> Result<Option<u64>, Error> {
    let block = address / (8 * BLOCK_WORDS as u64);
    if block >> 32 != 0 {
        return Err(Error::InvalidArgument);
    }
    let [mapped, zeros] = inspect(system, Table::Block, block << 32 | domain)?.results;
    Ok((mapped != 0).then_some(zeros))
}

/// Computes for `n` units of time: instructions on a machine that counts them.
#[inline(always)]
pub fn work(n: u64) {
    arch::work(n);
}

/// [`work`] for long stretches, to within 32 units: quicker where the machine is emulated.
#[inline(always)]
pub fn long_work(n: u64) {
    arch::long_work(n);
}

/// Ends the run with an exit status, of which 32 bits count.
pub fn shutdown(system: Slot, status: u64) -> Result<(), Error> {
    done(Call::Shutdown, [system.word(), status & 0xffff_ffff])
}

/// Ends the run for a panic at a place of the program, as [`abi::message::PANIC`] says; 0 if it is
/// not known.
pub(crate) fn shutdown_in_panic(system: Slot, place: u64) -> Result<(), Error> {
    done(Call::Shutdown, [system.word(), place << 32 | PANIC_STATUS])
}
