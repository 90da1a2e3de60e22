//! Attacks servers as a client.
#![no_std]
#![no_main]

rt::entry!(programs::hostile_client::main);
