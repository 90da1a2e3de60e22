//! The herd: what measures a thread under attack.
#![no_std]
#![no_main]

rt::entry!(programs::herd::victim);
