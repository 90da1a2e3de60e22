//! Nothing boots: the laboratory itself computes, in virtual time, with the kernel's policies.

use super::Platform;
use results::Origin;

/// The platform.
pub struct Computed;

impl Platform for Computed {
    fn name(&self) -> &'static str {
        "computed"
    }

    fn unit(&self) -> &'static str {
        "nanoseconds"
    }

    fn origin(&self) -> Origin {
        Origin::SIMULATED
    }
}
