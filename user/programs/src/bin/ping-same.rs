//! Client and server of ping-pong in one domain.
#![no_std]
#![no_main]

rt::entry!(programs::ping::same);
