//! What guards the kernel of a machine: a type each, and its name.

use crate::hardware::Hardware;
use kernel::locks::{Big, Fine, Guarding, Relax, Unlocked};

/// CPUs that a machine can have.
pub const MOST_CPUS: u32 = 64;
/// Nodes of a queue lock for them.
const NODES: usize = 128;

/// A guarding that the twin can run a kernel under.
pub trait Locking: Guarding {
    /// Whether there may be several CPUs.
    const SEVERAL: bool = true;
}

impl Locking for Unlocked {
    const SEVERAL: bool = false;
}

/// One lock around everything.
pub type BigLock = Big<Spin, NODES>;

impl Locking for BigLock {}

/// Locks of single objects.
pub type FineLocks = Fine<Spin, { MOST_CPUS as usize }>;

impl Locking for FineLocks {}

/// A round of a loop that waits for another CPU: that CPU may go on.
pub struct Spin;

impl Relax for Spin {
    fn relax() {
        Hardware::current().spin();
    }
}
