//! How many CPUs one lock carries: the machine-repairman model, solved, simulated and fitted.
//!
//! N CPUs compute for a random time of mean `a` (exponential), then need the lock for `s`, and
//! begin again. A CPU that finds the lock taken waits: first come, first served.
//!
//! ```text
//!            +---------- think, mean a, all CPUs at once <---------+
//!            v                                                     |
//!   queue at the lock, k = 0..N with its holder ---> service s, one at a time
//! ```
//!
//! Symbols are the paper's: `s`, `a`, `N`, `rho = s/a`, `P_k` the share of time with k CPUs at
//! the lock, `w` their mean number, `X` the lock's throughput, `R = w/X` the mean time at the
//! lock, `N* = 1 + a/s` the knee. The crate knows no unit: times are in any one unit, and
//! throughputs are per that unit. It reads and writes nothing.
//!
//! - [`Repairman::solve`] answers exactly, for exponential and for deterministic service;
//!   [`Curve::of`] for several numbers of CPUs.
//! - [`Simulation::run`] plays it event by event, also with service that depends on which CPU had
//!   the lock before ([`Topology`]).
//! - [`fit()`] finds `s` and `a` for measured points; [`Fit::predict`] then speaks of other delays.
#![forbid(unsafe_code)]

mod batches;
mod curve;
mod deterministic;
mod error;
mod exponential;
mod fit;
mod interval;
mod least_squares;
mod repairman;
mod simulation;
mod start;
mod topology;

pub use curve::Curve;
pub use error::ModelError;
pub use fit::{Fit, Point, Residual, fit, r_squared};
pub use interval::Interval;
pub use repairman::{Distribution, MOST_CPUS, Repairman, Solution};
pub use simulation::{Service, Simulated, Simulation};
pub use topology::Topology;
