//! The analysis against schedules played tick by tick, and against another implementation.

mod curves;
mod earliest_deadline;
mod fixed_priorities;
mod global;
mod hierarchy;
mod played_servers;
mod schedule;
mod sharing;
mod supplies;
mod tasks;
mod trees;
