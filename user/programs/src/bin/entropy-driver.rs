//! The driver of a source of random bytes.
#![no_std]
#![no_main]

rt::entry!(programs::drivers::entropy);
