//! System calls at their worst.
#![no_std]
#![no_main]

rt::entry!(programs::worst::main);
