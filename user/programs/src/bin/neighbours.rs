//! A reservation beside neighbours that make work for the kernel.
#![no_std]
#![no_main]

rt::entry!(programs::neighbours::main);
