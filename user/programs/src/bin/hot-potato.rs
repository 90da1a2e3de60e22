//! Hot potato (S0-37).
#![no_std]
#![no_main]

rt::entry!(programs::potato::main);
