//! What operations of the scheduling tree cost.
#![no_std]
#![no_main]

rt::entry!(programs::tree_cost::main);
