//! A network: servers of a stack each, a wire between two of them, and their clients.

mod clients;
mod server;
mod wire;

pub use clients::{echo, ping};
pub use server::server;
pub use wire::wire;
