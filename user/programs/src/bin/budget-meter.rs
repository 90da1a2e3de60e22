//! Reads what reservations have had in the middle of each period.
#![no_std]
#![no_main]

rt::entry!(programs::limits::meter);
