//! Budgets that follow demand (S2B-12): a controller looks now and then at what a soft server has
//! used, and gives it another budget. Values in, a decision out; who measures and who sets budgets
//! is the caller's affair.
//!
//! ```text
//! Use -> Demand (histories of h and e) -> wanted = mean(h) + MAD(h)/2 + mean(e)
//!
//!            asked, children first: a class asks for what its tasks want and its children ask for
//!                 ^                                     |
//!                 |                                     v
//! wanted + servers -> decide        granted, classes first: as much as the class above can give,
//!                                   by importance; what loses is cut, and what is inside it
//! ```
//!
//! Servers whose budgets are fixed are not among these: what they have is taken from the supply of
//! their class beforehand, so that no decision can touch it. Rates are in millionths of a CPU, each
//! rounded up, and what a class has is rounded down, as the kernel's admission does it: what is
//! decided here it accepts.

mod decide;
mod demand;
mod server;
#[cfg(test)]
mod tests;

pub use decide::{Decision, decide};
pub use demand::{Demand, HISTORY, Use};
pub use server::{Above, MOST, Refused, Server, left_to_tasks};
