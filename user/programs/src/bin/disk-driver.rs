//! The driver of a disk.
#![no_std]
#![no_main]

rt::entry!(programs::drivers::disk);
