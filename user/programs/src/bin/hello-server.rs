//! Answers greetings.
#![no_std]
#![no_main]

rt::entry!(programs::hello::server);
