//! Reads the kernel's trace.
#![no_std]
#![no_main]

rt::entry!(programs::reader::main);
