//! Adds numbers, and reads the counter.
#![no_std]
#![no_main]

rt::entry!(programs::trains::cost::timed_server);
