//! What a client with the capability for it may change while the system runs.

use crate::{Flow, Reservation};
use service::{Badge, Wire, service};

/// Why it is not done.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There are as many reservations as there can be.
    TooMany,
    /// There is no such reservation, or it is that of all packets, which is always there.
    Unknown,
    /// Packets that were not read yet refer to it.
    InUse,
}

/// The reservations of a driver's link. A driver of several links knows by the client's badge which
/// one is meant.
#[service]
pub trait Receive {
    /// The reservation at a place in the list, from 0; none behind the last.
    fn list(&mut self, who: Badge, place: u32) -> Result<Option<Reservation>, Refusal>;
    /// Gives a flow a number of units, and makes its reservation if it has none.
    fn set(&mut self, who: Badge, flow: Flow, limit: u32) -> Result<(), Refusal>;
    /// Removes the reservation of a flow.
    fn remove(&mut self, who: Badge, flow: Flow) -> Result<(), Refusal>;
    /// Gives the reservation of a flow back the units of packets without a receiver.
    fn reset(&mut self, who: Badge, flow: Flow) -> Result<(), Refusal>;
}
