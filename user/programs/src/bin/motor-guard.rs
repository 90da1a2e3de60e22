//! Stops a motor at its end switch.
#![no_std]
#![no_main]

rt::entry!(programs::motor::guard);
