//! Trains that end: entered.
#![no_std]
#![no_main]

rt::entry!(programs::trains::ends::entered);
