//! Exports a train by a name.
#![no_std]
#![no_main]

rt::entry!(programs::trains::names::exporter);
