//! Checks what each kind of device does.
#![no_std]
#![no_main]

rt::entry!(programs::instruments::main);
