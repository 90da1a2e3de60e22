//! Greets the server, then ends the run.
#![no_std]
#![no_main]

rt::entry!(programs::hello::client);
