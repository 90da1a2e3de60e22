//! A thread that computes now and then.
#![no_std]
#![no_main]

rt::entry!(programs::busy::main);
