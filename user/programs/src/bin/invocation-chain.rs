//! Goes through chains of domains, and records what that takes.
#![no_std]
#![no_main]

rt::entry!(programs::trains::chain::caller);
