//! Receive reservations: how many packets of a flow may be received and not yet read.
//!
//! A driver classifies each frame before it signals anything ([`Key::of`], [`Reservations::find`]).
//! If the most specific reservation of its flow has a unit left, the frame takes it
//! ([`Reservations::take`]); otherwise it is dropped at once. The unit comes back when the receiver
//! has read the packet and no copy of the buffer is left ([`Reservations::release`]).
#![no_std]
#![forbid(unsafe_code)]

mod key;
mod table;

pub use key::{Flow, Key};
pub use table::{Dropped, End, Id, NotRemoved, Reservation, Reservations, TooMany};
