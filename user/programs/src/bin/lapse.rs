//! A task that runs out of time.
#![no_std]
#![no_main]

rt::entry!(programs::supervised::lapse::main);
