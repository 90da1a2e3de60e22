//! Times single operations of the kernel.
#![no_std]
#![no_main]

rt::entry!(programs::micro::main);
