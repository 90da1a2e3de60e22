//! Reads and writes a disk.
#![no_std]
#![no_main]

rt::entry!(programs::drivers::disk_check);
