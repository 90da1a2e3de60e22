//! A task of a control system.
#![no_std]
#![no_main]

rt::entry!(programs::periodic::main);
