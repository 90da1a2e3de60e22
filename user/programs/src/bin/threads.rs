//! Creates as many threads as it may.
#![no_std]
#![no_main]

rt::entry!(programs::threads::main);
