//! Shows frames of players.
#![no_std]
#![no_main]

rt::entry!(programs::trains::display::server);
