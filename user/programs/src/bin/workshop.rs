//! Threads that share memory.
#![no_std]
#![no_main]

rt::entry!(programs::workshop::main);
