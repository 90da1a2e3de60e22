//! A driver that acknowledges without end.
#![no_std]
#![no_main]

rt::entry!(programs::flood::main);
