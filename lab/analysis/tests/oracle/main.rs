//! The analysis against schedules played tick by tick, and against another implementation.

mod earliest_deadline;
mod fixed_priorities;
mod schedule;
mod supplies;
mod tasks;
