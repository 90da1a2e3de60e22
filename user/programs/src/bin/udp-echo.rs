//! Sends back what comes to the echo port.
#![no_std]
#![no_main]

rt::entry!(programs::network::echo);
