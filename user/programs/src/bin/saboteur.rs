//! The program that makes others fail.
#![no_std]
#![no_main]

rt::entry!(programs::supervised::saboteur::main);
