//! Records how long restarts take.
#![no_std]
#![no_main]

rt::entry!(programs::supervised::victim::record);
