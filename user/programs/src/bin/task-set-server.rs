//! The server of tasks of a set.
#![no_std]
#![no_main]

rt::entry!(programs::task_set::server);
