//! The on-target suite.
#![no_std]
#![no_main]

rt::entry!(programs::selftest::main);
