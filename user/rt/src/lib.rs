//! What a Giusto program links.
//!
//! A program is a library function `fn(&Env)`; [`entry!`] makes a binary of it. Everything that
//! it may use stands in its [`Env`]: capabilities by name, shared memory, arguments, stacks for
//! further threads. Programs hold no statics: whatever a function needs is passed to it.
//!
//! [`prelude`] brings what most programs need. The page `docs/rt.md` shows how it is used.
//!
//! | module | what |
//! |---|---|
//! | [`server`], [`request`] | a loop that answers requests, which no client can end |
//! | [`time`], [`ticker`] | instants, sleeping, periodic releases |
//! | [`slots`], [`window`], [`mapping`] | slots and addresses that come back; mapped memory |
//! | [`inbox`], [`guard`] | capabilities that come with messages; memory that may be taken away |
//! | [`build`], [`failed`] | messages of any length; which half of an operation failed |
//! | [`ipc`] | the message primitive and its forms |
//! | [`cap`] | copying, revoking, inspecting and destroying capabilities |
//! | [`device`] | devices to control |
//! | [`signal`] | endpoints, notifications, timers, interrupts |
//! | [`memory`], [`thread`], [`domain`] | the objects of these names |
//! | [`reservation`] | CPU time: leaves that threads run on, classes that divide it |
//! | [`sched`], [`stack`] | what all threads and reservations are like, and changes of that |
//! | [`system`] | clock, facts, statistics, the end of the run |
//! | [`log`], [`console`] | time-stamped lines that stay; text for people |
//! | [`record`], [`statistics`] | figures for people and the laboratory |
//! | [`futex`] | calls on mutexes and conditions, which the crate `sync` uses |
//! | `lock` | with the feature `lock_api`: mutexes and reader-writer locks of that crate |
//! | [`arch`] | the machine: system call instruction, cycle counter, probes |
#![no_std]
#![deny(unsafe_code)]

#[allow(unsafe_code)]
pub mod arch;
mod bitmap;
pub mod build;
mod bytes;
pub mod cap;
pub mod console;
pub mod device;
pub mod domain;
pub mod env;
pub mod failed;
pub mod futex;
pub mod guard;
mod heartbeat;
pub mod inbox;
pub mod ipc;
pub mod log;
#[cfg(test)]
mod machine;
pub mod mapping;
pub mod memory;
pub mod monitor;
mod noted;
mod panicked;
pub mod ports;
pub mod prelude;
pub mod record;
pub mod request;
pub mod reservation;
pub mod sched;
pub mod server;
pub mod shared;
pub mod signal;
pub mod slots;
pub mod stack;
mod start;
pub mod statistics;
pub mod system;
pub mod thread;
pub mod ticker;
pub mod time;
pub mod trace;
pub mod train;
mod why;
pub mod window;

#[cfg(test)]
extern crate std;

pub use abi;
pub use abi::{Error, Info, Kind, PAGE, Rights, Status};
pub use console::Console;
pub use env::{Env, Slots};
pub use failed::{Failed, Half};
pub use guard::Guard;
pub use heartbeat::Heartbeat;
pub use inbox::Inbox;
pub use ipc::{Message, Received, Wait};
pub use log::Log;
pub use mapping::{At, Mapping, MemoryObject};
pub use record::Recorder;
pub use request::{Fault, FaultReply, Request};
pub use server::Server;
#[cfg(all(feature = "lock_api", target_os = "none"))]
pub use shared::lock;
pub use shared::{Buffer, Words};
pub use slots::{OwnedSlot, SlotPool};
pub use start::{PANIC_STATUS, exit, run};
pub use ticker::Ticker;
pub use time::Instant;
pub use why::Why;
pub use window::Window;

/// The number of a slot in the domain's capability table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u32);

impl Slot {
    /// No slot: where a capability may be left out, or a half of an IPC operation.
    pub const NONE: Slot = Slot(abi::call::NOTHING);
    /// The reply right that the thread holds; in a receive half, the reply to this call.
    pub const REPLY: Slot = Slot(abi::call::REPLY);

    /// The slot as a system call argument.
    pub const fn word(self) -> u64 {
        self.0 as u64
    }
}

/// Makes a program of a function `fn(&rt::Env)`.
#[macro_export]
macro_rules! entry {
    ($main:path) => {
        #[unsafe(no_mangle)]
        extern "C" fn program_main(environment: u64) -> ! {
            $crate::run(environment, $main)
        }
    };
}
