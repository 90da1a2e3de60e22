//! Lets the budgets of reservations follow demand.
#![no_std]
#![no_main]

rt::entry!(programs::adaptive::controller);
