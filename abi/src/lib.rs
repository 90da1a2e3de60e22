//! What the kernel, the programs that run on it and the laboratory agree on: system call numbers,
//! messages, rights, errors, the boot archive and the layout of recorded results.
//!
//! Nothing here depends on a machine: a port maps the abstract registers of [`call`] to real ones.
#![no_std]
#![forbid(unsafe_code)]

pub mod account;
pub mod adaptive;
pub mod answer;
pub mod bandwidth;
pub mod boot;
pub mod call;
pub mod control;
pub mod device;
pub mod env;
pub mod error;
pub mod files;
pub mod futex;
pub mod layout;
pub mod log;
pub mod message;
pub mod object;
pub mod reservation;
pub mod results;
pub mod rights;
pub mod rtsim;
pub mod statistics;
pub mod supervision;
pub mod trace;
pub mod train;
pub mod uses;

pub use error::{Error, Status};
pub use message::Info;
pub use object::Kind;
pub use rights::Rights;

/// Bytes in a page, the unit of mapping and of memory objects. Programs are compiled for this size;
/// the kernel asks its port.
pub const PAGE: u64 = 4096;

/// First address above user space, as programs are compiled for it. The page that begins here, the
/// last of the lower half, is never mapped: no user instruction pointer can run over the end.
pub const USER_TOP: u64 = 0x0000_7fff_ffff_f000;

/// Priorities are `0..PRIORITIES`; a larger number is more important (S0-05).
pub const PRIORITIES: usize = 256;
