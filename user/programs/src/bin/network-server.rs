//! Serves sockets of one network interface.
#![no_std]
#![no_main]

rt::entry!(programs::network::server);
