//! Trains that end: judge.
#![no_std]
#![no_main]

rt::entry!(programs::trains::ends::judge);
