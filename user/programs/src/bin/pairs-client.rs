//! Calls the server of its CPU, thinking in between.
#![no_std]
#![no_main]

rt::entry!(programs::pairs::client);
