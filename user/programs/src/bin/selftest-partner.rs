//! The suite's partner in another domain.
#![no_std]
#![no_main]

rt::entry!(programs::selftest::partner);
