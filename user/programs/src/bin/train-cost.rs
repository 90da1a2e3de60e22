//! Asks for sums in three forms, and records what that takes.
#![no_std]
#![no_main]

rt::entry!(programs::trains::cost::client);
