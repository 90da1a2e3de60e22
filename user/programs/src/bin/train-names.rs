//! Keeps trains by name.
#![no_std]
#![no_main]

rt::entry!(programs::trains::names::names);
