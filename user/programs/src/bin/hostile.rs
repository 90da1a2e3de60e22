//! Tries everything that a program may not do.
#![no_std]
#![no_main]

rt::entry!(programs::hostile::main);
