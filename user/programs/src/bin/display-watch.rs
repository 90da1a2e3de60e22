//! Says what players have shown, and ends the run.
#![no_std]
#![no_main]

rt::entry!(programs::trains::display::watch);
