//! A device's server in the client/server loads (S0-E03).
#![no_std]
#![no_main]

rt::entry!(programs::mix::device);
