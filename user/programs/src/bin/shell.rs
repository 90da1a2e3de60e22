//! A small shell on the serial line.
#![no_std]
#![no_main]

rt::entry!(programs::shell::main);
