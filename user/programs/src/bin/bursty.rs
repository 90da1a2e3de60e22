//! A periodic task whose load comes in bursts.
#![no_std]
#![no_main]

rt::entry!(programs::adaptive::bursty);
