//! Says when reservations run out of time.
#![no_std]
#![no_main]

rt::entry!(programs::monitor::main);
