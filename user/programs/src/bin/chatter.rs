//! Prints more than the console can send, and what goes on beside it.
#![no_std]
#![no_main]

rt::entry!(programs::chatter::main);
