//! Answers each message with the same words.
#![no_std]
#![no_main]

rt::entry!(programs::echo::main);
