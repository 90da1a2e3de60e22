//! Goes wrong.
#![no_std]
#![no_main]

rt::entry!(programs::crash::main);
