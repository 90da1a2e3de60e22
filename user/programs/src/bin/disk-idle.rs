//! Runs whenever nothing else does.
#![no_std]
#![no_main]

rt::entry!(programs::drivers::disk_idle);
