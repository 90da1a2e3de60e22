//! Counts how often programs that run out of time are restarted.
#![no_std]
#![no_main]

rt::entry!(programs::supervised::lapse::tally);
