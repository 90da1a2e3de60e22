//! The controller of the supervised control loop.
#![no_std]
#![no_main]

rt::entry!(programs::supervised::controller);
