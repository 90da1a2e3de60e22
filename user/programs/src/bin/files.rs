//! A server of files.
#![no_std]
#![no_main]

rt::entry!(programs::files::main);
