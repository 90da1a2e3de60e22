//! Thread start and stop (S0-40).
#![no_std]
#![no_main]

rt::entry!(programs::latency::start_stop);
