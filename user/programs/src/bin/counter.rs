//! Counts, and tells how far it has come.
#![no_std]
#![no_main]

rt::entry!(programs::echo::counter);
