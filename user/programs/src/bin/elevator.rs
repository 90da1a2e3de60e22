//! IPC elevator (S0-39).
#![no_std]
#![no_main]

rt::entry!(programs::latency::elevator);
