//! Counts how often programs that run out of time are made again.
#![no_std]
#![no_main]

rt::entry!(programs::supervised::lapse::tally);
