//! Latency of wake-ups (S0-35).
#![no_std]
#![no_main]

rt::entry!(programs::latency::main);
