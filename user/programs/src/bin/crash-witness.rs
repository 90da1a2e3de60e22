//! Goes on where others go wrong.
#![no_std]
#![no_main]

rt::entry!(programs::crash::witness);
