//! Calls anything with anything.
#![no_std]
#![no_main]

rt::entry!(programs::fuzz::main);
