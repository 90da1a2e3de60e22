//! Budgets that follow demand (S2B-12): a controller looks now and then at what a soft server has
//! used, and gives it another budget. Values in, a decision out; who measures and who sets budgets
//! is the caller's affair.
//!
//! ```text
//! Use -> Demand (histories of h and e) -> wanted = mean(h) + MAD(h)/2 + mean(e)
//!                       wanted + siblings -> decide -> budgets that their class can keep
//! ```
//!
//! Of siblings that want more than their class has, the more important ones get it. Hard siblings
//! are the most important of all: no decision changes their budgets. Rates are in millionths of a
//! CPU, each rounded up, as the kernel's admission does it: what is decided here it accepts.

mod decide;
mod demand;
#[cfg(test)]
mod tests;

pub use decide::{Decision, Kind, Refused, SIBLINGS, Sibling, decide};
pub use demand::{Demand, HISTORY, Use};
