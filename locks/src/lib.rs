//! What guards the kernel's objects when several CPUs enter it.
//!
//! A lock policy is a type, chosen per kernel ([`LockPolicy`]): the core says how it enters (as a
//! reader, or as a writer that may touch everything) and which objects a step touches, and the
//! policy decides what that costs. Below it lie the locks:
//!
//! | lock | for | taking it touches |
//! |---|---|---|
//! | [`Clh`] | the kernel as one | the tail, the predecessor's line, an own one |
//! | [`Ticket`] | one object or queue | its line |
//! | [`BigReader`] | readers of the kernel against writers | a reader: its CPU's line |
//! | [`Elided`] | the kernel as one, by transactions | as a transaction: writes nothing |
//!
//! Locks here are guards, not containers: they own no data, but for the [`Registers`] of a device
//! that two writes at once would mix up. So they need nothing but atomics, and
//! the proof that an object may be touched is the kernel's. Every spin calls a [`Relax`], which
//! the machine supplies. Atomics come from `sync`, where models replace them.
#![cfg_attr(not(any(test, feature = "loom")), no_std)]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as locks;

mod big_reader;
mod clh;
mod elided;
mod handoff;
mod indexed;
mod line;
mod lock_policy;
mod object;
mod relax;
#[cfg(all(test, not(feature = "loom")))]
mod sim;
mod sync;
mod ticket;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../tests/toy/mod.rs"]
mod toy;
mod transactions;

pub use big_reader::BigReader;
pub use clh::{Clh, Seat};
pub use elided::{ATTEMPTS, Cause, Counts, Elided, ElidedSeat, LOCK_HELD};
pub use handoff::Handoff;
pub use indexed::{Indexed, Registers};
pub use line::Line;
pub use lock_policy::{Big, Elision, Fine, Kind, LockPolicy, Never, Unlocked};
pub use object::{Holding, MOST, ObjectLock, Ordered, PLANS};
pub use relax::{Pause, Relax};
pub use ticket::Ticket;
pub use transactions::{Abort, Attempt, NoTransactions, Transactions};
