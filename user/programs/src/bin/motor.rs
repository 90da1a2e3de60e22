//! Turns a shaft.
#![no_std]
#![no_main]

rt::entry!(programs::motor::main);
