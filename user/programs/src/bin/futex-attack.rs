//! A program that does its worst with futexes.
#![no_std]
#![no_main]

rt::entry!(programs::futex_attack::main);
