//! Is a domain of a chain.
#![no_std]
#![no_main]

rt::entry!(programs::trains::chain::stage);
