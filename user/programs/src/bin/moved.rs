//! Moves a thread that runs elsewhere, and at once lets all CPUs run it.
#![no_std]
#![no_main]

rt::entry!(programs::moved::main);
