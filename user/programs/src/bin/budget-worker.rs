//! Computes for ever, and counts what it executes.
#![no_std]
#![no_main]

rt::entry!(programs::least::worker);
