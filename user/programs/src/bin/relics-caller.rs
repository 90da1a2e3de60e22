//! Calls a program that does not answer in its first life.
#![no_std]
#![no_main]

rt::entry!(programs::supervised::relics::caller);
