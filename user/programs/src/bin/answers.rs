//! Clients and a server that has their priority.
#![no_std]
#![no_main]

rt::entry!(programs::answers::main);
