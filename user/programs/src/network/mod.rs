//! A network: servers of a stack each, a wire between two of them, and their clients.

mod clients;
mod gate;
mod receive;
mod server;
mod wire;

pub use clients::{echo, ping};
pub(crate) use gate::{Bell, gate};
pub use receive::check as receive_check;
pub use server::server;
pub use wire::wire;
