//! The other side of the operations that micro times.
#![no_std]
#![no_main]

rt::entry!(programs::micro::peer);
