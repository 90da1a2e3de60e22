//! A task of RTSim's language.
#![no_std]
#![no_main]

rt::entry!(programs::rtsim::task);
