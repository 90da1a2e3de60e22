//! A program that fails when it is told to.
#![no_std]
#![no_main]

rt::entry!(programs::supervised::victim::main);
