//! Sends datagrams to an echo and counts those that come back.
#![no_std]
#![no_main]

rt::entry!(programs::network::ping);
