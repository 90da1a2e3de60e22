//! Adds numbers.
#![no_std]
#![no_main]

rt::entry!(programs::trains::sums::server);
