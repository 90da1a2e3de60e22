//! Handles an event in each major frame.
#![no_std]
#![no_main]

rt::entry!(programs::frames::handler);
