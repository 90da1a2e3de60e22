//! Holds what programs execute against what they are charged.
#![no_std]
#![no_main]

rt::entry!(programs::least::meter);
