//! Trains that end: visitor.
#![no_std]
#![no_main]

rt::entry!(programs::trains::ends::visitor);
