//! The judge of a storm of allocations.
#![no_std]
#![no_main]

rt::entry!(programs::allocations::judge);
