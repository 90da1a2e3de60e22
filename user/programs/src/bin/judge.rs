//! Watches the hostile program.
#![no_std]
#![no_main]

rt::entry!(programs::hostile::judge);
