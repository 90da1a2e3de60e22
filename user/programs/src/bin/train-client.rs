//! Asks for sums.
#![no_std]
#![no_main]

rt::entry!(programs::train::client);
