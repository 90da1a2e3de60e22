//! Load for measuring wake-ups under it.
#![no_std]
#![no_main]

rt::entry!(programs::latency::storm);
