//! A network stack whose driver is at the other side of a pair of rings.
//!
//! [`Link`] is the network interface that smoltcp sees; [`Stack`] is what clients' sockets are made
//! of. Both make no system call: a program gives them signals, times and requests.
#![no_std]
#![forbid(unsafe_code)]

mod link;
mod stack;
mod waiting;

pub use link::{FRAME, LAYOUT, Link};
pub use stack::{Buffers, SOCKETS, Slots, Stack, WORK};
