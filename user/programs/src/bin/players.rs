//! Players that share a mutex with the thread of an interrupt.
#![no_std]
#![no_main]

rt::entry!(programs::players::main);
