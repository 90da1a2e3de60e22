//! Ends the run of a set of tasks of RTSim's language.
#![no_std]
#![no_main]

rt::entry!(programs::rtsim::end);
