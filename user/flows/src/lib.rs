//! Receive reservations: how many packets of a flow may be received and not yet read.
//!
//! A driver classifies each frame before it passes it on ([`Gate::admit`]). A frame whose
//! reservation has a unit left takes it; any other one is dropped at once. The server says by words
//! of shared memory what became of the frame ([`Units::end`]): the unit comes back when the
//! receiver has read it. It never comes back for more packets than took one, whatever the server
//! says.
#![no_std]
#![forbid(unsafe_code)]

mod flow;
mod gate;
mod interface;
mod key;
mod table;
mod units;

pub use flow::{Flow, NoFlow, UNLIMITED, parse};
pub use gate::Gate;
pub use interface::{Receive, ReceiveClient, Refusal};
pub use key::{HEAD, Key};
pub use service::Badge;
pub use table::{Id, Reservation, Reservations};
pub use units::{End, Unit, Units, WORDS};
