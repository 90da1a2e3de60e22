//! Has the supervisor end a child again and again.
#![no_std]
#![no_main]

rt::entry!(programs::supervised::restarter::main);
