//! Ends the run of a task set.
#![no_std]
#![no_main]

rt::entry!(programs::task_set::end);
