//! Chained messages (S0-41).
#![no_std]
#![no_main]

rt::entry!(programs::latency::chain);
