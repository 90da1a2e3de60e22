//! Opens a train by its name.
#![no_std]
#![no_main]

rt::entry!(programs::trains::names::asker);
