//! Budgets that follow demand (S2B-12): a controller, and tasks with a load that comes in bursts
//! (S2B-E01).
//!
//! ```text
//! kernel: usage of each server --+
//!                                +--> controller: policies::adaptive --> kernel: set_budget
//! tasks: what they lacked -------+
//! ```

mod controller;
mod load;
mod log;
mod report;
mod server;
mod task;

pub use controller::controller;
pub use task::bursty;
