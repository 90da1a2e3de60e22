//! IPC queueing (S0-38).
#![no_std]
#![no_main]

rt::entry!(programs::queue::main);
