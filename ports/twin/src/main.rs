//! The twin with Giusto's own programs.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    twin::serve(&[])
}
