//! Programs for Giusto machines.
#![no_std]
#![forbid(unsafe_code)]
pub mod adaptive;
pub mod busy;
pub mod control;
pub mod crash;
pub mod cross;
pub mod curfew;
pub mod cyclictest;
pub mod echo;
pub mod frames;
pub mod futex_attack;
pub mod futex_cost;
pub mod fuzz;
mod hashed;
pub mod hello;
pub mod hostile;
pub mod hostile_client;
pub mod latency;
pub mod limits;
pub mod meter;
pub mod micro;
pub mod mix;
pub mod monitor;
pub mod moved;
pub mod pairs;
pub mod periodic;
pub mod ping;
pub mod potato;
pub mod queue;
mod random;
pub mod reader;
pub mod rtsim;
pub mod runaway;
pub mod selftest;
pub mod shell;
pub mod stress;
pub mod supervised;
mod table;
pub mod threads;
pub mod trains;
pub mod tree_cost;
pub mod workshop;
pub mod worst;
pub mod worst_tree;

pub use supervisor;
pub use table::{PROGRAMS, Program};
