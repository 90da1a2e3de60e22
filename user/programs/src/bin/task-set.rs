//! Tasks as its arguments describe them.
#![no_std]
#![no_main]

rt::entry!(programs::task_set::main);
