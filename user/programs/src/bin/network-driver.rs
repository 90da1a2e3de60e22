//! The driver of a network card.
#![no_std]
#![no_main]

rt::entry!(programs::drivers::network);
