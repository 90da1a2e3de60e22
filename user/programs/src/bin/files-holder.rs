//! A client of a server of files.
#![no_std]
#![no_main]

rt::entry!(programs::files::holder::main);
