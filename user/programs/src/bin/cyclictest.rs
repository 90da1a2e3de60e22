//! A latency tool with cyclictest's options.
#![no_std]
#![no_main]

rt::entry!(programs::cyclictest::main);
