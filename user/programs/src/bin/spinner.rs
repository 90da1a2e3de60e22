//! Computes for ever, also in the kernel.
#![no_std]
#![no_main]

rt::entry!(programs::limits::spinner);
