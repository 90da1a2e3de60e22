//! Reads what reservations have had at given instants.
#![no_std]
#![no_main]

rt::entry!(programs::meter::meter);
