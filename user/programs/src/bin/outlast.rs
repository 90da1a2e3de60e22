//! Owns a mutex for longer than the budget lasts of who waits for it.
#![no_std]
#![no_main]

rt::entry!(programs::outlast::main);
