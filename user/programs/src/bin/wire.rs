//! Gives each of two network servers the frames of the other one.
#![no_std]
#![no_main]

rt::entry!(programs::network::wire);
