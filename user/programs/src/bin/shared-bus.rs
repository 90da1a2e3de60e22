//! Tasks that share mutexes.
#![no_std]
#![no_main]

rt::entry!(programs::shared_bus::main);
