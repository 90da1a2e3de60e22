//! Draws frames and has them shown.
#![no_std]
#![no_main]

rt::entry!(programs::trains::display::player);
