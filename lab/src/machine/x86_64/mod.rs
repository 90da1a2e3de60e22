//! What the laboratory knows about x86_64 processors, whatever machine they are in.

mod operations;
mod protection;
mod tables;

pub use operations::count_round_trip;
pub use protection::inspect;
