//! What the laboratory knows about x86_64 processors, whatever machine they are in.

mod instruction;
mod operations;
mod protection;
mod tables;

pub use instruction::{counter_reads, does};
pub use operations::count_round_trip;
pub use protection::{inspect, physical_address};
