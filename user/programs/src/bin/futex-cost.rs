//! What calls on futexes cost.
#![no_std]
#![no_main]

rt::entry!(programs::futex_cost::main);
