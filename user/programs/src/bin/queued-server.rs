//! Adds numbers, and answers with a message of its own.
#![no_std]
#![no_main]

rt::entry!(programs::trains::queued::server);
