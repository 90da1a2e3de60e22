//! Trains, futexes and large tables at their worst.
#![no_std]
#![no_main]

rt::entry!(programs::worst_train::main);
