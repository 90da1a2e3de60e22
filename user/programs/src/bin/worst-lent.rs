//! Leaves along waits at their worst.
#![no_std]
#![no_main]

rt::entry!(programs::worst_lent::main);
