//! Tests of the kernel core on the host.

mod differential;
mod support;
