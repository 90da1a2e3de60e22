//! Calls the server in another domain and records what it takes.
#![no_std]
#![no_main]

rt::entry!(programs::ping::client);
