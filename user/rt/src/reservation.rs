//! Reservations of CPU time, under the kernel `tree`: leaves that threads run on, and classes that
//! divide what they have.
//!
//! ```no_run
//! use core::time::Duration;
//! use rt::abi::reservation::{Budget, Server, Share};
//! use rt::{Env, Error, Slot, reservation};
//!
//! /// At most a quarter of the CPU for a thread, in the fixed-priority class `class`.
//! fn limit(class: Slot, leaf: Slot, thread: Slot) -> Result<(), Error> {
//!     reservation::create_leaf(leaf, class, Share::Priority(300))?;
//!     let (quarter, period) = (Duration::from_millis(5), Duration::from_millis(20));
//!     let limit = reservation::budget(Server::Periodic, quarter, period);
//!     reservation::set_budget(leaf, Some(limit))?;
//!     reservation::run_on(thread, leaf)
//! }
//! ```
//!
//! What changes a reservation needs its CPU among those that the caller's domain may use, or all
//! CPUs for one that they share, and fails with [`Error::CpuNotAllowed`] otherwise.

use crate::arch::{self, ANY, Outcome, word};
use crate::noted;
use crate::system::{done, simple};
use crate::{Error, Slot};
use abi::call::{Call, Setting};
use abi::reservation::{Budget, Job, Jobs, Policy, Server, Share, Timing, UNSERVED, Window, Words};
use core::time::Duration;

/// What a reservation has had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// CPU time, in nanoseconds.
    pub service: u64,
    /// How often its budget was exhausted.
    pub overruns: u32,
    /// Its node, as tables call it.
    pub node: u32,
    /// Its jobs; zeros for a class.
    pub jobs: Jobs,
}

/// Creates a leaf in a class.
///
/// # Errors
/// [`Error::InvalidArgument`]: the share is not of the class's kind. [`Error::Overcommitted`],
/// [`Error::TooDeep`], [`Error::WrongState`]: `class` is a leaf. [`Error::UnknownCall`]: the kernel
/// has no scheduling tree. [`Error::QuotaExceeded`], [`Error::PoolExhausted`].
pub fn create_leaf(slot: Slot, class: Slot, share: Share) -> Result<(), Error> {
    create(slot, class, 0, share)
}

/// Creates a class of this policy in a class.
///
/// # Errors
/// As for [`create_leaf`]; [`Error::InvalidArgument`] also for time partitions anywhere but
/// directly below the root of a CPU.
pub fn create_class(slot: Slot, class: Slot, policy: Policy, share: Share) -> Result<(), Error> {
    create(slot, class, policy as u64, share)
}

fn create(slot: Slot, class: Slot, policy: u64, share: Share) -> Result<(), Error> {
    let (code, words) = share.encode();
    send(Call::ReservationCreate, [slot.word(), class.word(), policy, code], words)
}

/// Changes what a reservation is among its siblings.
///
/// # Errors
/// [`Error::InvalidArgument`], [`Error::Overcommitted`]; [`Error::WrongState`] for a root.
pub fn set_share(slot: Slot, share: Share) -> Result<(), Error> {
    let (code, words) = share.encode();
    set(slot, Setting::Share, code, words)
}

/// Gives a reservation a limit, another one, or none; it begins with its whole budget.
///
/// # Errors
/// [`Error::BudgetTooSmall`]: it is below the least budget, [`abi::reservation::LEAST_BUDGET`].
/// [`Error::InvalidArgument`]: it is above the period, that is out of bounds, or it is a class of
/// service curves inside another one. [`Error::Overcommitted`].
pub fn set_budget(slot: Slot, budget: Option<Budget>) -> Result<(), Error> {
    set(slot, Setting::Budget, 0, Budget::encode(budget))
}

/// A limit.
pub fn budget(server: Server, budget: Duration, period: Duration) -> Budget {
    Budget::new(server, nanoseconds(budget), nanoseconds(period))
}

/// Gives the jobs of a leaf a relative deadline and a least separation, or none.
///
/// # Errors
/// [`Error::InvalidArgument`]: one is out of bounds. [`Error::WrongState`]: it is a class.
pub fn set_timing(slot: Slot, timing: Option<(Duration, Duration)>) -> Result<(), Error> {
    let timing = timing.map(|(deadline, period)| Timing {
        deadline: nanoseconds(deadline),
        period: nanoseconds(period),
    });
    set(slot, Setting::Timing, 0, Timing::encode(timing))
}

/// Gives a class of time partitions these windows, the first of which begins now.
///
/// # Errors
/// [`Error::InvalidArgument`]: a window does not end behind the one before, or there are too many;
/// the windows before it are set. [`Error::WrongState`]: it is no such class.
pub fn set_windows(slot: Slot, windows: &[Window]) -> Result<(), Error> {
    set(slot, Setting::Frame, 0, [crate::system::clock(), 0, 0, 0])?;
    windows.iter().try_for_each(|window| {
        set(slot, Setting::Window, 0, [window.end, window.partition.into(), 0, 0])
    })
}

/// Lets a notification be signalled from now on: with the bits `missed` when a job of a leaf has
/// not ended by its deadline, and with `overran` when its budget is used up. Zero bits stand for no
/// signal, and [`Slot::NONE`] for no monitor. Misses and overruns that come before the monitor
/// looks are one signal: [`usage`] counts them. A miss is told at its instant, but behind what is
/// above both the leaf and the thread that calls this, if that runs on the leaf's CPU.
///
/// # Errors
/// [`Error::InvalidArgument`]: the capability to the notification has a badge without these bits.
/// [`Error::MissingRight`]: `control` of the reservation, or `send` on the notification.
/// [`Error::WrongState`]: it is a root. [`Error::UnknownCall`]: the kernel has no scheduling tree.
pub fn set_monitor(slot: Slot, notification: Slot, missed: u64, overran: u64) -> Result<(), Error> {
    set(slot, Setting::Monitor, notification.word(), [missed, overran, 0, 0])
}

/// Lets a reservation run on where its CPU would idle, without using budgets: with `overrun` when
/// its budget is used up, until that comes back, with `miss` when a job of a leaf has not ended by
/// its deadline, until it ends. In a class that waits for budget itself, or has windows, and in the
/// one that all CPUs share, it waits as if that were not wanted; and so does a class in which all
/// wait for budgets of their own.
///
/// # Errors
/// [`Error::InvalidArgument`]: a class has no jobs to miss. [`Error::WrongState`]: it is a root.
pub fn set_background(slot: Slot, overrun: bool, miss: bool) -> Result<(), Error> {
    set(slot, Setting::Background, 0, [overrun.into(), miss.into(), 0, 0])
}

/// Moves a reservation into another class of the same CPU.
///
/// # Errors
/// [`Error::CpuNotAllowed`]: it is of another CPU, or of one that the caller's domain may not use.
/// [`Error::WrongState`]: the class is inside the reservation, or this is a class of service curves
/// in use. Else as for [`create_leaf`].
pub fn join(slot: Slot, class: Slot, share: Share) -> Result<(), Error> {
    let (code, words) = share.encode();
    send(Call::ReservationJoin, [slot.word(), class.word(), code, 0], words)
}

/// Lets a thread run on a leaf, or all threads that a domain will have; [`Slot::NONE`] stands for
/// the leaf of the thread's domain, or of the domain's owner.
///
/// # Errors
/// [`Error::WrongState`]: it is a class, or the domain has threads. [`Error::CpuNotAllowed`]: the
/// leaf is of another CPU than the thread. [`Error::UnknownCall`]: the kernel has no scheduling
/// tree.
pub fn run_on(thread_or_domain: Slot, leaf: Slot) -> Result<(), Error> {
    done(Call::Reserve, [thread_or_domain.word(), leaf.word()])
}

/// What a reservation has had up to the CPU's last decision.
///
/// # Errors
/// [`Error::UnknownCall`]: the kernel has no scheduling tree.
pub fn usage(slot: Slot) -> Result<Usage, Error> {
    let inspected = simple(Call::ReservationInspect, [slot.word(), 0]);
    let Outcome { status, badge, info, words } = inspected;
    status.result()?;
    let [ended, missed, worst, latest] = words;
    let jobs = Jobs { ended, missed, worst, latest };
    let (overruns, node) = (info.0 as u32, (info.0 >> 32) as u32);
    Ok(Usage { service: badge, overruns, node, jobs })
}

/// The job of a leaf that is released and has not ended, or else the last one, as it is now.
///
/// # Errors
/// [`Error::WrongState`]: it is a class. [`Error::UnknownCall`]: the kernel has no scheduling tree.
pub fn job(slot: Slot) -> Result<Job, Error> {
    let inspected = simple(Call::ReservationInspect, [slot.word(), 1]);
    let Outcome { status, badge: number, info, words: [response, late, ..] } = inspected;
    status.result()?;
    Ok(Job { number, response, late, is_over: info.0 == 1 })
}

/// What was left of the budgets of a periodic server when their periods ended, in nanoseconds,
/// while something inside was ready: others had the CPU. Up to the CPU's last decision about it; 0
/// of other servers.
///
/// # Errors
/// [`Error::UnknownCall`]: the kernel has no scheduling tree.
pub fn unserved(slot: Slot) -> Result<u64, Error> {
    let inspected = simple(Call::ReservationInspect, [slot.word(), UNSERVED]);
    inspected.status.result().map(|()| inspected.badge)
}

fn set(slot: Slot, setting: Setting, code: u64, words: Words) -> Result<(), Error> {
    send(Call::ReservationSet, [slot.word(), setting as u64, code, 0], words)
}

fn send(call: Call, [a, b, c, d]: [u64; 4], words: Words) -> Result<(), Error> {
    let arguments = [word(a), word(b), word(c), word(d), ANY, ANY];
    let outcome = arch::syscall(call as u64, arguments, arch::words(words));
    // A slot stands in the last one where a monitor is set, and nowhere else.
    let slot = if b == Setting::Monitor as u64 { c } else { 0 };
    noted::result(outcome.status, call, [a, b, slot])
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
