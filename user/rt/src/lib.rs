//! What a Giusto program links.
//!
//! A program is a library function `fn(&Env)`; [`entry!`] makes a binary of it. Everything that
//! it may use stands in its [`Env`]: capabilities by name, shared memory, arguments, stacks for
//! further threads. Programs hold no statics: whatever a function needs is passed to it.
//!
//! | module | what |
//! |---|---|
//! | [`ipc`] | the message primitive and its forms |
//! | [`cap`] | copying, revoking, inspecting and destroying capabilities |
//! | [`signal`] | endpoints, notifications, timers, interrupts |
//! | [`memory`], [`thread`], [`domain`] | the objects of these names |
//! | [`system`] | clock, facts, statistics, the end of the run |
//! | [`console`], [`record`], [`statistics`] | text and figures for people and the laboratory |
//! | [`arch`] | the machine: system call instruction, cycle counter, probes |
#![no_std]
#![deny(unsafe_code)]

#[allow(unsafe_code)]
pub mod arch;
pub mod cap;
pub mod console;
pub mod domain;
pub mod env;
pub mod ipc;
pub mod memory;
pub mod record;
pub mod shared;
pub mod signal;
mod start;
pub mod statistics;
pub mod system;
pub mod thread;
pub mod trace;

pub use abi;
pub use abi::{Error, Info, Kind, PAGE, Rights, Status};
pub use console::Console;
pub use env::{Env, Slots};
pub use ipc::{Message, Received, Wait};
pub use record::Recorder;
pub use shared::{Buffer, Words};
pub use start::{PANIC_STATUS, exit, run};

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
