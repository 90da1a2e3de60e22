//! Shows and changes how a running system is scheduled, as the host asks.
#![no_std]
#![no_main]

rt::entry!(programs::control::main);
