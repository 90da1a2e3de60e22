//! The supervisor, which the laboratory adds to a system with supervised domains.
#![no_std]
#![no_main]

rt::entry!(programs::supervisor::main);
