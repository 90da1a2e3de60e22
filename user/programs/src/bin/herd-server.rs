//! The herd: the server of the thread under attack.
#![no_std]
#![no_main]

rt::entry!(programs::herd::server);
