//! Adds numbers.
#![no_std]
#![no_main]

rt::entry!(programs::train::server);
