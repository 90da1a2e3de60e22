//! Calls for reservations of a CPU that its domain may not use.
#![no_std]
#![no_main]

rt::entry!(programs::confined::main);
