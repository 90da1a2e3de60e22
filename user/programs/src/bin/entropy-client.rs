//! Prints random bytes.
#![no_std]
#![no_main]

rt::entry!(programs::drivers::entropy_client);
