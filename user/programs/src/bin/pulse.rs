//! Beats, and nothing else.
#![no_std]
#![no_main]

rt::entry!(programs::supervised::pulse);
