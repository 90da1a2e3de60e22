//! Systems that run: which there are, what they are doing, and changes of that, through the memory
//! that the host shares with their domain `control` ([`abi::control`]).

mod channel;
mod entry;
mod picture;
mod registry;

pub use channel::Channel;
pub use entry::Entry;
pub use picture::{Domain, Picture, Reservation, Thread};
pub use registry::{Registration, find};
