//! A guest that never waits.
#![no_std]
#![no_main]

rt::entry!(programs::runaway::main);
