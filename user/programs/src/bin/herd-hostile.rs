//! The herd: what attacks.
#![no_std]
#![no_main]

rt::entry!(programs::herd::hostile);
