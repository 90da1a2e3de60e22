//! Answers packets that come at a distance.
#![no_std]
#![no_main]

rt::entry!(programs::meter::responder);
