//! Scheduling policies as pure code: values in, a decision out; no clock, no lock, no hardware.
//! The same source runs in the kernel, in simulation and in plain unit tests.
#![no_std]
#![forbid(unsafe_code)]

pub mod fixed;
