//! A task in a window of a major frame.
#![no_std]
#![no_main]

rt::entry!(programs::frames::task);
