//! Tests of the kernel core on the host.

mod agreement;
mod corruption;
mod differential;
mod futexes;
mod fuzz;
mod inherit;
mod model;
mod situations;
mod structures;
mod support;
mod trace;
mod trains;
