//! Asks for sums.
#![no_std]
#![no_main]

rt::entry!(programs::trains::show::client);
