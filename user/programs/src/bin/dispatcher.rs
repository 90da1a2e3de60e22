//! Moves a handler to another partition while it has something to do.
#![no_std]
#![no_main]

rt::entry!(programs::frames::dispatcher);
