//! What an earlier life has left behind.
#![no_std]
#![no_main]

rt::entry!(programs::supervised::relics::main);
