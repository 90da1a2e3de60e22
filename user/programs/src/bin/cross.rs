//! Does to other CPUs what one CPU can, and records what it takes.
#![no_std]
#![no_main]

rt::entry!(programs::cross::main);
