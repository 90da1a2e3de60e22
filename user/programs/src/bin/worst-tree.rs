//! The scheduling tree at its worst.
#![no_std]
#![no_main]

rt::entry!(programs::worst_tree::main);
