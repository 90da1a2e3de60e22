//! Everything that one CPU does to another, at random and all at once.
#![no_std]
#![no_main]

rt::entry!(programs::stress::main);
